"""Settings: environment over file over default, and who gets the key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordain.app import Ordain
from ordain.contracts.hosted import OPENAI_URL, PLANNER_MODEL, check_named
from ordain.contracts.policy import Lane
from ordain.errors import ConfigurationError
from ordain.settings import Settings, load_settings

DEFAULT_TOML = """
[models.default]
provider = "openai"
model = "from-file"
base_url = "http://127.0.0.1:1/v1"

[models.elsewhere]
provider = "openai"
model = "other"
base_url = "http://192.0.2.7/v1"
"""


def load(home: Path, toml: str = "", **environment: str) -> Settings:
    """Settings of a home with this ``ordain.toml``."""
    if toml:
        (home / "ordain.toml").write_text(toml, encoding="utf-8")
    return load_settings(environment, home)


@pytest.mark.parametrize(
    ("content", "said"),
    [(f"a = {'9' * 6000}", "digits"), (f"a = {'[' * 20_000}", "too deep"), ("a = ]", "line 1")],
)
@pytest.mark.parametrize("name", ["ordain.toml", "policy.toml"])
def test_a_file_that_cannot_be_read_is_named(
    name: str, content: str, said: str, tmp_path: Path
) -> None:
    """Whatever of it is too much for whoever reads it."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"{name}: .*{said}"):
        load(tmp_path)


def test_keys_may_be_merged_in_a_profiles_file(tmp_path: Path) -> None:
    """What a profile has of another, by anchor and merge key, it may have otherwise: that is no key
    that stands twice.
    """
    file = tmp_path / "profiles.yaml"
    file.write_text(
        "profiles:\n  b: &b {provider: openai, model: m}\n  a: {<<: *b, model: other}\n",
        encoding="utf-8",
    )
    profiles = load(tmp_path, LLM_PROFILES_CONFIG_PATH=str(file)).profiles
    assert {name: one.model for name, one in profiles.items()} == {"a": "other", "b": "m"}


def test_nothing_configured_is_offline(tmp_path: Path) -> None:
    """Without environment and file the one profile is the offline provider."""
    assert load(tmp_path).profiles["default"].provider == "offline"


def test_the_file_names_the_model(tmp_path: Path) -> None:
    """``[models.default]`` of the file is what the lanes use."""
    settings = load(tmp_path, DEFAULT_TOML)
    assert settings.profiles["default"].model == "from-file"
    assert {tuple(names) for names in settings.policy.lanes.profiles.values()} == {("default",)}


@pytest.mark.parametrize("toml", ["", DEFAULT_TOML])
def test_the_environment_wins(toml: str, tmp_path: Path) -> None:
    """Endpoint, model and key of the environment replace those of the file."""
    settings = load(
        tmp_path,
        toml,
        OPENAI_BASE_URL="http://127.0.0.1:2/v1",
        PLANNER_MODEL="mine",
        OPENAI_API_KEY="k",
    )
    default = settings.profiles["default"]
    assert (default.provider, default.base_url, default.model) == (
        "openai",
        "http://127.0.0.1:2/v1",
        "mine",
    )
    assert settings.secrets == {"default": "k"}


def test_the_model_alone_wins_over_the_file(tmp_path: Path) -> None:
    """``PLANNER_MODEL`` alone replaces the model of ``[models.default]`` and leaves its
    endpoint.
    """
    default = load(tmp_path, DEFAULT_TOML, PLANNER_MODEL="mine").profiles["default"]
    assert (default.model, default.base_url) == ("mine", "http://127.0.0.1:1/v1")


def test_the_key_may_come_from_a_file(tmp_path: Path) -> None:
    """``OPENAI_API_KEY_FILE`` alone configures a model as the key itself does; it is stripped, and
    never in a repr.
    """
    (tmp_path / "key").write_text(" secret-key \n", encoding="utf-8")
    settings = load(tmp_path, OPENAI_API_KEY_FILE=str(tmp_path / "key"))
    assert settings.profiles["default"].provider == "openai"
    assert settings.secrets == {"default": "secret-key"}
    assert "secret-key" not in repr(settings)


def test_a_model_of_the_environment_has_its_price(tmp_path: Path) -> None:
    """At the list's price and with its window, as one that `models add` writes; an endpoint that no
    list knows has none.
    """
    default = load(tmp_path, OPENAI_API_KEY="k", PLANNER_MODEL="gpt-5-mini").profiles["default"]
    assert (
        default.usd_micros_per_1k_input,
        default.usd_micros_per_1k_output,
        default.context_tokens,
    ) == (250, 2000, 400_000)
    assert default.priced_on is not None
    backend = load(
        tmp_path, LLM_DEFAULT_BACKEND="anthropic", PLANNER_MODEL="claude-sonnet-4-5"
    ).profiles["default"]
    assert backend.usd_micros_per_1k_input == 3000
    unknown = load(
        tmp_path, OPENAI_BASE_URL="http://127.0.0.1:2/v1", PLANNER_MODEL="gpt-5-mini"
    ).profiles["default"]
    assert (unknown.usd_micros_per_1k_input, unknown.priced_on) == (0, None)


PRICED_TOML = DEFAULT_TOML.replace(
    "\n\n",
    (
        "\nusd_micros_per_1k_input = 7\nusd_micros_per_1k_output = 9\nmax_tokens = 100\n"
        "context_tokens = 4096\n\n"
    ),
    1,
)


def test_a_written_price_is_its_models(tmp_path: Path) -> None:
    """It holds for the model that it was written for, at whatever endpoint, and for no other; its
    limits hold for either.
    """
    same = load(tmp_path, PRICED_TOML, OPENAI_BASE_URL="http://127.0.0.1:2/v1").profiles["default"]
    assert (same.base_url, same.usd_micros_per_1k_input) == ("http://127.0.0.1:2/v1", 7)
    other = load(
        tmp_path, PRICED_TOML, OPENAI_BASE_URL=OPENAI_URL, PLANNER_MODEL="gpt-5-mini"
    ).profiles["default"]
    assert (other.usd_micros_per_1k_input, other.max_tokens, other.context_tokens) == (
        250,
        100,
        4096,
    )
    free = load(tmp_path, PRICED_TOML, PLANNER_MODEL="mine").profiles["default"]
    assert (free.usd_micros_per_1k_input, free.base_url) == (0, "http://127.0.0.1:1/v1")


def test_a_variable_of_spaces_is_not_set(tmp_path: Path) -> None:
    """None of those that make or change the default profile, nor the key that goes with it."""
    names = (
        "PLANNER_MODEL",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_API_KEY_FILE",
        "LLM_DEFAULT_BACKEND",
        "ORDAIN_SCRIPT",
    )
    blank = dict.fromkeys((*names, "LLM_DEFAULT_MODEL", "LLM_PROFILES_CONFIG_PATH"), " ")
    assert load(tmp_path, **blank).profiles == load(tmp_path).profiles
    assert load(tmp_path, DEFAULT_TOML, **blank) == load(tmp_path, DEFAULT_TOML)
    with_url = load(tmp_path, **{**blank, "OPENAI_BASE_URL": " http://127.0.0.1:2/v1 "}).profiles[
        "default"
    ]
    assert (with_url.model, with_url.base_url) == ("from-file", "http://127.0.0.1:2/v1")


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"OPENAI_API_KEY": "k"}, False),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://api.openai.com"}, False),
        ({"LLM_DEFAULT_BACKEND": "anthropic"}, False),
        ({"OPENAI_API_KEY": "k", "PLANNER_MODEL": "gpt-5-mini"}, True),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:2/v1"}, True),
        ({}, True),
    ],
)
def test_a_key_alone_names_no_model(
    environment: dict[str, str], named: bool, tmp_path: Path
) -> None:
    """A provider is asked for no model that nobody named; a server of one's own mostly takes any
    name.
    """
    settings = load(tmp_path, **environment)
    if named:
        check_named(settings.profiles, settings.asked)
        return
    with pytest.raises(
        ConfigurationError, match=r"set PLANNER_MODEL .* run: ordain init"
    ) as refused:
        check_named(settings.profiles, settings.asked)
    assert refused.value.code == "model_missing"


CLAUDE = '[models.{name}]\nprovider = "anthropic"\nmodel = "claude"\n'
GPT = '[models.{name}]\nprovider = "openai"\nmodel = "gpt"\n'


@pytest.mark.parametrize("name", ["default", "claude"])
def test_a_key_alone_replaces_no_written_profile(name: str, tmp_path: Path) -> None:
    """With an exported key that belongs to something else, the written profile stays the one behind
    every lane, and gets no key.
    """
    settings = load(tmp_path, CLAUDE.format(name=name), OPENAI_API_KEY="k")
    assert {known: profile.provider for known, profile in settings.profiles.items()} == {
        name: "anthropic"
    }
    assert {tuple(names) for names in settings.policy.lanes.profiles.values()} == {(name,)}
    assert settings.secrets == {}


@pytest.mark.parametrize("model", ["mine", ""])
@pytest.mark.parametrize("by", ["policy", "environment"])
def test_a_key_makes_the_default_that_a_lane_names(by: str, model: str, tmp_path: Path) -> None:
    """Where a lane names ``default`` and nobody wrote it, a key makes it, of ``PLANNER_MODEL``, for
    that lane and for no other.
    """
    if by == "policy":
        (tmp_path / "policy.toml").write_text(
            'version = 1\n[lanes.profiles]\nlocal = ["fast"]\nworker = ["default"]\n'
            'brain = ["fast"]\n',
            encoding="utf-8",
        )
    route = {} if by == "policy" else {"LLM_ROUTE_WORKER": "default"}
    settings = load(
        tmp_path, CLAUDE.format(name="fast"), OPENAI_API_KEY="k", PLANNER_MODEL=model, **route
    )
    default = settings.profiles["default"]
    assert (default.provider, default.model, default.base_url) == (
        "openai",
        model or PLANNER_MODEL,
        OPENAI_URL,
    )
    assert settings.profiles["fast"].provider == "anthropic"
    assert settings.policy.lanes.profiles == {
        "local": ["fast"],
        "worker": ["default"],
        "brain": ["fast"],
    }
    assert settings.secrets == {"default": "k"}


def test_without_a_key_nobody_makes_the_default_that_a_lane_names(tmp_path: Path) -> None:
    """A lane that names ``default`` where there is neither such a profile nor a key stops the
    start.
    """
    with pytest.raises(
        ConfigurationError, match="lane worker names unknown model profiles: default; known: fast"
    ):
        load(tmp_path, CLAUDE.format(name="fast"), LLM_ROUTE_WORKER="default", PLANNER_MODEL="mine")


def test_a_key_alone_voids_no_default_backend(tmp_path: Path) -> None:
    """Where a backend is named, a key is only a key; ``PLANNER_MODEL`` is its model where it has
    none of its own.
    """
    default = load(
        tmp_path, "", LLM_DEFAULT_BACKEND="gemini", PLANNER_MODEL="mine", OPENAI_API_KEY="k"
    ).profiles["default"]
    assert (default.provider, default.model) == ("gemini", "mine")


@pytest.mark.parametrize(
    "url",
    ["", "base_url = 'https://api.openai.com/v1/'\n", "base_url = 'https://api.openai.com'\n"],
)
@pytest.mark.parametrize("default", [GPT, CLAUDE, ""])
def test_profiles_of_openai_share_its_key(default: str, url: str, tmp_path: Path) -> None:
    """Whoever asks OpenAI itself, however that is written, sends ``OPENAI_API_KEY``; no other
    provider does.
    """
    settings = load(
        tmp_path,
        default.format(name="default") + GPT.format(name="brain") + url,
        OPENAI_API_KEY="k",
    )
    assert settings.secrets == dict.fromkeys(
        ["default", "brain"] if default is GPT else ["brain"], "k"
    )


def test_the_key_of_another_endpoint_is_not_openais(tmp_path: Path) -> None:
    """Where the default profile is of another endpoint, the key is that one's, and does not go to
    OpenAI.
    """
    settings = load(tmp_path, DEFAULT_TOML + GPT.format(name="brain"), OPENAI_API_KEY="k")
    assert settings.secrets == {"default": "k"}


def test_the_key_goes_to_no_other_endpoint(tmp_path: Path) -> None:
    """A profile of another endpoint does not get the key."""
    assert load(tmp_path, DEFAULT_TOML, OPENAI_API_KEY="k").secrets == {"default": "k"}


@pytest.mark.parametrize(
    ("toml", "place"),
    [
        (
            "[models.default]\nprovider = 'openai'\nmodel = 'm'\nfast = true\n",
            "models.default.fast",
        ),
        ("modles = 1\n", "modles: there is no such key; did you mean models?"),
        ("[server]\nhst = 'x'\n", "server.hst: there is no such key; did you mean host?"),
        (
            "[models.a]\nprovider = 'openai'\nmodel = 'm'\nmax_token = 3\n",
            "models.a.max_token: there is no such key; did you mean max_tokens?",
        ),
        ("[verbs\n", "ordain.toml"),
        ("[verbs]\nfiles_root = '.'\n", "files_root"),
        ("[verbs]\nfiles_root = '..'\n", "files_root"),
    ],
)
def test_a_wrong_file_is_refused_by_place(toml: str, place: str, tmp_path: Path) -> None:
    """Unknown keys, broken TOML and a root that holds the data folder are refused with the
    place.
    """
    with pytest.raises(ConfigurationError, match=re.escape(place)):
        load(tmp_path, toml)


@pytest.mark.parametrize("port", ["", "0", "65535"])
def test_ports(port: str, tmp_path: Path) -> None:
    """PLN-41 "HTTP port `PLANNER_PORT`, default 8090": an empty one is the default, any port is
    taken.
    """
    assert load(tmp_path, PLANNER_PORT=port).port == int(port or 8090)


@pytest.mark.parametrize("port", ["65536", "-1", "eight", "²", "9" * 5000])
def test_a_wrong_port_is_refused(port: str, tmp_path: Path) -> None:
    """What is no port is a configuration error, however odd."""
    with pytest.raises(ConfigurationError):
        load(tmp_path, PLANNER_PORT=port)


def test_an_unknown_policy_key_is_refused(tmp_path: Path) -> None:
    """A policy with a key that this build does not know is refused, with the key."""
    (tmp_path / "policy.toml").write_text("version = 1\n[step]\nreasks = 2\n", encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"step\.reasks: there is no such key; did you mean reask\?"
    ):
        load(tmp_path)


PROFILES_YAML = """
profiles:
  gemini-planner-profile: {provider: google, model: gemini-2.5-flash}
  house: {provider: vllm, model: qwen3, base_url: "http://127.0.0.1:3/v1"}
"""


def test_profiles_come_from_a_file_of_their_own(tmp_path: Path) -> None:
    """Profiles of the file that the environment names stand beside those of ordain.toml; providers
    may go by their servers' names.

    LLM-07: "Config knobs: `LLM_PROFILES_CONFIG_PATH`, `LLM_ROUTE_*`, default backend/model"
    """
    file = tmp_path / "profiles.yaml"
    file.write_text(PROFILES_YAML, encoding="utf-8")
    settings = load(
        tmp_path,
        DEFAULT_TOML,
        LLM_PROFILES_CONFIG_PATH=str(file),
        LLM_ROUTE_BRAIN="gemini-planner-profile, house",
    )
    assert settings.profiles["gemini-planner-profile"].provider == "gemini"
    assert settings.profiles["house"].provider == "openai"
    assert set(settings.profiles) == {"default", "elsewhere", "house", "gemini-planner-profile"}
    lanes = settings.policy.lanes
    assert lanes.profiles == {
        "local": ["default"],
        "worker": ["default"],
        "brain": ["gemini-planner-profile", "house"],
    }


def test_a_profiles_file_may_be_toml(tmp_path: Path) -> None:
    """The same in TOML, and purposes routed to other lanes."""
    file = tmp_path / "profiles.toml"
    file.write_text('[profiles.p]\nprovider = "openai"\nmodel = "m"\n', encoding="utf-8")
    settings = load(
        tmp_path,
        "",
        LLM_PROFILES_CONFIG_PATH=str(file),
        LLM_ROUTE_PLANNER="brain",
        LLM_ROUTE_VERB="local",
    )
    assert (settings.policy.lanes.planner, settings.policy.lanes.verb) == ("brain", "local")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("profiles: {p: {provider: warp, model: m}}", "profiles.p: provider"),
        ("profiles: {p: {provider: openai, model: m, api_key: sk-secret}}", "api_key"),
        ("profiles: [", "profiles.yaml: line 1"),
        (
            "profiles:\n  p: {provider: openai, model: m}\n  p: {provider: openai, model: other}",
            "line 3: key 'p' stands twice",
        ),
        (f"profiles: {{p: {{max_tokens: {'9' * 6000}}}}}", "a value in it cannot be read"),
        ('profiles: !!int ""', "a value in it cannot be read"),
        ("profiles: 2026-99-99", "a value in it cannot be read"),
        ("profiles: " + "[" * 5000, "it nests too deep"),
        ("other: 1", "holds `profiles`"),
        ("- 1", "holds `profiles`"),
        ("profiles: {p: 7}", "profiles.p"),
    ],
)
def test_a_bad_profiles_file_is_named(content: str, said: str, tmp_path: Path) -> None:
    """What is wrong is said with file and place, and no value of it."""
    file = tmp_path / "profiles.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as refused:
        load(tmp_path, "", LLM_PROFILES_CONFIG_PATH=str(file))
    assert said in str(refused.value)
    assert str(file) in str(refused.value)
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LLM_ROUTE_BRAIN", "nobody", "unknown model profiles: nobody; known: default"),
        ("LLM_ROUTE_PLANNER", "fast", "no lane"),
        ("LLM_ROUTE_TRIAGE", "fast", "no lane"),
        ("LLM_ROUTE_ROUTES", "brain", "LLM_ROUTE_ROUTES"),
        ("LLM_ROUTE_WORKER", " , ", "LLM_ROUTE_WORKER names no profile"),
    ],
)
def test_a_bad_route_is_refused(name: str, value: str, said: str, tmp_path: Path) -> None:
    """A route to what is not there stops the start, and says what there is."""
    with pytest.raises(ConfigurationError, match=said):
        load(tmp_path, "", **{name: value})


def test_any_purpose_has_a_lane_by_the_environment_or_the_file(tmp_path: Path) -> None:
    """A purpose that no field is named after gets its lane, the environment's before the file's;
    policy as it stood keeps its bytes.
    """
    (tmp_path / "policy.toml").write_text(
        'version = 1\n[lanes]\ntriage = "local"\nrouter = "local"\n', encoding="utf-8"
    )
    lanes = load(tmp_path, "", LLM_ROUTE_ROUTER="brain").policy.lanes
    assert lanes.by_purpose == {"triage": Lane.LOCAL, "router": Lane.BRAIN}
    assert type(lanes.by_purpose["triage"]) is Lane
    with pytest.raises(
        ConfigurationError,
        match=(
            r"lanes\.council \(or LLM_ROUTE_COUNCIL\): 'council' is none of auditor, chair, "
            r"planner, roster, router"
        ),
    ):
        Ordain(load(tmp_path, "", LLM_ROUTE_COUNCIL="brain"))
    (tmp_path / "policy.toml").write_text(
        'version = 1\n[lanes]\ntriage = "fast"\n', encoding="utf-8"
    )
    with pytest.raises(ConfigurationError, match=r"lanes\.triage"):
        load(tmp_path, "")


@pytest.mark.parametrize("name", ["LLM_ROUTE_WORKER", "LLM_ROUTE_PLANNER"])
def test_an_empty_route_is_none(name: str, tmp_path: Path) -> None:
    """An empty variable, as a compose file sets it, changes nothing."""
    assert load(tmp_path, "", **{name: ""}).policy.lanes == load(tmp_path).policy.lanes


def test_a_default_backend(tmp_path: Path) -> None:
    """Where nothing else makes a default profile, the environment's backend and model do."""
    default = load(
        tmp_path,
        "",
        LLM_DEFAULT_BACKEND="anthropic",
        LLM_DEFAULT_MODEL="claude",
        ANTHROPIC_API_KEY="k",
    )
    assert (default.profiles["default"].provider, default.profiles["default"].model) == (
        "anthropic",
        "claude",
    )
    assert default.secrets == {"default": "k"}


def test_each_profile_has_its_own_key(tmp_path: Path) -> None:
    """A profile's key comes from the variable or the file that it names; another profile's never
    goes along, and none is in a repr.
    """
    (tmp_path / "key").write_text("from-file\n", encoding="utf-8")
    toml = """
[models.one]
provider = "anthropic"
model = "a"
key_env = "MY_KEY"
[models.two]
provider = "openai"
model = "b"
base_url = "http://127.0.0.1:4/v1"
key_file = "key"
[models.three]
provider = "gemini"
model = "c"
"""
    settings = load(tmp_path, toml, MY_KEY="from-env")
    assert settings.secrets == {"one": "from-env", "two": "from-file"}
    assert "from-env" not in repr(settings)
    with pytest.raises(ConfigurationError, match="cannot read"):
        load(tmp_path, toml.replace('"key"', '"no-such-file"'))


@pytest.mark.parametrize("proxy", ["10.0.0.1/8", "proxy.example", "10.0.0.0/33"])
def test_a_trusted_proxy_is_an_address_or_a_network(proxy: str, tmp_path: Path) -> None:
    """A name proves nothing, and a network that is written as another is a mistake."""
    with pytest.raises(ConfigurationError, match=r"server\.trusted_proxies"):
        load(tmp_path, f'[server]\ntrusted_proxies = ["{proxy}"]\n')


@pytest.mark.parametrize("hosts", ["", ", hosts = []"])
def test_a_secret_names_its_hosts(hosts: str, tmp_path: Path) -> None:
    """A secret without hosts could be sent to whatever host a verb file names."""
    with pytest.raises(ConfigurationError, match=r"verbs\.secrets\.CRM\.hosts"):
        load(tmp_path, f'[verbs.secrets]\nCRM = {{env = "CRM"{hosts}}}\n')


def test_a_model_is_asked_about_messages_where_lane_local_has_a_real_one(tmp_path: Path) -> None:
    """As shipped: not with a script and not offline; ``off`` asks nobody, and a lane that is named
    is asked whatever stands behind it.
    """
    script = (
        'version = 1\n[lanes.profiles]\nlocal = ["default"]\nworker = ["default"]\n'
        'brain = ["default"]\n'
    )
    assert load(tmp_path).policy.attach.ask is None
    assert load(tmp_path, "", ORDAIN_SCRIPT="s.yaml").policy.attach.ask is None
    for ask, lane in (
        ("off", None),
        ("worker", Lane.WORKER),
        ("local", Lane.LOCAL),
        ("cheap", None),
    ):
        (tmp_path / "policy.toml").write_text(
            f'{script}[attach]\nask = "{ask}"\n', encoding="utf-8"
        )
        assert load(tmp_path).policy.attach.lane is lane
    assert load(tmp_path, DEFAULT_TOML).policy.attach.ask is Lane.LOCAL


KEYED = '[models.default]\nprovider = "openai"\nmodel = "m"\nkey_file = "keys/openai"\n'
LANES = 'version = 1\n[lanes.profiles]\nlocal = ["gone"]\nworker = ["gone"]\nbrain = ["gone"]\n'


@pytest.mark.parametrize(
    ("files", "code", "says"),
    [
        (
            {"ordain.toml": KEYED},
            "key_missing",
            (
                "models.default: cannot read HOME/keys/openai, where its key should be: put the "
                "key there"
            ),
        ),
        ({"ordain.toml": KEYED}, "key_missing", "ordain init --replace"),
        (
            {"ordain.toml": 'policy = "mine.toml"\n'},
            "no_policy_file",
            "HOME/ordain.toml: policy names HOME/mine.toml, which is not there",
        ),
        (
            {"policy.toml": LANES},
            "unknown_profile",
            (
                "lane local names unknown model profiles: gone; known: default; set it up: ordain "
                "models add gone"
            ),
        ),
        ({"policy.toml": ""}, "configuration", "HOME/policy.toml: version"),
        ({"ordain.toml/kept": ""}, "configuration", "cannot read HOME/ordain.toml: Is a directory"),
        (
            {"ordain.toml": "\udcff"},
            "configuration",
            "cannot read HOME/ordain.toml: it is no UTF-8 text",
        ),
    ],
)
def test_a_folder_that_is_set_up_by_half_says_what_is_missing(
    files: dict[str, str], code: str, says: str, tmp_path: Path
) -> None:
    """A key, a policy or a profile that is named and not there, a file that is none: which it is,
    and what to do where that is not plain.
    """
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigurationError) as refused:
        load_settings({}, tmp_path)
    assert refused.value.code == code
    assert says.replace("HOME", str(tmp_path)) in refused.value.message
    assert "Errno" not in refused.value.message
