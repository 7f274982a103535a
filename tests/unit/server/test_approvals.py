"""What an approver is shown is spelled out beside the loop: whoever asks for a large one holds
nobody else up.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx2

from ordain.app import Extras, Ordain
from ordain.contracts.verbs import ArgumentRole, VerbRequest
from ordain.server import Face, build_app
from ordain.settings import load_settings
from ordain.verbs.functions import verb

WORD = "п\u0430y" * 20_000
"""Letters of two scripts, each of which is looked at by itself."""


@verb(name="post.out", effect="send", arguments={"text": ArgumentRole.RECIPIENT})
def post_out(text: str) -> str:
    """Send a text."""
    return text


class Beside(ThreadPoolExecutor):
    """A loop's threads, which tell what they did by the names of the functions, each with the
    thread.
    """

    def __init__(self) -> None:
        """Nothing was done."""
        super().__init__(max_workers=2)
        self.done: list[tuple[str, int]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See ``Executor.submit``; of what ``asyncio.to_thread`` hands over, the function stands
        within the partial.
        """
        name = getattr(next(iter(getattr(fn, "args", ())), fn), "__qualname__", "")

        def noted() -> Any:
            self.done.append((name, threading.get_ident()))
            return fn(*args, **kwargs)

        return super().submit(noted)


async def test_large_arguments_are_spelled_out_beside_the_loop(tmp_path: Any) -> None:
    """Of the look at one, and of the answer to a decision about it, all that takes long is done in
    another thread than the loop's.
    """
    beside = Beside()
    asyncio.get_running_loop().set_default_executor(beside)
    async with Ordain(
        load_settings({}, tmp_path), extras=Extras(verbs=(post_out,), memory=True)
    ) as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            asked = VerbRequest(verb_id="post.out", payload={"text": WORD}, caller="test")
            await ordain.runtime.accept(asked, "local:test", waits=True)
            items: list[Any] = []
            for _ in range(10_000):
                if items := (await http.get("/approvals")).json()["approvals"]:
                    break
                await asyncio.sleep(0.001)
            url = f"/approvals/{items[0]['approval_id']}"
            beside.done.clear()
            shown = (await http.get(url)).json()
            denied = await http.post(
                f"{url}/deny", json={"digest": shown["digest"], "why": "too long"}
            )
    assert denied.status_code == 200
    assert (shown["decided_why"], denied.json()["decided_why"]) == ("", "too long")
    assert shown["calls"][0]["args"] == {"text": WORD}
    assert "\\u0430" in shown["calls"][0]["shown"]
    spelled = [thread for name, thread in beside.done if name == "_exact"]
    assert len(spelled) == 2
    assert threading.get_ident() not in spelled
