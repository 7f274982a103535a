"""An Ordain lives as long as the application; a dependency hands it to who needs it.

Prints:
    {'sum': '42'}
    {'detail': 'syntax'}
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.testclient import TestClient

from ordain import Ordain
from ordain.app import Extras


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """One Ordain for the application."""
    async with Ordain(extras=Extras(memory=True)) as ordain:
        app.state.ordain = ordain
        yield


def running(request: Request) -> Ordain:
    """The application's."""
    return request.app.state.ordain


app = FastAPI(lifespan=lifespan)


@app.get("/sum")
async def total(expression: str, ordain: Annotated[Ordain, Depends(running)]) -> dict[str, str]:
    """What an expression comes to: one verb, its call authorised and journalled like any other."""
    told = await ordain.execute("math.evaluate", {"expression": expression})
    if told.output is None:
        raise HTTPException(422, told.error.code if told.error else "failed")
    return {"sum": str(told.output["result"])}


if __name__ == "__main__":
    with TestClient(app) as client:
        print(client.get("/sum", params={"expression": "6 * 7"}).json())
        print(client.get("/sum", params={"expression": "6 *"}).json())
