"""``/metrics`` in Prometheus' text format, written by hand: a dozen lines need no library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs
from starlette.responses import PlainTextResponse

from ordain import __version__
from ordain.runtime.door import Runtime, Status
from ordain.server.face import Face
from ordain.server.resource import Resource, resource

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def metrics_text(runtime: Runtime) -> str:
    """Every metric. Counters count since the process began; runs by status are the storage's own
    count.
    """
    counts = await runtime.search.counts()
    return "\n".join(_lines(runtime, counts)) + "\n"


def _lines(runtime: Runtime, counts: Mapping[str, int]) -> Iterator[str]:
    yield from _metric(
        "ordain_info", "gauge", "The build.", f'ordain_info{{version="{__version__}"}} 1'
    )
    yield from _metric(
        "ordain_runs",
        "gauge",
        "Runs by status.",
        *(f'ordain_runs{{status="{s}"}} {counts.get(s, 0)}' for s in Status),
    )
    yield from _metric(
        "ordain_driving", "gauge", "Runs driven now.", f"ordain_driving {runtime.engine.driving}"
    )
    yield from _metric(
        "ordain_accepting",
        "gauge",
        "Whether runs are accepted.",
        f"ordain_accepting {int(runtime.engine.accepting)}",
    )
    yield from _metric(
        "ordain_commits_total",
        "counter",
        "Transactions committed.",
        f"ordain_commits_total {runtime.commits()}",
    )
    circuits = (
        f'ordain_model_circuit_open{{endpoint="{escaped(endpoint)}"}} 1'
        for endpoint in sorted(runtime.services.breakers.open())
    )
    yield from _metric(
        "ordain_model_circuit_open",
        "gauge",
        "Model endpoints that are left alone or on probation.",
        *circuits,
    )
    counters = runtime.services.counters
    for field in structs.fields(type(counters)):
        value: int = getattr(counters, field.name)
        if field.name.endswith("_ns"):
            name = f"ordain_{field.name.removesuffix('_ns')}_seconds_total"
            yield from _metric(
                name,
                "counter",
                f"Time spent on {field.name.removesuffix('_ns')}.",
                f"{name} {value / 1e9:.9f}",
            )
        else:
            name = f"ordain_{field.name}_total"
            yield from _metric(
                name,
                "counter",
                f"{field.name.replace('_', ' ').capitalize()} so far.",
                f"{name} {value}",
            )


def escaped(label: str) -> str:
    """A label's value as the text format wants it."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _metric(name: str, kind: str, meaning: str, *samples: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
    yield from samples


def metrics_router(face: Face) -> Resource:
    """The one route."""
    router = resource("health")

    @router.get(
        "/metrics",
        response_class=PlainTextResponse,
        response_model=None,
        responses={200: {"description": "What there is."}},
    )
    async def metrics() -> PlainTextResponse:
        """What this process did, and what the storage holds."""
        return PlainTextResponse(await metrics_text(face.runtime), media_type=MEDIA_TYPE)

    return router
