"""Whether a record that was read from a file holds what its fields declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

_Test = Callable[[Any], bool]

#: A value of any kind may hold others in it, so deep: no tool takes more.
_DEPTH = 50


def misfit(record: Any) -> str:
    """The first field of ``record``, a dataclass, whose value is not of the type declared; ``""`` when
    all fit. The records in it are looked at too."""
    kind: Any = type(record)
    for name, fits in _tests(kind):
        if not fits(getattr(record, name)):
            return name
    return ""


@cache
def _tests(kind: Any) -> tuple[tuple[str, _Test], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, _test(hints[field.name])) for field in fields(kind))


@cache
def _test(hint: Any) -> _Test:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return _is_shallow
    if hint in (int, float):
        kinds = (int,) if hint is int else (int, float)
        return lambda value: isinstance(value, kinds) and not isinstance(value, bool)
    if origin is UnionType:
        either = [_test(one) for one in inner]
        return lambda value: any(fits(value) for fits in either)
    if origin is tuple and inner[-1] is Ellipsis:
        each = _test(inner[0])
        return lambda value: isinstance(value, tuple) and all(map(each, value))
    if origin is tuple:
        every = [_test(one) for one in inner]
        return lambda value: (
            isinstance(value, tuple)
            and len(value) == len(every)
            and all(fits(one) for fits, one in zip(every, value, strict=True))
        )
    if origin is Mapping:
        key, item = _test(inner[0]), _test(inner[1])
        return lambda value: (
            isinstance(value, Mapping) and all(map(key, value)) and all(map(item, value.values()))
        )
    kind: type = hint
    if is_dataclass(kind):
        return lambda value: isinstance(value, kind) and not misfit(value)
    return lambda value: isinstance(value, kind)


def _is_shallow(value: object, depth: int = _DEPTH) -> bool:
    """What is nested deeper would break whoever walks through it, a JSON writer for one."""
    if isinstance(value, Mapping):
        return depth > 0 and all(_is_shallow(one, depth - 1) for one in value.values())
    if isinstance(value, list | tuple):
        return depth > 0 and all(_is_shallow(one, depth - 1) for one in value)
    return True
