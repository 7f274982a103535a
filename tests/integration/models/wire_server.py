"""A server that does on the wire exactly what its request asks for: the last message's content is a JSON list of operations.

``{"send": base64}``, ``{"sleep": seconds}``, ``{"reset": true}`` (RST), ``{"close": true}``, ``{"echo": true}`` (a valid completion whose
content is the request as it arrived). After the last operation the connection stays open for the next request.
"""

import asyncio
import base64
import json
import socket
import struct
import sys


def completion(content: str) -> bytes:
    body = json.dumps({"model": "wire", "choices": [{"message": {"content": content}, "finish_reason": "stop"}]}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    body = (await reader.readexactly(int(headers["content-length"]))).decode()
    for operation in json.loads(json.loads(body)["messages"][-1]["content"]):
        match operation:
            case {"send": data}:
                writer.write(base64.b64decode(data))
                await writer.drain()
            case {"sleep": seconds}:
                await asyncio.sleep(seconds)
            case {"echo": True}:
                peer = writer.get_extra_info("peername")[1]
                writer.write(completion(json.dumps({"line": line, "headers": headers, "body": body, "peer": peer})))
            case {"reset": True}:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            case _:
                return False
    return True


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await serve_one(reader, writer):
            pass
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
