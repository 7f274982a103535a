"""Streams of the OpenAI address over real connections, with a model that takes its time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.process import Server

WORDS = "It is a long answer that comes piece by piece. " * 3


def test_streams_of_one_session_end_each_with_its_own_answer(tmp_path: Path) -> None:
    """A message that is said while another is answered waits its turn; its stream ends with its
    answer, whatever run that came to be.
    """
    with (
        ModelEndpoint() as endpoint,
        Server(
            tmp_path, environment={"OPENAI_BASE_URL": endpoint.url, "PLANNER_MODEL": "fake-1"}
        ) as server,
    ):
        endpoint.answers = [WORDS] * 8
        endpoint.piece_s = 0.15

        def stream(number: int) -> str:
            body = {
                "model": "ordain",
                "stream": True,
                "messages": [{"role": "user", "content": f"Tell me about topic {number} please"}],
            }
            url = f"http://127.0.0.1:{server.port}/v1/chat/completions"
            return httpx2.post(
                url, json=body, headers={"Ordain-Session": "shared"}, timeout=10.0
            ).text

        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(stream, 1)
            while not endpoint.asked:
                time.sleep(0.02)
            second = threads.submit(stream, 2)
            told = [first.result(), second.result()]
        for one in told:
            assert one.endswith("data: [DONE]\n\n")
            assert one.count("✓ fake-1") == 1
