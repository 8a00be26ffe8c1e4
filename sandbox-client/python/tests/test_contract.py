"""The package says nothing of the messages that their descriptors do not say."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import rollcage
from rollcage import _convert, _json, _usage, queries, requests, results
from rollcage._calls import METHODS
from rollcage.v1 import node_pb2, policies_pb2, request_pb2, result_pb2

PYTHON = Path(__file__).resolve().parents[1]

SHOWN = {**vars(results), **vars(_usage)}


def test_the_messages_are_what_the_generator_makes(tmp_path: Path) -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools is not installed")
    sys.path.insert(0, str(PYTHON))
    try:
        importlib.import_module("generate").generate(tmp_path)
    finally:
        sys.path.remove(str(PYTHON))
    made = {file.name: file.read_text() for file in (tmp_path / "rollcage/v1").iterdir()}
    kept = {file.name: file.read_text() for file in (PYTHON / "src/rollcage/v1").glob("*_pb2.py*")}
    assert sorted(kept) == sorted(made)
    assert [name for name in made if kept[name] != made[name]] == [], "run ./x stubs"


@pytest.mark.parametrize("name", sorted(_convert._ENUMS))
def test_enums_have_the_contract_s_values(name: str) -> None:
    enum = result_pb2.DESCRIPTOR.enum_types_by_name[name]
    there = [_json.json_name(enum, value.name) for value in enum.values if value.number != 0]
    assert [member.value for member in _convert._ENUMS[name]] == [*there, "unrecognized"]


@pytest.mark.parametrize(
    "name",
    [name for name, kind in SHOWN.items() if dataclasses.is_dataclass(kind)],
)
def test_what_is_shown_of_a_result_is_all_that_it_says(name: str) -> None:
    message = result_pb2.DESCRIPTOR.message_types_by_name[name]
    assert [field.name for field in dataclasses.fields(SHOWN[name])] == [
        field.name for field in message.fields
    ]


def test_a_result_shows_every_field() -> None:
    fields = {field.name for field in result_pb2.RunResult.DESCRIPTOR.fields}
    # `error` stands in results of the stream of batches only, which this package does not use.
    assert [name for name in fields - {"error"} if not hasattr(results.RunResult, name)] == []


@pytest.mark.parametrize("kind", [queries.PolicySummary, queries.PolicyDocument, queries.Capabilities, queries.Status])
def test_queries_show_fields_that_are_there(kind: type) -> None:
    names = {"PolicySummary", "PolicyDocument"}
    file, suffix = (policies_pb2, "") if kind.__name__ in names else (node_pb2, "Reply")
    message = file.DESCRIPTOR.message_types_by_name[kind.__name__ + suffix]
    assert set(get_type_hints(kind)) <= {field.name for field in message.fields}


@pytest.mark.parametrize("name", ["Limits", "Case", "TestCode", "Answer", "Verify", "Part"])
def test_requests_have_the_contract_s_fields(name: str) -> None:
    message = request_pb2.DESCRIPTOR.message_types_by_name[name]
    assert list(getattr(requests, name).__annotations__) == [field.name for field in message.fields]


def test_a_request_has_every_field() -> None:
    fields = {field.name for field in request_pb2.RunRequest.DESCRIPTOR.fields}
    assert set(requests.Request.__annotations__) == fields


def test_every_call_that_is_used_is_there() -> None:
    used = ["Run", "Submit", "Fetch", "Cancel"]
    assert [name for name in used if f"Runs.{name}" not in METHODS] == []
    assert rollcage.__version__
