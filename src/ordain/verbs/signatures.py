"""Type hints read as JSON Schemas, and the conversion of JSON arguments to the hinted types.

A hint goes through pydantic, or through msgspec where it mentions msgspec types or pydantic does
not know it (a ``typing.TypedDict`` before Python 3.12). Every object that a schema describes is
closed unless its type says otherwise.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo

from ordain.contracts.struct_schemas import struct_schemas
from ordain.verbs.json_form import Formless, form_of, is_finite
from ordain.verbs.marked_result import Marked

JsonFields = dict[str, Any]
Convert = Callable[[Any], Any]

_TIMES = frozenset({"date-time", "time", "duration"})
_REF = "#/$defs/{name}"
# keywords that hold values and not schemas
_VALUES = frozenset({"const", "default", "enum", "examples"})


class UnreadableSignature(Exception):
    """The signature cannot be a verb's; the message says which part and why."""


class Unfitting(Exception):
    """A JSON value does not fit its hint; the message names the argument, never the value."""


class Signature(Struct, frozen=True):
    """A function's parameters and result as JSON, closed and self-contained.

    ``wraps``: the result is no object, so the output is ``{"result": ...}``. ``context``: the
    function takes the call's context.
    """

    input_schema: JsonFields
    output_schema: JsonFields
    convert: Mapping[str, Convert]
    required: frozenset[str]
    wraps: bool
    context: bool

    def arguments(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments for JSON arguments.

        Raises:
            Unfitting: an argument is missing, unknown or does not fit.
        """
        if not self.required <= args.keys():
            raise Unfitting("an argument is missing")
        converted: dict[str, Any] = {}
        for name, value in args.items():
            convert = self.convert.get(name)
            if convert is None:
                raise Unfitting("an argument that the verb does not have")
            try:
                converted[name] = convert(value)
            except (ValidationError, msgspec.ValidationError) as error:
                raise Unfitting(f"argument {name} does not fit its type") from error
        return converted


_KEPT_MAX = 256
_kept: dict[tuple[Any, ...], tuple[tuple[Any, ...], Signature]] = {}
"""What was read, with all that it was read from: it is told by identity, which is its own only
while it lives.
"""


def read_signature(
    function: Callable[..., Any], context_type: type, meanings: Mapping[str, str]
) -> Signature:
    """Read the hints of a function; ``context_type`` marks the parameter that is not an argument.

    A function that is made again of the same code, as shipped verbs are for every registry, is not
    read again.

    Raises:
        UnreadableSignature: a parameter or the result has no usable hint.
    """
    if (
        not isinstance(function, FunctionType)
        or vars(function)
        or "<locals>" not in function.__qualname__
    ):
        # wrapped by somebody, or made once
        return _read_signature(function, context_type, meanings)
    told = function.__annotations__, function.__kwdefaults__ or {}
    values = (*(function.__defaults__ or ()), *(value for each in told for value in each.values()))
    parts = (function.__code__, function.__globals__, *values)
    key = (*map(id, parts), *(tuple(each) for each in told), context_type, *meanings.items())
    if key not in _kept:
        if len(_kept) >= _KEPT_MAX:
            _kept.clear()
        _kept[key] = parts, _read_signature(function, context_type, meanings)
    return _kept[key][1]


def _read_signature(
    function: Callable[..., Any], context_type: type, meanings: Mapping[str, str]
) -> Signature:
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise UnreadableSignature(f"a type hint cannot be resolved: {error}") from error
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    convert: dict[str, Convert] = {}
    required: list[str] = []
    context = False
    for name, parameter in inspect.signature(function).parameters.items():
        hint = _hint_of(parameter, hints)
        if _bare(hint) is context_type:
            if name != "context":
                raise UnreadableSignature(
                    f"the parameter of type {context_type.__name__} is named context"
                )
            context = True
            continue
        if _mentions(hint, context_type):
            # what a model sends would be taken for what code knows of the call
            raise UnreadableSignature(
                f"parameter {name}: {context_type.__name__} is the call's own and no part of an "
                "argument"
            )
        schema, convert[name] = _read_hint(hint, name, definitions)
        if name in meanings:
            schema = {**schema, "description": meanings[name]}
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        else:
            schema = {**schema, "default": _default(parameter, convert[name])}
        properties[name] = schema
    if "return" not in hints:
        raise UnreadableSignature("the result has no type hint")
    result = hints["return"]
    output, wraps = _read_result(get_args(result)[0] if get_origin(result) is Marked else result)
    return Signature(
        _object(properties, required, definitions),
        output,
        convert,
        frozenset(required),
        wraps,
        context,
    )


def _hint_of(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    if parameter.kind not in {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }:
        raise UnreadableSignature(
            f"parameter {parameter.name}: arguments are passed by name; *args, **kwargs and "
            "positional-only ones have none"
        )
    if parameter.name not in hints:
        raise UnreadableSignature(f"parameter {parameter.name} has no type hint")
    return hints[parameter.name]


def _object(properties: JsonFields, required: list[str], definitions: JsonFields) -> JsonFields:
    schema: JsonFields = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    if definitions:
        schema["$defs"] = definitions
    return schema


def _default(parameter: inspect.Parameter, convert: Convert) -> Any:
    name, default = parameter.name, parameter.default
    if isinstance(default, FieldInfo):
        raise UnreadableSignature(
            f"parameter {name}: Field stands in the hint, and the default behind it: "
            f"{name}: Annotated[..., Field(...)] = ..."
        )
    try:
        if not is_finite(msgspec.to_builtins(default, str_keys=True, enc_hook=form_of)):
            raise UnreadableSignature(f"parameter {name}: the default is no finite number")
        plain = msgspec.json.decode(msgspec.json.encode(default, enc_hook=form_of))
        convert(plain)
    except Formless as error:
        raise UnreadableSignature(
            f"parameter {name}: the default has no JSON form ({error})"
        ) from error
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise UnreadableSignature(f"parameter {name}: the default does not fit the hint") from error
    return plain


def _read_result(hint: Any) -> tuple[JsonFields, bool]:
    definitions: JsonFields = {}
    schema, _ = _read_hint(hint, "the result", definitions, output=True)
    for part in (schema, *definitions.values()):
        _drop_times(part)
    target = (
        definitions.get(schema["$ref"].removeprefix(_REF.format(name="")))
        if "$ref" in schema
        else schema
    )
    if target is None or target.get("type") != "object":
        return _object({"result": schema}, ["result"], definitions), True
    if target is not schema and not any(
        _refers(part, schema["$ref"]) for part in definitions.values()
    ):
        definitions.pop(schema["$ref"].removeprefix(_REF.format(name="")))
        schema = target
    return ({**schema, "$defs": definitions} if definitions else schema), False


def _drop_times(part: Any) -> None:
    """Take from a result's schema the formats of times that Python's own values need not have: a
    ``datetime`` without a zone, a ``timedelta`` of less than a second.
    """
    if isinstance(part, dict):
        schema = cast(JsonFields, part)
        if schema.get("type") == "string" and schema.get("format") in _TIMES:
            del schema["format"]
        for value in schema.values():
            _drop_times(value)
    elif isinstance(part, list):
        for one in cast(list[Any], part):
            _drop_times(one)


def _refers(part: Any, reference: str) -> bool:
    if isinstance(part, dict):
        mapping = cast(JsonFields, part)
        return mapping.get("$ref") == reference or any(
            _refers(value, reference) for value in mapping.values()
        )
    return isinstance(part, list) and any(
        _refers(item, reference) for item in cast(list[Any], part)
    )


def _read_hint(
    hint: Any, name: str, definitions: JsonFields, *, output: bool = False
) -> tuple[JsonFields, Convert]:
    """The schema of one hint, its definitions added to ``definitions``, and how to convert a JSON
    value to it.
    """
    schema: JsonFields
    convert: Convert
    try:
        if not _mentions_msgspec(hint):
            adapter: TypeAdapter[Any] = TypeAdapter(hint)
            schema = adapter.json_schema(
                ref_template="#/$defs/{model}", mode="serialization" if output else "validation"
            )
            convert = adapter.validate_python
            return _merge(schema, definitions, name), convert
    except (PydanticUserError, PydanticInvalidForJsonSchema):
        pass  # msgspec knows some types that pydantic does not; what neither knows is refused below
    try:
        (schema,), parts = struct_schemas([hint], _REF)
    except (TypeError, RuntimeError) as error:
        raise UnreadableSignature(f"{name}: {hint!r} has no JSON Schema") from error
    return _merge({**schema, "$defs": parts}, definitions, name), _msgspec_converter(hint)


def _msgspec_converter(hint: Any) -> Convert:
    def convert(value: Any) -> Any:
        return msgspec.convert(value, hint)

    return convert


def _merge(schema: JsonFields, definitions: JsonFields, name: str) -> JsonFields:
    for key, part in schema.pop("$defs", {}).items():
        closed = _close(part)
        if definitions.setdefault(key, closed) != closed:
            raise UnreadableSignature(f"{name}: two types are named {key}")
    return _close(schema)


def _close(part: Any) -> Any:
    """Close every object with named properties, unless its type keeps other keys; drop titles,
    which repeat names.
    """
    if isinstance(part, list):
        return [_close(item) for item in cast(list[Any], part)]
    if not isinstance(part, dict):
        return part
    closed = {
        key: value if key in _VALUES else _close(value)
        for key, value in cast(JsonFields, part).items()
    }
    if isinstance(closed.get("title"), str):
        del closed["title"]
    if closed.get("type") == "object" and isinstance(closed.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


def _mentions_msgspec(hint: Any) -> bool:
    """Whether pydantic would overlook or refuse a part of the hint: a Struct, or a ``msgspec.Meta``
    constraint. Within its own models it does not.
    """
    return any(
        (isinstance(part, type) and issubclass(part, msgspec.Struct))
        or (
            get_origin(part) is Annotated
            and any(isinstance(extra, msgspec.Meta) for extra in get_args(part)[1:])
        )
        for part in _parts(hint, {}, skipped=BaseModel)
    )


def _mentions(hint: Any, kind: type) -> bool:
    """Whether a value of that kind can come in with the hint, in whatever of its parts; also where
    one of them cannot be looked into and is named so.
    """
    return any(
        (isinstance(part, type) and issubclass(part, kind))
        or (isinstance(part, str) and kind.__name__ in part)
        for part in _parts(hint, {})
    )


def _parts(hint: Any, seen: dict[int, Any], *, skipped: type | None = None) -> Iterator[Any]:
    """The hint and all that it is made of, fields of its types among them, but for those of
    ``skipped``; a field whose hint cannot be resolved is its text.

    ``seen`` holds what was met: some hints are made while they are asked for, and another would
    have the number of one that is gone.
    """
    if id(hint) in seen:
        return
    seen[id(hint)] = hint
    yield hint
    for part in (*get_args(hint), *_stands_for(hint)):
        yield from _parts(part, seen, skipped=skipped)
    if isinstance(hint, type) and not (skipped and issubclass(hint, skipped)):
        for part in _field_hints(hint):
            yield from _parts(part, seen, skipped=skipped)


def _stands_for(hint: Any) -> Iterator[Any]:
    """What a generic type, an alias, a ``NewType`` or a type variable is made of."""
    if isinstance(origin := get_origin(hint), type):
        yield origin
    yield from (
        part
        for name in ("__supertype__", "__bound__", "__value__")
        if (part := getattr(hint, name, None)) is not None
    )
    if isinstance(hint, TypeVar):
        yield from hint.__constraints__


def _field_hints(kind: type) -> Iterator[Any]:
    """The hints of a type's own fields, whatever makes them fields."""
    if issubclass(kind, BaseModel):
        yield from (field.annotation for field in kind.model_fields.values())
        return
    if not any(vars(base).get("__annotations__") for base in kind.__mro__):
        return
    try:
        yield from get_type_hints(cast(Any, kind), include_extras=True).values()
    except (NameError, TypeError, AttributeError, SyntaxError):
        # what was imported for checkers alone, or is no hint
        for base in kind.__mro__:
            yield from map(str, vars(base).get("__annotations__", {}).values())


def _bare(hint: Any) -> Any:
    """A hint without what is said beside it, and without that there may be none."""
    if get_origin(hint) is Annotated:
        return _bare(get_args(hint)[0])
    if (
        not isinstance(hint, type)
        and (named := getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None))
        is not None
    ):
        return _bare(named)
    others = (
        [part for part in get_args(hint) if part is not type(None)]
        if get_origin(hint) in {Union, UnionType}
        else []
    )
    return _bare(others[0]) if len(others) == 1 else hint
