"""Every verb that ships, put together: those that stand on the house, and the toolbox.

What is always there stands in ``shipped_verbs.json`` as ``@verb`` declares it: a start reads that,
and no function's signature. ``python -m scripts.shipped --write`` makes it; a test holds it to the
code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.library import COMMON_WORDS
from ordain.contracts.policy import VerbsPolicy
from ordain.contracts.read_only import read_only
from ordain.contracts.verbs import VerbSpec
from ordain.owned_files import not_owned
from ordain.ports.library import Library
from ordain.verbs.builtin.names import MAIL_SEND, WRITES, no_library
from ordain.verbs.builtin.shipped import prompt_plans
from ordain.verbs.builtin.thread_verb import close_thread
from ordain.verbs.deferred import DeferredVerb
from ordain.verbs.functions import AnyFunctionVerb, VerbContext
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.mail_server import MailServer
from ordain.verbs.registry import Registry


class ShippedOptions(Struct, frozen=True, kw_only=True):
    """What settings say of shipped verbs beside what they may reach.

    ``playbooks``: their folder; without one, or while it holds none, the shipped examples.
    ``mail``: where mail goes out; without it ``mail.send`` fails.
    """

    max_depth: int = VerbsPolicy().max_depth
    playbooks: Path | None = None
    mail: MailServer | None = None


AS_SHIPPED = ShippedOptions()


def builtin_registry(
    files_root: Path | None = None,
    urls: Sequence[str] = (),
    http: HttpAccess | None = None,
    library: Callable[[], Library] = no_library,
    options: ShippedOptions = AS_SHIPPED,
) -> Registry:
    """The shipped verbs; ``files.read`` only with a root, ``web.fetch`` only with URLs.

    Args:
        files_root: the folder below which files may be read.
        urls: the URLs that may be fetched.
        http: what verbs that send HTTP requests are given.
        library: what is remembered; asked when a verb that needs it runs, since a registry is built
            before storage is open.
        options: what else settings say.

    Raises:
        ConfigurationError: the root is no folder, or a URL is not one.
    """
    makers = shipped_makers(library, options)
    functions: list[AnyFunctionVerb | DeferredVerb] = [
        DeferredVerb(_as_set(spec, options), origin, makers[spec.name])
        for origin, spec in _declarations().items()
    ]
    if files_root is not None:
        from ordain.verbs.builtin.files_verb import (
            files_read,
        )  # lazy: only where a folder is declared

        functions.append(files_read(files_root))
    if urls:
        from ordain.verbs.builtin.web_verb import (
            web_fetch,
        )  # lazy: the HTTP client and what it needs

        http = http or HttpAccess()
        functions.append(
            web_fetch(urls, private_hosts=http.private_hosts, resolver=http.resolver, own=http.own)
        )
    return Registry(
        [prompt_plans()],
        functions,
        code={"thread.close": close_thread},
        max_depth=options.max_depth,
    )


def _as_set(spec: VerbSpec, options: ShippedOptions) -> VerbSpec:
    """A declaration as settings have it: a mail is given the time that its server is."""
    if spec.name != MAIL_SEND or options.mail is None:
        return spec
    return spec.model_copy(update={"timeout_ms": options.mail.timeout_ms})


def shipped_makers(
    library: Callable[[], Library], options: ShippedOptions = AS_SHIPPED
) -> Mapping[str, Callable[[], AnyFunctionVerb]]:
    """What makes each verb that is always there with its code, by id; called at a verb's first
    call.
    """

    def calculate() -> AnyFunctionVerb:
        from ordain.toolbox.math_verb import (
            math_evaluate,
        )  # lazy: as all of these, when it is called

        return math_evaluate()

    def tonecheck() -> AnyFunctionVerb:
        from ordain.toolbox.tone_verb import creative_tonecheck  # lazy: see above

        return creative_tonecheck()

    def playbook() -> AnyFunctionVerb:
        from ordain.toolbox.playbook_verb import enterprise_playbook  # lazy: see above

        return enterprise_playbook(playbook_aids(), options.playbooks)

    def snapshot() -> AnyFunctionVerb:
        from ordain.toolbox.finance_verb import finance_snapshot  # lazy: see above

        return finance_snapshot()

    def next_theme() -> AnyFunctionVerb:
        from ordain.toolbox.sim_verb import sim_markov_next_theme  # lazy: see above

        return sim_markov_next_theme(latest_themes(library))

    def draft() -> AnyFunctionVerb:
        from ordain.verbs.builtin.mail_verbs import mail_draft  # lazy: see above

        return mail_draft(library)

    def send() -> AnyFunctionVerb:
        from ordain.verbs.builtin.mail_verbs import mail_send  # lazy: see above

        return mail_send(options.mail)

    @cache
    def of_library() -> Mapping[str, AnyFunctionVerb]:
        from ordain.verbs.builtin.library_verbs import library_verbs  # lazy: see above

        return {one.spec.name: one for one in library_verbs(library)}

    return {
        "math.evaluate": calculate,
        "recall.fetch_context": lambda: of_library()["recall.fetch_context"],
        WRITES: lambda: of_library()[WRITES],
        "research.search": lambda: of_library()["research.search"],
        "creative.tonecheck": tonecheck,
        "enterprise.playbook": playbook,
        "finance.snapshot": snapshot,
        "sim.markov_next_theme": next_theme,
        "mail.draft": draft,
        MAIL_SEND: send,
    }


def playbook_aids() -> Any:
    """What the toolbox is handed to read playbooks with (``PlaybookAids``)."""
    from ordain.toolbox.playbooks import PlaybookAids  # lazy: see above
    from ordain.verbs.yaml_document import parse_document

    return PlaybookAids(parse=parse_document, not_owned=not_owned, common_words=COMMON_WORDS)


class ShippedDeclaration(Struct, frozen=True, kw_only=True):
    """A verb as ``scripts.shipped`` wrote it down, and where its function stands."""

    origin: str
    spec: msgspec.Raw


@cache
def _declarations() -> Mapping[str, VerbSpec]:
    """The declaration of each, by where its function stands."""
    written = msgspec.json.decode(
        (Path(__file__).parent / "shipped_verbs.json").read_bytes(), type=list[ShippedDeclaration]
    )
    return {one.origin: read_only(VerbSpec.model_validate_json(bytes(one.spec))) for one in written}


def latest_themes(library: Callable[[], Library]) -> Callable[[VerbContext, int], Any]:
    """The latest themes that a call may see: of its own session's run, or of its workspace."""

    async def themes(context: VerbContext, limit: int) -> list[str]:
        found = await library().themes(
            context.workspace, limit=limit, run=context.run if context.session else None
        )
        return [one.theme for one in found]

    return themes
