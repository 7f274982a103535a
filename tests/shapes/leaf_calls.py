"""Calling a leaf verb as the runtime does: schema first, then its code behind the executor, then
the output's schema.
"""

from typing import Any

from ordain.contracts.compiled_verb import CompiledVerb
from ordain.ports.verb import LeafCall, LeafFailed, LeafReturned
from ordain.verbs import FunctionVerb, LeafExecutor, Registry


async def called(function: FunctionVerb[..., Any], **args: Any) -> LeafReturned | LeafFailed:
    """What became of a call whose arguments fit the verb's schema; its output fits as well."""
    compiled = CompiledVerb(function.spec)
    assert compiled.input.errors(args) == ()
    executor = LeafExecutor(Registry(functions=[function]))
    result = await executor.run(
        LeafCall(spec=function.spec, args=args, key="k", attempt=1, timeout_s=30.0)
    )
    await executor.close()
    assert isinstance(result, (LeafReturned, LeafFailed)), result
    if isinstance(result, LeafReturned):
        assert compiled.output.errors(result.output) == ()
    return result


async def output_of(function: FunctionVerb[..., Any], **args: Any) -> dict[str, Any]:
    """The output of a call that must succeed."""
    result = await called(function, **args)
    assert isinstance(result, LeafReturned), result
    return result.output


async def failure_of(function: FunctionVerb[..., Any], **args: Any) -> LeafFailed:
    """The failure of a call that must fail, without effect."""
    result = await called(function, **args)
    assert isinstance(result, LeafFailed), result
    assert result.happened is False
    return result
