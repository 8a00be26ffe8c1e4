"""Messages from the contract's JSON and back, by reflection: there is no second definition of any
message here. The rules are those of the daemon's own side (`proto/src/json.rs`).

In place of JSON's own types Python's are taken too: `bytes` where bytes are meant, tuples as lists,
and tuples, sets, bytes, complex and non-finite numbers within plain values.
"""

from __future__ import annotations

import base64
import binascii
import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from .errors import InvalidRequest

M = TypeVar("M", bound=Message)

_SUFFIX = "_base64"
_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    _UNITS[_letter] = _UNITS[_letter + "ib"] = 1024**_power
    _UNITS[_letter + "b"] = 1000**_power
_RANGES = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}


def read(message: M, value: Mapping[str, Any], path: str = "") -> M:
    """Fills `message`; raises `InvalidRequest` that names path, value and what is allowed."""
    if not isinstance(value, Mapping):
        raise _refused(path, value, "an object")
    fields = message.DESCRIPTOR.fields_by_name
    seen: dict[str, str] = {}
    for key, item in value.items():
        field = fields.get(key)
        name = key
        if field is None and key.endswith(_SUFFIX):
            name = key[: -len(_SUFFIX)]
            field = fields.get(name)
            if field is not None and (field.type != FieldDescriptor.TYPE_BYTES or is_repeated(field)):
                field = None
        if field is None:
            raise _unknown(_join(path, key), key, list(fields))
        slot = field.containing_oneof.name if field.containing_oneof else name
        if slot in seen:
            raise _invalid(_join(path, key), f"given twice, also as {seen[slot]}", "GIVEN_TWICE")
        seen[slot] = key
        if item is None and not _is_plain(field):
            continue
        _set(message, field, _from_base64(item, _join(path, key)) if name != key else item, _join(path, key))
    return message


def _set(message: Message, field: FieldDescriptor, value: Any, path: str) -> None:
    if is_map(field):
        if not isinstance(value, Mapping):
            raise _refused(path, value, "an object")
        target = getattr(message, field.name)
        of = field.message_type.fields_by_name["value"]
        for key, item in value.items():
            here = f"{path}[{json.dumps(key)}]"
            if of.message_type is not None:
                _read_message(target[_text(key, here)], item, here)
            else:
                target[_text(key, here)] = _scalar(of, item, here)
    elif is_repeated(field):
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray)):
            raise _refused(path, value, "a list")
        target = getattr(message, field.name)
        for index, item in enumerate(value):
            if field.message_type is not None:
                _read_message(target.add(), item, f"{path}[{index}]")
            else:
                target.append(_scalar(field, item, f"{path}[{index}]"))
    elif field.message_type is not None:
        target = getattr(message, field.name)
        target.SetInParent()
        _read_message(target, value, path)
    else:
        setattr(message, field.name, _scalar(field, value, path))


def _read_message(message: Message, value: Any, path: str) -> None:
    name = message.DESCRIPTOR.full_name
    if name == "rollcage.v1.File":
        _read_file(message, value, path)
    elif name == "rollcage.v1.PlainValue":
        # Arguments of a call are a list, whichever way Python writes it.
        top = list(value) if path.endswith(".args") and isinstance(value, tuple) else value
        setattr(message, "json", json.dumps(_plain(top, path)))
    elif name == "rollcage.v1.TestCode" and isinstance(value, str):
        setattr(message, "code", value)
    else:
        read(message, value, path)


def _read_file(file: Any, value: Any, path: str) -> None:
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        file.content = value.encode() if isinstance(value, str) else bytes(value)
        return
    if not isinstance(value, Mapping):
        raise _refused(path, value, 'text, bytes, or {"text" | "base64", "mode"}')
    contents = [key for key in ("text", "base64", "content") if key in value]
    for key in value:
        if key not in ("text", "base64", "content", "mode"):
            raise _unknown(_join(path, key), key, ["text", "base64", "mode"])
    if len(contents) != 1:
        raise _refused(path, value, 'an object with either "text" or "base64"')
    here = _join(path, contents[0])
    content = value[contents[0]]
    file.content = _from_base64(content, here) if contents[0] == "base64" else _bytes(content, here)
    mode = value.get("mode")
    if mode is not None:
        try:
            bits = int(mode, 8) if isinstance(mode, str) else int(mode)
        except (TypeError, ValueError):
            bits = -1
        if not 0 <= bits <= 0o777:
            raise _refused(_join(path, "mode"), mode, 'a number from 0 to 511, or octal digits such as "0755"')
        file.mode = bits


def _scalar(field: FieldDescriptor, value: Any, path: str) -> Any:
    kind = field.type
    if kind == FieldDescriptor.TYPE_BOOL:
        if isinstance(value, bool):
            return value
        raise _refused(path, value, "true or false")
    if kind == FieldDescriptor.TYPE_STRING:
        return _text(value, path)
    if kind == FieldDescriptor.TYPE_BYTES:
        return _bytes(value, path)
    if kind == FieldDescriptor.TYPE_ENUM:
        return _enum(field.enum_type, value, path)
    if kind == FieldDescriptor.TYPE_DOUBLE:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if value in ("NaN", "Infinity", "-Infinity"):
            return float(value)
        raise _refused(path, value, "a number")
    return _integer(field, value, path)


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _refused(path, value, "text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _refused(path, value, "text without lone surrogates") from None
    return value


def _bytes(value: Any, path: str) -> bytes:
    if isinstance(value, str):
        return _text(value, path).encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Mapping) and set(value) == {"base64"}:
        return _from_base64(value["base64"], _join(path, "base64"))
    raise _refused(path, value, 'text, bytes, or {"base64": ...}')


def _from_base64(value: Any, path: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise _refused(path, value, "base64 text with padding") from None


def _enum(enum: EnumDescriptor, value: Any, path: str) -> int:
    names: dict[str, int] = {json_name(enum, each.name): each.number for each in enum.values if each.number != 0}
    if isinstance(value, str) and str(getattr(value, "value", value)) in names:
        return names[str(getattr(value, "value", value))]
    hint = _nearest(value, list(names)) if isinstance(value, str) else ""
    raise _refused(path, value, ", ".join(names) + hint)


def _integer(field: FieldDescriptor, value: Any, path: str) -> int:
    low, high = _RANGES[field.type]
    is_size = field.name.endswith("_bytes") or "_bytes_" in field.name
    allowed = f"a whole number from {low} to {high}" + (', or a size such as "512 MiB"' if is_size else "")
    number = _size(value) if is_size and isinstance(value, str) else value
    if isinstance(number, int) and not isinstance(number, bool) and low <= number <= high:
        return number
    raise _refused(path, value, allowed)


def _size(text: str) -> int | None:
    text = text.strip()
    digits = text[: len(text) - len(text.lstrip("0123456789_"))]
    unit = _UNITS.get(text[len(digits) :].strip().lower())
    digits = digits.replace("_", "")
    return int(digits) * unit if digits and unit else None


def _plain(value: Any, path: str) -> Any:
    """A plain value in the contract's JSON."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else {"$int": str(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {"$float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, complex):
        return {"$complex": [_plain(value.real, path), _plain(value.imag, path)]}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [_plain(item, path) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_plain(item, path) for item in value]}
    if isinstance(value, (set, frozenset)):
        return {"$set": [_plain(item, path) for item in value]}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: _plain(item, path) for key, item in value.items()}
        return {"$dict": [[_plain(key, path), _plain(item, path)] for key, item in value.items()]}
    raise _refused(path, value, "a plain value: None, bool, numbers, text, bytes, and containers of them")


def write(message: Message) -> dict[str, Any]:
    """A message in the contract's JSON, with every field but absent optional ones."""
    return dict(_items(message))


def _items(message: Message) -> Iterator[tuple[str, Any]]:
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            continue
        value = getattr(message, field.name)
        if is_map(field):
            of = field.message_type.fields_by_name["value"]
            yield field.name, {key: _written(of, value[key]) for key in value}
        elif is_repeated(field):
            yield field.name, [_written(field, item) for item in value]
        elif field.type == FieldDescriptor.TYPE_BYTES:
            try:
                yield field.name, value.decode()
            except UnicodeDecodeError:
                yield field.name + _SUFFIX, base64.b64encode(value).decode()
        elif field.type != FieldDescriptor.TYPE_ENUM or value != 0:
            yield field.name, _written(field, value)


def _written(field: FieldDescriptor, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        return json_name(field.enum_type, known.name) if known else value
    if field.type == FieldDescriptor.TYPE_DOUBLE and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if field.type == FieldDescriptor.TYPE_BYTES:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if field.message_type is None:
        return value
    if field.message_type.full_name == "rollcage.v1.PlainValue":
        return json.loads(value.json) if value.json else None
    if field.message_type.full_name == "rollcage.v1.File":
        return {"mode": value.mode, **_content(value)} if value.HasField("mode") else _content(value)
    return write(value)


def _content(file: Any) -> dict[str, Any]:
    try:
        return {"text": file.content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(file.content).decode()}


def json_name(enum: EnumDescriptor, name: str) -> str:
    """The JSON name of an enum's value: lower snake_case without the enum's own name in front."""
    prefix = "".join(f"_{letter}" if letter.isupper() else letter for letter in enum.name).lstrip("_").upper()
    return name.removeprefix(prefix + "_").lower()


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field is a list or a map. Later versions of protobuf frown at `label`."""
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == FieldDescriptor.LABEL_REPEATED if repeated is None else repeated)


def _is_plain(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == "rollcage.v1.PlainValue"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else str(key)


def _nearest(wrong: str, known: list[str]) -> str:
    close = difflib.get_close_matches(wrong, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _unknown(path: str, key: str, known: list[str]) -> InvalidRequest:
    known_text = ", ".join(known)
    return _invalid(path, f"unknown field{_nearest(str(key), known)}; known fields: {known_text}", "UNKNOWN_FIELD")


def _refused(path: str, value: Any, allowed: str) -> InvalidRequest:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:79] + "\u2026"
    return _invalid(path or "the whole value", f"{shown} is not allowed here; allowed: {allowed}", "FIELD_INVALID")


def _invalid(path: str, problem: str, reason: str) -> InvalidRequest:
    return InvalidRequest(f"{path}: {problem}", reason=reason, field=path)
