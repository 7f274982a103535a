"""The OpenAI-compatible address over a runtime in this process: what its clients send, what they
are told, and which session they mean.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.access import TokenScope, mint_token
from ordain.contracts.profiles import ModelProfile
from ordain.models.offline import OfflineModel
from ordain.runtime.access import Exposure
from ordain.runtime.configuration import Applied, RecordChange
from ordain.runtime.tokens import NewToken, Tokens
from tests.integration.server.openai_house import (
    CHAT,
    RESPONSES,
    file_part,
    file_parts,
    frames_of,
    house,
    profiled,
    said,
    streamed_text,
    text_of,
    turns,
)
from tests.shapes.pictures import PNG


async def test_an_answer_opens_with_codes_header_and_quotes_the_model(tmp_path: Path) -> None:
    """One line of code's opens the text; a model's line that looks like a header stands behind the
    mark that no header has.
    """
    async with house(tmp_path) as (ordain, http):
        answer = await said(http, turns("Which day comes after Tuesday?"), temperature=0.1)
        first, *rest = text_of(answer).split("\n")
        assert first.startswith("✓ scripted · no tool · ")
        assert rest == ["", "> It is Wednesday.", "> ✓ ok · 9 tools"]
        view = await ordain.runtime.view(answer["ordain"]["run_id"])
        assert answer["ordain"]["header"] == view.header
        assert answer["ordain"]["verdict"] == "ok"
        assert answer["ordain"]["ignored"] == ["temperature"]
        assert first.endswith(f" · {answer['ordain']['run_id'][-6:]}")
        used = answer["usage"]
        assert f"{used['prompt_tokens']}+{used['completion_tokens']} tokens" in view.header
        assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"] > 0


async def test_where_no_model_was_asked_there_are_no_tokens_and_no_dollars(tmp_path: Path) -> None:
    """Neither in usage nor in the text, also where that shows the whole header."""
    async with house(
        tmp_path, model=OfflineModel(), profile=ModelProfile(provider="offline", model="offline")
    ) as (_, http):
        for answer in (
            await said(http, turns("hello")),
            await said(http, turns("What is in the attachment?"), model="ordain-agent"),
        ):
            assert set(answer["usage"].values()) == {0}
            assert "$" not in text_of(answer)
            assert "token" not in text_of(answer)


async def test_a_streamed_answer_ends_with_the_verdict(tmp_path: Path) -> None:
    """What is finished opens a stream, the model's words follow behind their marks, the verdict is
    its last line; usage where it is asked for.
    """
    async with house(tmp_path) as (_, http):
        body = {
            "model": "ordain",
            "messages": turns("Which day?"),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        answer = await http.post(CHAT, json=body)
        assert answer.headers["content-type"].startswith("text/event-stream")
        *chunks, usage, done = frames_of(answer.text)
        assert done == "[DONE]"
        assert (usage["choices"], usage["usage"]["total_tokens"] > 0) == ([], True)
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        opening = text.partition("\n\n")[0]
        assert opening.startswith("· in progress · ")
        assert "\n" not in opening
        assert "no model" not in opening
        assert "\n\n> It is Wednesday.\n> ✓ ok · 9 tools\n\n✓ scripted · no tool · " in text
        assert [chunk["choices"][0]["finish_reason"] for chunk in chunks][-1] == "stop"
        assert chunks[-1]["ordain"]["verdict"] == "ok"


@pytest.mark.parametrize(
    "more", [{}, {"stream": True}, {"response_format": {"type": "text"}}, {"model": "ordain-task"}]
)
async def test_where_a_text_would_lead_stands_beside_it(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    """Each address in a model's words with the host that it asks, an image named as one; nothing
    where there is none.
    """
    words = "Look: ![chart](https://evil.example/c.png?d=pin) and [more](https://good.example/)."
    wanted = [("evil.example", True), ("good.example", False)]
    async with house(
        tmp_path, chat_general=[{"content": words}], **{"brain.chat": [{"content": words}]}
    ) as (_, http):
        body = {"model": "ordain", "messages": turns("Show me"), **more}
        answer = await http.post(CHAT, json=body)
        told = frames_of(answer.text)[-2] if "stream" in more else answer.json()
        assert [(link["host"], link["image"]) for link in told["ordain"]["links"]] == wanted
        if not more:
            other = (
                await http.post(RESPONSES, json={"model": "ordain", "input": "Show me"})
            ).json()
            assert [(link["host"], link["image"]) for link in other["ordain"]["links"]] == wanted
    async with house(tmp_path / "plain") as (_, http):
        assert "links" not in (await said(http, turns("Which day?")))["ordain"]


def response_of(named: str) -> str:
    return "resp_" + b64encode(named.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("more", "status", "code", "param"),
    [
        ({"model": "gpt-9"}, 404, "unknown_model", None),
        ({"messages": []}, 422, "invalid_request", "messages"),
        (
            {"messages": [{"role": "usr", "content": "x"}]},
            422,
            "invalid_request",
            "messages.0.role",
        ),
        ({"messages": [{"role": "user", "content": "  "}]}, 422, "conversation_unfit", "messages"),
        ({"messages": turns("a", "b")}, 422, "conversation_unfit", "messages"),
        (
            {"messages": [{"role": "user", "content": "x" * 32_001}]},
            422,
            "conversation_unfit",
            "messages",
        ),
        (
            {"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]},
            422,
            "unsupported_parameter",
            "messages.0.role",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": "data:x"}}],
                    }
                ]
            },
            422,
            "unsupported_parameter",
            "messages.0.content.0",
        ),
        ({"n": 2}, 422, "unsupported_parameter", "n"),
        ({"logprobs": True}, 422, "unsupported_parameter", "logprobs"),
        ({"tools": [{"type": "function"}]}, 422, "unsupported_parameter", "tools"),
        ({"functions": [{"name": "f"}]}, 422, "unsupported_parameter", "functions"),
        (
            {"metadata": {"session_id": "no such name"}},
            422,
            "conversation_unfit",
            "metadata.session_id",
        ),
        ({"metadata": {"session_id": ""}}, 422, "conversation_unfit", "metadata.session_id"),
        ({"metadata": {"session_id": 4}}, 422, "conversation_unfit", "metadata.session_id"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "refusal", "refusal": "I will not."}]}
                ]
            },
            422,
            "unsupported_parameter",
            "messages.0.content.0.type",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 5}}}},
            422,
            "invalid_schema",
            "response_format.json_schema.schema",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": []}}},
            422,
            "invalid_schema",
            "response_format.json_schema.schema",
        ),
        (
            {"response_format": {"type": "json_schema"}},
            422,
            "invalid_schema",
            "response_format.json_schema.schema",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {}}},
            422,
            "invalid_schema",
            "response_format.json_schema.schema",
        ),
    ],
)
async def test_what_is_not_served_is_refused_in_their_shape(
    tmp_path: Path, more: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    """Each refusal is an error of OpenAI's shape, with our code and the first place that does not
    fit, and no session begins.
    """
    async with house(tmp_path) as (_, http):
        answer = await http.post(CHAT, json={"model": "ordain", "messages": turns("x"), **more})
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
        body = {
            "model": "ordain",
            "input": "x",
            "text": {"format": {"type": "json_schema", "name": "x"}},
        }
        assert (await http.post(RESPONSES, json=body)).json()["error"][
            "param"
        ] == "text.format.schema"
        assert (await http.get("/sessions")).json()["sessions"] == []


async def test_refusals_of_the_guards_have_their_shape_too(tmp_path: Path) -> None:
    """An unknown address, a method, a type, malformed JSON and a missing token are told as their
    clients read it; other addresses as before.
    """
    async with house(tmp_path, Exposure(demanded=True)) as (_, http):
        assert (await http.post(CHAT, json={})).json()["error"]["type"] == "authentication_error"
        assert (await http.get("/sessions")).json()["code"] == "unauthenticated"
    async with house(tmp_path / "open") as (_, http):
        found = [
            (await http.get("/v1/chat")).json()["error"]["code"],
            (await http.put(CHAT)).json()["error"]["code"],
            (await http.post(CHAT, content=b"x")).json()["error"]["code"],
            (
                await http.post(CHAT, content=b"{", headers={"content-type": "application/json"})
            ).json()["error"]["code"],
            (await http.get("/v1/models/none")).json()["error"]["code"],
            (await http.get("/v1/none")).json()["error"]["code"],
            (await http.post("/v1/cortex/none")).json()["code"],
        ]
        assert found == [
            "no_such_address",
            "method_not_allowed",
            "unsupported_media_type",
            "malformed_json",
            "unknown_model",
            "no_such_address",
            "no_such_address",
        ]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v1/embeddings", "[embedder] in ordain.toml"),
        ("/v1/completions", "send it to /v1/chat/completions"),
        ("/v1/audio/speech", "sound"),
        ("/v1/files/file-1/content", "goes with a message"),
        ("/v1/chat/completion", "did you mean /v1/chat/completions?"),
        ("/v1/none", "not served here; there are /v1/models, "),
        ("/v1/assistants", "not served here; there are /v1/models, "),
        ("/v1", "; there are /v1/models, "),
    ],
)
async def test_an_address_of_theirs_that_is_not_served_says_what_there_is(
    tmp_path: Path, path: str, said: str
) -> None:
    """404 in their shape, whatever the method; it names what is served, and for what they have and
    this has not, what there is instead.
    """
    async with house(tmp_path) as (_, http):
        for answer in (
            await http.post(path, json={"input": "x", "model": "ordain"}),
            await http.get(path),
        ):
            error = answer.json()["error"]
            assert (answer.status_code, error["type"], error["code"], error["param"]) == (
                404,
                "not_found_error",
                "no_such_address",
                None,
            )
            assert said in error["message"]
            before = error["message"].removesuffix(f"; {said}")
            assert before.endswith("there are /v1/models, /v1/chat/completions, /v1/responses")


async def test_whoever_may_chat_is_told_what_is_not_served(tmp_path: Path) -> None:
    """A token with scope chat meets no closed door there; one without it does, as anywhere below
    ``/v1``.
    """
    async with house(tmp_path, Exposure(demanded=True)) as (ordain, http):
        services = ordain.runtime.services
        tokens = Tokens(services.tokens, services.store, services.clock)
        for scope, code in (
            (TokenScope.CHAT, "no_such_address"),
            (TokenScope.METRICS, "forbidden"),
        ):
            made = await tokens.create(
                NewToken(name=str(scope), scopes=(scope,), workspaces=("default",)), by="me"
            )
            for path in ("/v1/embeddings", "/v1/chat/completion", "/v1/threads/t/runs", "/v1"):
                answer = await http.post(
                    path, json={"input": "x"}, headers={"Authorization": f"Bearer {made.secret}"}
                )
                assert answer.json()["error"]["code"] == code, path


async def test_a_placeholder_key_is_nobodys_and_a_wrong_token_is_refused(tmp_path: Path) -> None:
    """Where no token is demanded any key will do, as OpenAI's clients have to send one; what has a
    token's form is judged as one.
    """
    async with house(tmp_path) as (_, http):
        assert (
            await http.get("/v1/models", headers={"Authorization": "Bearer sk-none"})
        ).status_code == 200
        wrong = {"Authorization": f"Bearer {mint_token(b'n' * 40)}"}
        assert (await http.get("/v1/models", headers=wrong)).json()["error"][
            "code"
        ] == "unauthenticated"
        assert (
            await http.get("/sessions", headers={"Authorization": "Bearer sk-none"})
        ).status_code == 401
        real = mint_token(b"n" * 40)
        for mangled in (
            real[:-1],
            real[:-3],
            real.upper(),
            real + "x",
            "ordain_",
            "ordain_x_y",
            "ORDAIN-x",
        ):
            refused = await http.post(
                CHAT,
                json={"model": "ordain", "messages": turns("x")},
                headers={"Authorization": f"Bearer {mangled}"},
            )
            assert refused.status_code in (401, 429), mangled


async def test_a_token_needs_the_scope_and_speaks_for_itself(tmp_path: Path) -> None:
    """Below ``/v1`` a token needs scope ``chat``; what two tokens send alike is two sessions, and
    neither finds the other's.
    """
    async with house(tmp_path, Exposure(demanded=True)) as (ordain, http):
        services = ordain.runtime.services
        tokens = Tokens(services.tokens, services.store, services.clock)
        secrets = {
            name: (
                await tokens.create(
                    NewToken(name=name, scopes=(scope,), workspaces=("default",)), by="me"
                )
            ).secret
            for name, scope in (
                ("ann", TokenScope.CHAT),
                ("ben", TokenScope.CHAT),
                ("reader", TokenScope.RUNS_READ),
            )
        }
        bearing = {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
        refused = await http.post(
            CHAT, json={"model": "ordain", "messages": turns("x")}, headers=bearing["reader"]
        )
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "permission_error")
        mine = await said(http, turns("only mine"), bearing["ann"])
        theirs = await said(http, turns("only mine", text_of(mine), "and"), bearing["ben"])
        assert theirs["ordain"]["continuation"] == "continuation.unknown"
        again = await said(http, turns("only mine", text_of(mine), "and"), bearing["ann"])
        assert again["ordain"]["session_id"] == mine["ordain"]["session_id"]


async def test_with_a_format_the_text_is_the_answer_alone(tmp_path: Path) -> None:
    """Where JSON is asked for the header stands beside the text, which is JSON of that schema, or a
    typed failure.
    """
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    form = {"type": "json_schema", "json_schema": {"name": "day", "schema": schema}}
    async with house(
        tmp_path, chat_general=[{"content": '```json\n{"day": "Wednesday"}\n```'}]
    ) as (_, http):
        answer = await http.post(
            CHAT, json={"model": "ordain", "messages": turns("Which?"), "response_format": form}
        )
        assert json.loads(text_of(answer.json())) == {"day": "Wednesday"}
        assert answer.headers["ordain-run"] == answer.json()["ordain"]["run_id"]
        assert answer.headers["ordain-header"].startswith("%E2%9C%93")
    async with house(tmp_path / "prose", chat_general=[{"content": "Wednesday, I think."}]) as (
        _,
        http,
    ):
        body = {"model": "ordain", "messages": turns("Which?"), "response_format": form}
        refused = await http.post(CHAT, json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "answer_unfit")
        assert (
            frames_of((await http.post(CHAT, json={**body, "stream": True})).text)[-1]["error"][
                "code"
            ]
            == "answer_unfit"
        )


@pytest.mark.parametrize("stream", [False, True])
async def test_text_as_a_format_is_what_there_is_without_one(tmp_path: Path, stream: bool) -> None:
    """Clients that send OpenAI's default have the header in the text, and a model's imitation of
    one behind its mark.
    """
    async with house(tmp_path, chat_general=[{"content": "✓ gpt-x · 9 tools\n\nWednesday"}]) as (
        _,
        http,
    ):
        asked = {
            "model": "ordain",
            "messages": turns("Which?"),
            "response_format": {"type": "text"},
            "stream": stream,
        }
        response = {"model": "ordain", "input": "Which?", "text": {"format": {"type": "text"}}}
        chat = await http.post(CHAT, json=asked)
        texts = [
            "".join(streamed_text(chat.text)) if stream else text_of(chat.json()),
            (await http.post(RESPONSES, json=response)).json()["output"][0]["content"][0]["text"],
        ]
        for text in texts:
            assert "\n> ✓ gpt-x · 9 tools\n" in text
            assert text.startswith(("✓ scripted · no tool · ", "· in progress · "))


async def test_a_task_whose_words_imitate_a_header_has_them_behind_a_mark(tmp_path: Path) -> None:
    """It has no header, so such a line would stand as one; what is no such line is as the model
    wrote it, and JSON is JSON.
    """
    words = "✅ gpt-x • 9 tools • ok\n\n📚 Books · Films\n- ✓ one"
    async with house(tmp_path, **{"brain.chat": [{"content": words}]}) as (_, http):
        answer = await said(http, turns("Title for this?"), model="ordain-task")
        assert text_of(answer) == "> ✅ gpt-x • 9 tools • ok\n\n📚 Books · Films\n- ✓ one"
    async with house(
        tmp_path / "json", **{"brain.chat": [{"content": '{"title": "✓ ok · 9 tools"}'}]}
    ) as (_, http):
        formed = await said(
            http, turns("As JSON?"), model="ordain-task", response_format={"type": "json_object"}
        )
        assert json.loads(text_of(formed)) == {"title": "✓ ok · 9 tools"}


async def test_a_task_has_no_session_and_no_header(tmp_path: Path) -> None:
    """A client's titles and tags are one verb call: in no session, its text the answer alone, its
    run beside it.
    """
    async with house(tmp_path) as (_, http):
        answer = await said(http, turns("Title for this?"), model="ordain-task")
        assert text_of(answer) == "A title"
        assert (await http.get(f"/runs/{answer['ordain']['run_id']}")).json()["flow"] == "verb"
        assert (await http.get("/sessions")).json()["sessions"] == []


async def test_a_response_goes_on_by_its_id(tmp_path: Path) -> None:
    """``previous_response_id`` is the same session; the events of a stream come in their order and
    end with the whole response.
    """
    async with house(tmp_path) as (_, http):
        first = (
            await http.post(
                RESPONSES, json={"model": "ordain", "input": "one", "instructions": "Be brief."}
            )
        ).json()
        assert first["output"][0]["content"][0]["text"].startswith("✓ scripted")
        assert first["instructions"] == "Be brief."
        body = {
            "model": "ordain",
            "input": "two",
            "previous_response_id": first["id"],
            "stream": True,
        }
        events = frames_of((await http.post(RESPONSES, json=body)).text)
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        assert [events[0]["type"], events[-1]["type"]] == ["response.created", "response.completed"]
        whole = events[-1]["response"]
        assert whole["ordain"]["session_id"] == first["ordain"]["session_id"]
        assert (
            "".join(
                event["delta"] for event in events if event["type"] == "response.output_text.delta"
            )
            == whole["output"][0]["content"][0]["text"]
        )
        session = first["ordain"]["session_id"]
        for unknown in (
            "resp_none",
            *map(
                response_of,
                (
                    f"99 {session}",
                    f"0 {session}",
                    f"-1 {session}",
                    f"abc {session}",
                    "1 never.existed",
                ),
            ),
        ):
            refused = await http.post(
                RESPONSES, json={"model": "ordain", "input": "x", "previous_response_id": unknown}
            )
            assert (refused.status_code, refused.json()["error"]["param"]) == (
                422,
                "previous_response_id",
            ), unknown
        second = (
            await http.post(
                RESPONSES,
                json={"model": "ordain", "input": "three", "previous_response_id": first["id"]},
            )
        ).json()
        assert second["output"][0]["id"] != first["output"][0]["id"]


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
async def test_a_file_goes_with_what_is_said(tmp_path: Path, path: str) -> None:
    """Its text is given to the model and it is a document of the session; what is shown again later
    brings it no second time.
    """
    async with house(tmp_path) as (ordain, http):
        said = [
            {
                "role": "user",
                "content": file_parts(b"# Lease\n\nThe tenant may keep a dog.\n")[path],
            }
        ]
        body = {"messages": said} if path == CHAT else {"input": said}
        answer = (await http.post(path, json={"model": "ordain", **body})).json()
        assert "recall.attached" in answer["ordain"]["header"]
        text = text_of(answer) if path == CHAT else answer["output"][0]["content"][0]["text"]
        more = [
            *said,
            {"role": "assistant", "content": text},
            {"role": "user", "content": "And a cat?"},
        ]
        body = {"messages": more} if path == CHAT else {"input": more}
        again = (await http.post(path, json={"model": "ordain", **body})).json()
        assert again["ordain"]["session_id"] == answer["ordain"]["session_id"]
        assert "recall.attached" not in again["ordain"]["header"]
        assert len(await ordain.runtime.library.documents("default", limit=9, before=None)) == 1


@pytest.mark.parametrize(
    ("content", "name", "kind", "code"),
    [
        (b"PK\x03\x04", "a.zip", "application/zip", "attachment_unread"),
        (b"\x89PNG\r\n\x1a\n", "a.txt", "text/plain", "attachment_unlike"),
        (PNG, "a.png", "image/png", "attachment_unread"),
    ],
)
async def test_a_file_that_is_not_read_is_refused_in_words(
    tmp_path: Path, content: bytes, name: str, kind: str, code: str
) -> None:
    """In their shape, with the file's name; no session begins."""
    async with house(tmp_path) as (_, http):
        messages = [{"role": "user", "content": file_parts(content, name, kind)[CHAT]}]
        error = (await http.post(CHAT, json={"model": "ordain", "messages": messages})).json()[
            "error"
        ]
        assert (error["code"], name in error["message"]) == (code, True)
        assert (await http.get("/sessions")).json()["sessions"] == []


async def test_a_model_for_each_profile_that_policy_lets_a_caller_choose(tmp_path: Path) -> None:
    """A conversation that begins with it is served by it to its end, as its header says; what
    policy does not offer is no model.

    PRF-01 "A session can bind to a pinned Agent Profile"
    """
    async with house(tmp_path, selectable=["wr*"]) as (ordain, http):
        await profiled(ordain, writer={"skills": ["math.*"]}, strict={})
        listed = [one["id"] for one in (await http.get("/v1/models")).json()["data"]]
        assert listed == [
            "ordain",
            "ordain-agent",
            "ordain-council",
            "ordain-task",
            "ordain:writer",
            "ordain-agent:writer",
            "ordain-council:writer",
        ]
        assert (
            (await http.get("/v1/models/ordain:writer"))
            .json()["description"]
            .endswith("By the pinned profile writer.")
        )
        for unknown in (
            "ordain:strict",
            "ordain:nobody",
            "ordain-task:writer",
            "ordain:",
            "ordain:../x",
            "gpt-5:writer",
        ):
            refused = await http.post(CHAT, json={"model": unknown, "messages": turns("Hi")})
            assert (refused.status_code, refused.json()["error"]["code"]) == (
                404,
                "unknown_model",
            ), unknown
        first = await said(http, turns("Hi"), model="ordain:writer")
        assert "writer@1 (session)" in first["ordain"]["header"]
        again = await said(
            http, [*turns("Hi", text_of(first)), *turns("And now?")], model="ordain:writer"
        )
        assert again["ordain"]["session_id"] == first["ordain"]["session_id"]
        assert "writer@1 (session)" in again["ordain"]["header"]
        pins = await ordain.runtime.control.records("default", "policy")
        assert [one.key.id for one in pins] == [
            f"profile-pin:session:{first['ordain']['session_id']}"
        ]


async def test_no_caller_undoes_a_pin_or_changes_what_has_begun(tmp_path: Path) -> None:
    """A session that an operator pinned stays as it is, and one that has begun without a profile is
    served as it began; nothing is written of either.
    """
    async with house(tmp_path, selectable=["writer"]) as (ordain, http):
        await profiled(ordain, writer={}, strict={})
        pin = RecordChange(
            place="default",
            resource="policy",
            id="profile-pin:session:theirs",
            config={"profile": "strict"},
        )
        assert isinstance(await ordain.runtime.control.change(pin, by="local:ada"), Applied)
        await said(http, turns("Hi"), headers={"Ordain-Session": "begun"})
        before = await ordain.runtime.control.records("default", "policy")
        for session, why in (
            ("theirs", "pinned to another"),
            ("begun", "begun without this profile"),
        ):
            refused = await http.post(
                CHAT,
                json={"model": "ordain:writer", "messages": turns("Hi")},
                headers={"Ordain-Session": session},
            )
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "profile_unfit")
            assert why in refused.json()["error"]["message"]
        assert await ordain.runtime.control.records("default", "policy") == before


async def test_a_page_of_an_origin_of_the_settings_may_ask_with_a_token(tmp_path: Path) -> None:
    """Its browser is told so before it asks; no key that is no token stands for one; a page from
    elsewhere is told nothing.
    """
    ours, foreign = "https://chat.example", "https://evil.example"
    async with house(tmp_path, Exposure(origins=(ours,))) as (ordain, http):
        services = ordain.runtime.services
        tokens = Tokens(services.tokens, services.store, services.clock)
        made = await tokens.create(
            NewToken(name="page", scopes=(TokenScope.CHAT,), workspaces=("default",)),
            by="local:ada",
        )
        asks = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        told = await http.options(CHAT, headers={"Origin": ours, **asks})
        assert (told.status_code, told.headers["access-control-allow-origin"]) == (200, ours)
        assert "access-control-allow-credentials" not in told.headers
        assert (
            "access-control-allow-origin"
            not in (await http.options(CHAT, headers={"Origin": foreign, **asks})).headers
        )
        body = {"model": "ordain", "messages": turns("Hi")}
        answer = await http.post(
            CHAT, json=body, headers={"Origin": ours, "Authorization": f"Bearer {made.secret}"}
        )
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, ours)
        refused = await http.post(
            CHAT, json=body, headers={"Origin": ours, "Authorization": "Bearer none"}
        )
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, ours)
        assert (await http.post(CHAT, json=body, headers={"Origin": ours})).status_code == 403
        plain = await http.post(CHAT, json=body, headers={"Authorization": "Bearer none"})
        assert plain.status_code == 200


async def test_where_no_answer_came_the_error_says_why(tmp_path: Path) -> None:
    """JSON that was asked for and did not come since the model failed is told with the model's
    error, and the run whose header has the account.
    """
    async with house(tmp_path, chat_general=[]) as (ordain, http):
        body = {
            "model": "ordain",
            "messages": turns("x"),
            "response_format": {"type": "json_object"},
        }
        refused = await http.post(CHAT, json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (
            502,
            "model_script_exhausted",
        )
        run = refused.json()["error"]["message"].rpartition("ordain runs show ")[2]
        assert "script_exhausted" in (await ordain.runtime.view(run)).header


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"PK\x03\x04" + b"\0" * 60, 415, "attachment_unread"),
        (b"a word \n" * 1_100_000, 413, "attachment_too_large"),
    ],
)
async def test_a_file_that_is_refused_is_named_by_its_part(
    tmp_path: Path, content: bytes, status: int, code: str
) -> None:
    """Also one that is larger than any message may bring, though the body may be larger still;
    nothing is said in any session.
    """
    async with house(tmp_path) as (ordain, http):
        parts = [
            {"type": "text", "text": "Read these."},
            file_part("good.md", b"# Lease"),
            file_part("bad.bin", content),
        ]
        body = {
            "model": "ordain",
            "messages": [*turns("Hi", "Hello"), {"role": "user", "content": parts}],
        }
        answer = await http.post(CHAT, json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert answer.json()["error"]["param"] == "messages.2.content.2"
        items = [
            {
                "role": "user",
                "content": [
                    {"type": "input_file", **part["file"]} if "file" in part else part
                    for part in parts
                ],
            }
        ]
        answer = await http.post(RESPONSES, json={"model": "ordain", "input": items})
        assert (answer.status_code, answer.json()["error"]["param"]) == (
            status,
            "input.0.content.2",
        )
        assert not await ordain.runtime.conversation.sessions("default")
