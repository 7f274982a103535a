"""What code, files and settings make together: the verbs, and the catalog that runs pin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ordain.contracts.agent_verbs import HANDOFF
from ordain.contracts.assistant import Assistant
from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.conversation import ENTRY_OF, ExecMode
from ordain.contracts.floor import why_raised
from ordain.contracts.nearest import no_such
from ordain.contracts.verbs import VerbEffect
from ordain.errors import ConfigurationError
from ordain.flows.kinds import Kinds
from ordain.ports.catalog_source import CatalogProblem
from ordain.ports.library import Library
from ordain.prompts.packaged import packaged_templates
from ordain.rules.bounds import ADDRESSES
from ordain.rules.completeness import Complete, filled
from ordain.runtime.reloader import problem_of
from ordain.settings import Settings
from ordain.shipped_verbs import ShippedOptions, builtin_registry
from ordain.verbs.builtin.names import MAIL_SEND, WRITES, no_library
from ordain.verbs.builtin.shipped import prompt_plans
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.confirmed import FILE as CONFIRMED
from ordain.verbs.confirmed import Confirmation, read_confirmed
from ordain.verbs.council.folder import SEATS
from ordain.verbs.functions import FunctionVerb
from ordain.verbs.http_access import HttpAccess, Secret
from ordain.verbs.mail_server import MailServer
from ordain.verbs.own_addresses import OwnAddresses
from ordain.verbs.own_verbs import OwnVerbs
from ordain.verbs.registry import Registry
from ordain.verbs.workflow.folder import WORKFLOWS
from ordain.wording.engines import NEWEST
from ordain.wording.languages import table_with
from ordain.wording_files import read_folder

DECLARED = (WORKFLOWS.name, CARDS.name, SEATS.name)
"""The folders below ``$ORDAIN_HOME`` whose files are no verbs and no wording, and stand in the
catalog as they are.
"""
OWN = __name__.partition(".")[0]
"""The package whose templates are the build's own: its tests look through them, and they are
compiled when they are first used.
"""


def build_registry(
    settings: Settings,
    more: Sequence[FunctionVerb[..., Any]] = (),
    library: Callable[[], Library] = no_library,
) -> Registry:
    """The shipped verbs, those of ``$ORDAIN_HOME/verbs`` and an embedder's own; ``library`` is
    asked when a verb needs it.
    """
    return build_verbs(settings, own_verbs(settings), more, library)[0]


def build_verbs(
    settings: Settings,
    own: OwnVerbs,
    more: Sequence[FunctionVerb[..., Any]] = (),
    library: Callable[[], Library] = no_library,
    *,
    strict: bool = False,
) -> tuple[Registry, tuple[CatalogProblem, ...]]:
    """As ``build_registry``, and what is to be told of it; ``strict`` leaves no broken Python file
    out.

    Told are Python files that were left out because they are broken or off, verbs that are used at
    a stricter effect than they declare, and confirmations that cannot be read.
    """
    registry, left_out = own.added_to(
        shipped_registry(settings, library, own.http), more, strict=strict
    )
    confirmed: Mapping[str, Confirmation] = {}
    try:
        confirmed = read_confirmed(settings.home / CONFIRMED)
    except ConfigurationError as error:
        left_out = (*left_out, error)
    registry = registry.confirmed_by({name: one.digest for name, one in confirmed.items()})
    return registry, (*(problem_of(error) for error in left_out), *raised_verbs(registry))


def raised_verbs(registry: Registry) -> Iterator[CatalogProblem]:
    """The verbs that are used at a stricter effect than they declare, and why."""
    for name, spec in sorted(registry.specs.items()):
        if why := why_raised(spec):
            origin = registry.origins[name]
            yield CatalogProblem(
                code="effect_raised",
                message=f"{origin}: verb {name}: {why}",
                file=_file(origin),
                warning=True,
            )


def _file(origin: str) -> str:
    return "" if origin.startswith("function ") else origin


def shipped_registry(
    settings: Settings, library: Callable[[], Library] = no_library, http: HttpAccess | None = None
) -> Registry:
    """The shipped verbs, as the settings declare them; ``http`` as of ``own_verbs``. What other
    users of a workspace are given is not private.
    """
    root = settings.verbs.files_root
    http = http or own_verbs(settings).http
    registry = builtin_registry(
        files_root=None if root is None else (settings.home / root),
        urls=settings.verbs.urls,
        http=http,
        library=library,
        options=ShippedOptions(
            max_depth=settings.policy.verbs.max_depth,
            playbooks=settings.home / "playbooks",
            mail=mail_server(settings, http.own),
        ),
    )
    return registry.raised(WRITES, VerbEffect.SEND) if settings.policy.memory.shared else registry


def mail_server(settings: Settings, own: OwnAddresses) -> MailServer | None:
    """Where mail goes out; None where settings name no server, or the password that they refer to
    has no value here.
    """
    mail = settings.mail
    if mail is None or (mail.user and not settings.mail_password):
        return None
    return MailServer(
        host=mail.host,
        port=mail.port_used,
        security=mail.security,
        sender=mail.sender,
        user=mail.user,
        password=settings.mail_password,
        timeout_ms=mail.timeout_ms,
        own=own,
    )


def own_verbs(settings: Settings) -> OwnVerbs:
    """The operator's verbs folder, and what HTTP verbs are given."""
    secrets = {
        name: Secret(settings.verb_secrets.get(name, ""), frozenset(source.hosts))
        for name, source in settings.verbs.secrets.items()
    }
    return OwnVerbs(
        settings.home / "verbs",
        HttpAccess(secrets=secrets, private_hosts=settings.verbs.private_hosts),
        python=settings.verbs.python,
    )


def build_catalog(
    settings: Settings,
    registry: Registry,
    kinds: Kinds,
    agents: Sequence[AgentCard] = (),
    left_out: list[ConfigurationError] | None = None,
) -> Catalog:
    """Policy, verbs, prompts, profiles, wording, workflows, cards and seats as one value; every
    template that is not the build's own is compiled once here.

    ``agents`` are an embedder's own cards. Where ``left_out`` is given, files of ``cards`` and
    ``council`` that cannot be used are left out, and told there.

    Raises:
        ConfigurationError: the assistant's verb cannot answer; a template or a file of
            ``$ORDAIN_HOME/wording``, ``workflows``, ``cards`` or ``council`` cannot be used, or
            policy routes by a purpose that no kind of this build has.
    """
    kinds.check_policy(settings.policy)
    packaged = packaged_templates(kinds.templates)
    prompts = {**registry.templates, **packaged}
    own = {
        packaged[name]
        for name, package in kinds.templates.items()
        if package.partition(".")[0] == OWN
    }
    for source in set(prompts.values()).difference(own, prompt_plans().templates.values()):
        from ordain.prompts.renderer import check_template  # lazy: foreign templates alone need it

        check_template(source)
    table = table_with(read_folder(settings.home / "wording", checked=True))
    cards, mail = (
        CARDS.of(settings.home / CARDS.name, _by_name(agents), left_out),
        mail_server(settings, OwnAddresses()),
    )
    arguments = [
        argument for spec in registry.specs.values() for argument in spec.arguments.values()
    ]
    data = CatalogData(
        policy=settings.policy,
        verbs=dict(registry.specs),
        prompts=prompts,
        profiles=settings.profiles,
        node=settings.node,
        wording=f"{NEWEST}:{table.digest}",
        workflows=WORKFLOWS.of(settings.home / WORKFLOWS.name),
        cards=cards,
        seats=SEATS.of(settings.home / SEATS.name, left_out=left_out),
        workflow_verbs=dict(settings.workflows.verbs),
        unconfigured=[*([] if mail is not None else [MAIL_SEND]), *_without_handoff(cards, kinds)],
        fixed=_fixed(mail),
        unconfirmed=list(registry.unconfirmed),
        declarations=dict(registry.declarations),
        rows_by_call=bool(settings.policy.approvals.rules),
        bounds_days=any(argument.within_days for argument in arguments),
        web_addresses=any(argument.role in ADDRESSES for argument in arguments),
        strict_verdicts=True,
        meant_verdicts=True,
        seen_prohibited=True,
        alike_prohibited=True,
        assistant=None if settings.assistant == Assistant() else settings.assistant,
    )
    catalog = Catalog(data, {table.digest: table.encoded}.get)
    _check_chat_verb(catalog)
    return catalog


def _fixed(mail: MailServer | None) -> dict[str, dict[str, str]]:
    """What settings say of a verb's calls, by its id."""
    return (
        {}
        if mail is None
        else {MAIL_SEND: {"from": mail.sender, "server": f"{mail.host}:{mail.port}"}}
    )


def _check_chat_verb(catalog: Catalog) -> None:
    """Whether the verb that settings have answer in conversations can.

    Raises:
        ConfigurationError: there is none of that id, or a message does not fill what it takes.
    """
    verb = None if catalog.data.assistant is None else catalog.data.assistant.verb
    if verb is None:
        return
    if verb not in catalog.verbs:
        raise ConfigurationError(
            f"assistant.verb: {no_such('chat verb', verb, catalog.verbs)}", code="unknown_verb"
        )
    if not isinstance(filled(catalog, verb), Complete) or (
        catalog.verbs[verb].spec.entry and verb != ENTRY_OF[ExecMode.BRAIN]
    ):
        message = f"assistant.verb: {verb} cannot answer a message, which is one text"
        raise ConfigurationError(
            f"{message}; ordain verbs new NAME --for chat makes one that can", code="no_chat_verb"
        )


def _by_name(agents: Sequence[AgentCard]) -> dict[str, AgentCard]:
    found = {card.name: card for card in agents}
    if len(found) < len(agents):
        raise ConfigurationError("two cards have one name", code="invalid_card")
    return found


def _without_handoff(cards: Mapping[str, AgentCard], kinds: Kinds) -> list[str]:
    """The verbs of all cards, where none of the kinds carries out a handoff."""
    return [] if HANDOFF in kinds.newest else [card.verb for card in cards.values()]
