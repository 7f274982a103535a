"""Every verb that ships, put together: those that stand on the house, and the toolbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordain.contracts.library import COMMON_WORDS
from ordain.contracts.policy import VerbsPolicy
from ordain.owned_files import not_owned
from ordain.ports.library import Library
from ordain.toolbox import PlaybookAids, creative_tonecheck, enterprise_playbook, finance_snapshot, math_evaluate, sim_markov_next_theme
from ordain.verbs.builtin.files_verb import files_read
from ordain.verbs.builtin.library_verbs import library_verbs, no_library
from ordain.verbs.builtin.mail_verbs import mail_draft, mail_send
from ordain.verbs.builtin.shipped import prompt_plans
from ordain.verbs.builtin.thread_verb import close_thread
from ordain.verbs.functions import FunctionVerb, VerbContext
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.mail_server import MailServer
from ordain.verbs.registry import Registry
from ordain.verbs.yaml_document import parse_document

PLAYBOOK_AIDS = PlaybookAids(parse=parse_document, not_owned=not_owned, common_words=COMMON_WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedOptions:
    """What settings say of shipped verbs beside what they may reach.

    ``playbooks``: their folder; without one, or while it holds none, the shipped examples. ``mail``: where mail goes out; without it ``mail.send`` fails.
    """

    max_depth: int = VerbsPolicy().max_depth
    playbooks: Path | None = None
    mail: MailServer | None = None


def builtin_registry(
    files_root: Path | None = None,
    urls: Sequence[str] = (),
    http: HttpAccess | None = None,
    library: Callable[[], Library] = no_library,
    options: ShippedOptions = ShippedOptions(),
) -> Registry:
    """The shipped verbs; ``files.read`` only with a root, ``web.fetch`` only with URLs.

    Args:
        files_root: the folder below which files may be read.
        urls: the URLs that may be fetched.
        http: what verbs that send HTTP requests are given.
        library: what is remembered; asked when a verb that needs it runs, since a registry is built before storage is open.
        options: what else settings say.

    Raises:
        ConfigurationError: the root is no folder, or a URL is not one.
    """
    functions: list[FunctionVerb[..., Any]] = [math_evaluate(), *library_verbs(library)]
    functions += [creative_tonecheck(), enterprise_playbook(PLAYBOOK_AIDS, options.playbooks), finance_snapshot()]
    functions += [sim_markov_next_theme(latest_themes(library)), mail_draft(library), mail_send(options.mail)]
    if files_root is not None:
        functions.append(files_read(files_root))
    if urls:
        from ordain.verbs.builtin.web_verb import web_fetch  # lazy: the HTTP client and what it needs

        http = http or HttpAccess()
        functions.append(web_fetch(urls, private_hosts=http.private_hosts, resolver=http.resolver, own=http.own))
    return Registry([prompt_plans()], functions, code={"thread.close": close_thread}, max_depth=options.max_depth)


def latest_themes(library: Callable[[], Library]) -> Callable[[VerbContext, int], Any]:
    """The latest themes that a call may see: of its own session's run, or of its workspace."""

    async def themes(context: VerbContext, limit: int) -> list[str]:
        found = await library().themes(context.workspace, limit=limit, run=context.run if context.session else None)
        return [one.theme for one in found]

    return themes
