"""Requests from dictionaries: what is taken, and what is refused with its path."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import rollcage
from rollcage import _json
from rollcage._messages import message_of
from rollcage.v1.request_pb2 import RunRequest


def test_a_line_of_a_batch_is_a_request() -> None:
    line = json.loads(
        '{"id":"a","policy":"python","files":{"s.py":"x","b":{"base64":"AP8=","mode":"0755"}},"argv":[],'
        '"limits":{"memory_bytes_max":"64 MiB","wall_ms_max":1000},"stdin_base64":"/w==",'
        '"verify":{"kind":"asserts","file":"s.py","tests":["assert 1",{"id":"t","code":"assert 2"}]}}'
    )
    message = message_of(line)
    assert message.files["b"].content == b"\x00\xff" and message.files["b"].mode == 0o755
    assert message.limits.memory_bytes_max == 64 << 20
    assert message.stdin == b"\xff"
    assert [test.code for test in message.verify.tests] == ["assert 1", "assert 2"]
    assert message.verify.kind == 3


def test_bytes_are_taken_as_they_are() -> None:
    message = message_of({"argv": ["a", b"\xff"], "files": {"f": b"\x00"}, "stdin": b"\x80"})
    assert list(message.argv) == [] and list(message.argv_bytes) == [b"a", b"\xff"]
    assert message.files["f"].content == b"\x00" and message.stdin == b"\x80"


def test_plain_values_keep_their_types() -> None:
    case: rollcage.Case = {
        "args": (1, (2, 3), {4}, b"\xff", 2**70, 1j, math.inf, {1: "a"}),
        "expected": None,
        "kwargs": {"b": math.nan},
    }
    message = message_of({"verify": {"kind": "cases", "cases": [case]}})
    args = json.loads(message.verify.cases[0].args.json)
    assert args == [
        1,
        {"$tuple": [2, 3]},
        {"$set": [4]},
        {"$bytes": "/w=="},
        {"$int": str(2**70)},
        {"$complex": [0.0, 1.0]},
        {"$float": "inf"},
        {"$dict": [[1, "a"]]},
    ]
    assert message.verify.cases[0].expected.json == "null"
    assert json.loads(message.verify.cases[0].kwargs.json) == {"b": {"$float": "nan"}}


@pytest.mark.parametrize(
    ("request_", "field", "says"),
    [
        ({"polcy": "x"}, "polcy", "did you mean policy?"),
        ({"limits": {"wall_ms_max": "1"}}, "limits.wall_ms_max", "a whole number"),
        ({"limits": {"wall_ms_max": True}}, "limits.wall_ms_max", "True is not allowed"),
        ({"limits": {"wall_ms_max": 2**63}}, "limits.wall_ms_max", "a whole number"),
        ({"limits": {"memory_bytes_max": "64 XB"}}, "limits.memory_bytes_max", "a size such as"),
        ({"verify": {"kind": "assert"}}, "verify.kind", "did you mean asserts?"),
        ({"argv": "python3"}, "argv", "a list"),
        ({"argv": ["a", 1]}, "argv[1]", "text"),
        ({"files": {"a": {"text": "", "base64": ""}}}, 'files["a"]', "either"),
        ({"files": {"a": {"text": "", "mode": "9"}}}, 'files["a"].mode', "octal"),
        ({"files": {"a": 1}}, 'files["a"]', "text, bytes"),
        ({"files": ["a"]}, "files", "an object"),
        ({"stdin": "a", "stdin_base64": "YQ=="}, "stdin_base64", "given twice"),
        ({"stdin_base64": "!"}, "stdin_base64", "base64"),
        ({"id": "\ud800"}, "id", "surrogates"),
        ({"env": {"A": None}}, 'env["A"]', "text"),
        ({"verify": {"cases": [{"args": [object()]}]}}, "verify.cases[0].args", "a plain value"),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(request_: Any, field: str, says: str) -> None:
    with pytest.raises(rollcage.InvalidRequest) as refused:
        message_of(request_)
    assert refused.value.field == field
    assert says in refused.value.message and refused.value.message.startswith(field)


def test_absent_is_not_zero() -> None:
    message = message_of({"limits": {}, "stdin": None})
    assert message.HasField("limits") and not message.HasField("stdin")
    assert not message.limits.HasField("wall_ms_max")


def test_a_message_is_written_as_it_is_read() -> None:
    request = {
        "id": "a",
        "files": {"a": {"text": "x", "mode": 0o600}},
        "argv": ["x"],
        "stdin": b"\xff",
        "verify": {"kind": "cases", "cases": [{"args": [1], "expected": {"$tuple": [1]}}]},
    }
    message = _json.read(RunRequest(), request)
    again = _json.read(RunRequest(), json.loads(json.dumps(_json.write(message))))
    assert again == message


def test_a_request_that_is_too_large_never_leaves() -> None:
    with pytest.raises(rollcage.InvalidRequest) as refused:
        message_of({"files": {"a": b"\0" * (65 << 20)}})
    assert refused.value.field == "files" and refused.value.reason == "TOO_LARGE"
