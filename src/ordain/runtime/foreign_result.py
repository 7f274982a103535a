"""What a verb, an adapter or a reader gave back is foreign: where no record can hold it, that is
what became of the effect.
"""

from __future__ import annotations

from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.effects.effect import ModelCall, Read, VerbCall
from ordain.effects.results import AnyResult, ReadFailed
from ordain.errors import FlowFault
from ordain.ports.model import Charge
from ordain.runtime.calls import unreadable_result
from ordain.runtime.model_answers import Failure
from ordain.runtime.recorded_form import result_form


def kept_form(
    catalog: Catalog, effect: ModelCall | VerbCall | Read, result: AnyResult
) -> tuple[Raw, AnyResult]:
    """A result's record, and the result as it is read back; what no record can hold is told as a
    failure of its kind.
    """
    try:
        return result_form(result)
    except FlowFault as fault:
        why = f"what came back cannot be recorded: {fault.message}"
        if isinstance(effect, VerbCall):
            return result_form(unreadable_result(catalog.verbs[effect.authorized.call.verb], why))
        if isinstance(effect, Read):
            return result_form(ReadFailed(code="unreadable", message=why))
        profile = catalog.data.profiles[effect.profile]
        failure = Failure(profile.provider, profile.model)
        return result_form(failure.of(ModelErrorCode.ADAPTER_BUG, why, charge=Charge.POSSIBLE))
