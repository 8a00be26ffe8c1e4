"""From messages to frozen dataclasses, field by field by name. A field that the message lacks is a
mistake of this package, which its tests find.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from ._json import json_name

T = TypeVar("T")
E = TypeVar("E", bound="type[enum.Enum]")

_ENUMS: dict[str, type[enum.Enum]] = {}
_TAKERS: dict[type[Any], tuple[tuple[str, Callable[[Message], Any]], ...]] = {}


def register_enum(kind: E) -> E:
    """Makes an enum known under its name in the contract."""
    _ENUMS[kind.__name__] = kind
    return kind


def convert(kind: type[T], message: Message) -> T:
    """The dataclass that shows a message."""
    takers = _TAKERS.get(kind)
    if takers is None:
        takers = _TAKERS[kind] = _takers(kind, message.DESCRIPTOR)
    return kind(**{name: take(message) for name, take in takers})


def _takers(kind: type[Any], descriptor: Any) -> tuple[tuple[str, Callable[[Message], Any]], ...]:
    hints = typing.get_type_hints(kind)
    return tuple(
        (field.name, _taker(hints[field.name], descriptor.fields_by_name[field.name]))
        for field in dataclasses.fields(kind)
    )


def _taker(hint: Any, field: FieldDescriptor) -> Callable[[Message], Any]:
    name = field.name
    optional = False
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = [each for each in typing.get_args(hint) if each is not type(None)]
        optional = True
    origin = typing.get_origin(hint)
    if origin is tuple:
        one = _one(typing.get_args(hint)[0], field)
        return lambda message: tuple(one(each) for each in getattr(message, name))
    if origin is not None and issubclass(origin, Mapping):
        return lambda message: dict(getattr(message, name))
    one = _one(hint, field)
    if optional and field.has_presence:
        return lambda message: one(getattr(message, name)) if message.HasField(name) else None
    return lambda message: one(getattr(message, name))


def _one(hint: Any, field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.enum_type is not None:
        names = {each.number: json_name(field.enum_type, each.name) for each in field.enum_type.values}
        kind = _ENUMS.get(field.enum_type.name)
        if kind is None:
            # Zero is "not said"; a number that a newer daemon sends is better than nothing.
            return lambda number: (names.get(number) or str(number)) if number else None
        members = {number: kind(name) for number, name in names.items() if number}
        unknown = kind("unrecognized")
        return lambda number: members.get(number, unknown)
    if dataclasses.is_dataclass(hint):
        return lambda message: convert(cast("type[Any]", hint), message)
    return lambda value: value
