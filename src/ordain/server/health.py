"""``/health``: the process answers. ``/ready``: it can take work and keep it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ordain import __version__
from ordain.contracts.proof import CHALLENGE_HEADER, PROOF_HEADER, prove
from ordain.server.documents import shown
from ordain.server.examples import HEALTH, READY
from ordain.server.face import Face, Json
from ordain.server.problems import unavailable
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.shapes import Health, Ready
from ordain.server.verbs import problems_of


def health_router(face: Face) -> Resource:
    """Both probes."""
    router = resource("health")

    @router.get("/health", **shown(Health, example=HEALTH))
    async def health(request: Request) -> Response:
        """The process answers; nothing is asked of the storage. `verb_problems`: how many files of
        verbs, wording, workflows, cards or seats are not in use (`GET /verbs`).

        `verb_warnings`: how many verbs are used at a stricter effect than they declare;
        `verbs_unconfirmed`: how many no operator has confirmed.

        With 64 hexadecimal digits of chance in header `Ordain-Challenge` the answer's
        `Ordain-Proof` is their HMAC under the key in `server.json`: whoever can read the data
        folder can tell its server from any other that answers on its port.
        """
        problems = problems_of(face.runtime)
        warnings = sum(problem.warning for problem in problems)
        proof = prove(face.proof_key, request.headers.get(CHALLENGE_HEADER, ""))
        said = Health(
            status="ok",
            version=__version__,
            instance=face.instance,
            verb_problems=len(problems) - warnings,
            verb_warnings=warnings,
            verbs_unconfirmed=len(face.runtime.catalog.unconfirmed),
        )
        return Json(said, headers={} if proof is None else {PROOF_HEADER: proof})

    @router.get("/ready", **refusing(shown(Ready, example=READY), "not_ready"))
    async def ready() -> Response:
        """200 where the lease is held, the storage keeps what is written and the engine accepts
        runs; 503 otherwise, saying which does not hold.

        Something is really written, at most four times a second, however often this is asked.
        """
        checks = await face.runtime.checks()
        if checks.hold:
            return Json(Ready(status="ready", checks=checks.by_name))
        detail = f"runs are not accepted now{checks.reason and ': '}{checks.reason}"
        return unavailable("not_ready", detail, {"checks": checks.by_name})

    return router
