"""A server that does on the wire exactly what its request asks for: the last message's text is a
JSON list of operations.

``{"send": base64}``, ``{"sleep": seconds}``, ``{"reset": true}`` (RST), ``{"close": true}``,
``{"echo": true}`` (a valid answer whose text is the request as it arrived). After the last
operation the connection stays open for the next request. Chat completions, responses, Anthropic's
messages and Gemini's contents are told apart by their paths.
"""

import asyncio
import base64
import json
import socket
import struct
import sys
from typing import Any


def asked(path: str, body: dict[str, Any]) -> str:
    """The text of the last message, whatever goes with it."""
    if "/responses" in path:
        said = body["input"]
        return said if isinstance(said, str) else said[-1]["content"][0]["text"]
    if "/models/" in path:
        return body["contents"][-1]["parts"][0]["text"]
    content = body["messages"][-1]["content"]
    return (
        content
        if isinstance(content, str)
        else next(part["text"] for part in reversed(content) if "text" in part)
    )


def whole(path: str, text: str) -> dict[str, Any]:
    """An answer of this text."""
    if "/responses" in path:
        message = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        }
        return {"status": "completed", "model": "wire", "output": [message]}
    if "/models/" in path:
        return {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
            ],
            "modelVersion": "wire",
        }
    if "/messages" in path:
        block = {"type": "text", "text": text}
        usage = {"input_tokens": 1, "output_tokens": 1}
        said = {"content": [block], "stop_reason": "end_turn", "usage": usage}
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": "wire", **said}
    return {"model": "wire", "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def called(path: str, name: str, given: Any) -> dict[str, Any]:
    """An answer that is the call of a tool."""
    if "/responses" in path:
        return {
            "status": "completed",
            "model": "wire",
            "output": [{"type": "function_call", "name": name, "arguments": json.dumps(given)}],
        }
    if "/models/" in path:
        parts = [{"functionCall": {"name": name, "args": given}}]
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
            "modelVersion": "wire",
        }
    if "/messages" in path:
        return {
            **whole(path, ""),
            "content": [{"type": "tool_use", "id": "t", "name": name, "input": given}],
            "stop_reason": "tool_use",
        }
    calls = [
        {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
    ]
    return {
        "model": "wire",
        "choices": [
            {"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}
        ],
    }


def echoed(path: str, body: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    """What was seen, as a text or, where tools are offered, as the input of the first one."""
    if not body.get("tools"):
        return whole(path, json.dumps(seen))
    tool = body["tools"][0]
    tool = tool.get("functionDeclarations", [tool])[0]
    tool = tool.get("function", tool)
    schema = next(
        tool[key]
        for key in ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
        if key in tool
    )
    return called(
        path, tool["name"], {"answer": seen} if "answer" in schema["properties"] else seen
    )


def answer(said: dict[str, Any]) -> bytes:
    body = json.dumps(said).encode()
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        % len(body)
        + body
    )


async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.strip().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)
    }
    body = (await reader.readexactly(int(headers["content-length"]))).decode()
    path = line.split()[1]
    for operation in json.loads(asked(path, json.loads(body))):
        match operation:
            case {"send": data}:
                writer.write(base64.b64decode(data))
                await writer.drain()
            case {"sleep": seconds}:
                await asyncio.sleep(seconds)
            case {"echo": True}:
                peer = writer.get_extra_info("peername")[1]
                seen = {"line": line, "headers": headers, "body": body, "peer": peer}
                writer.write(answer(echoed(path, json.loads(body), seen)))
            case {"reset": True}:
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
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
