"""The folder of workflow templates (WFL-03)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ordain.contracts.faults import Fault
from ordain.contracts.schema import INVALID, Schema
from ordain.contracts.workflow import WorkflowTemplate
from ordain.errors import ConfigurationError
from ordain.verbs.shipped_file import read_shipped
from ordain.verbs.yaml_folder import YamlFolder


def _faults(template: WorkflowTemplate) -> Iterator[Fault]:
    try:
        Schema(template.input_schema)
    except ConfigurationError as error:
        yield ("schema",), f"is no JSON Schema: {error.message.removeprefix(INVALID)}"


@cache
def shipped_workflows() -> Mapping[str, WorkflowTemplate]:
    """The templates of the folder ``shipped`` beside this file, by id; read once, they are part of
    the build.
    """
    return read_shipped(Path(__file__).parent, WorkflowTemplate)


WORKFLOWS = YamlFolder(
    contract=WorkflowTemplate,
    name="workflows",
    key="id",
    noun="template",
    code="invalid_workflow",
    most=200,
    shipped=shipped_workflows,
    alone=_faults,
)
