"""A template of a workflow as a catalog holds it: its schema compiled, and its steps named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordain.contracts.schema import Immutable, Schema
from ordain.contracts.workflow import FixedStep, StepCall, WorkflowTemplate, expanded


class CompiledWorkflow(Immutable):
    """A template with the schema of its arguments compiled, and the verbs that the settings name
    for its steps.
    """

    template: WorkflowTemplate
    input: Schema
    _settings: Mapping[str, str]

    def __init__(self, template: WorkflowTemplate, settings: Mapping[str, str]) -> None:
        """Compile now, so that a bad schema is found at load."""
        self.__dict__.update(
            template=template, input=Schema(template.input_schema), _settings=settings
        )

    def verb_of(self, call: StepCall) -> str:
        """The id of a step's verb; "" where the settings name none."""
        return call.verb_of(self._settings)

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs of its steps and of what undoes them, each once, in order; what the settings do
        not name is none of them.
        """
        return tuple(dict.fromkeys(filter(None, map(self.verb_of, self.template.calls))))

    def is_as(self, other: CompiledWorkflow) -> bool:
        """Whether it comes to the same steps as another whatever the arguments; how it is described
        does not count.
        """
        ours, theirs = self.template, other.template
        same = (ours.id, ours.version, ours.input_schema, ours.steps) == (
            theirs.id,
            theirs.version,
            theirs.input_schema,
            theirs.steps,
        )
        return same and [self.verb_of(call) for call in ours.calls] == [
            other.verb_of(call) for call in theirs.calls
        ]

    def steps_of(self, given: Mapping[str, Any]) -> tuple[FixedStep, ...]:
        """The fixed steps with these arguments. Whether they may be filled in at all rule
        ``workflow`` says.
        """
        return expanded(self.template, self._settings, given)
