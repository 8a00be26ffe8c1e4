"""From completions and what is known to be right to scores. Knows no trainer."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from .._patience import Patience
from ..client import Client
from ..errors import InvalidRequest, RollcageError, SandboxTrouble, SystemTrouble
from ..requests import Case, Request, Verify
from ..results import NotRun, Outcome, RunResult

IN_FLIGHT = 64
_LOG = logging.getLogger("rollcage")
_FENCE = re.compile(r"```[ \t]*([\w+#-]*)[^\n]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_EXTENSIONS = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "go": "go",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
    "rs": "rust",
    "php": "php",
    "rb": "ruby",
    "pl": "perl",
    "lua": "lua",
    "sh": "shell",
}
_ALIASES = {"py": "python", "python3": "python", "js": "javascript", "ts": "typescript", "c++": "cpp", "bash": "shell"}


@dataclass(frozen=True)
class Score:
    """What one completion earned."""

    reward: float | None
    """None where there is none, which is not 0."""
    outcome: Outcome | None
    """None where nothing was judged at all."""
    reason: str
    """Why, for people."""
    result: RunResult | None = None
    error: RollcageError | None = None
    """Why there is no reward, if there is none."""

    @property
    def trouble(self) -> RollcageError:
        """What is raised by those that have no other way to say that there is no reward."""
        return self.error or SandboxTrouble(self.reason or "no reward", code="internal")


def code_of(completion: Any, language: str = "") -> str:
    """The program in a completion: its last fenced block of the language or of none, else its last
    block, else all of it. A conversation is its last message."""
    text = text_of(completion)
    blocks: list[tuple[str, str]] = [(_ALIASES.get(tag.lower(), tag.lower()), body) for tag, body in _FENCE.findall(text)]
    of_language: list[str] = [body for tag, body in blocks if tag in ("", language)]
    return (of_language or [body for _, body in blocks] or [text])[-1]


def text_of(completion: Any) -> str:
    """The text of a completion; a conversation's is that of its last message."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        return text_of(completion.get("content") or "")
    if isinstance(completion, Sequence) and completion:
        last = completion[-1]
        if isinstance(last, Mapping) and last.get("type") == "text":
            return "".join(str(part.get("text") or "") for part in completion if isinstance(part, Mapping))
        return text_of(last)
    return ""


def request_of(truth: Any, file: str) -> Request:
    """What is known to be right, as the request that judges the file. It may be

    * a request with `verify`, or a `verify` with its `kind`,
    * `{"inputs": [..], "outputs": [..]}`, with `fn_name` for calls: pairs of input and output,
    * `{"assert_case": [..]}` or a list of texts: test code,

    each of them as text of JSON too.
    """
    if isinstance(truth, str):
        try:
            truth = json.loads(truth)
        except ValueError:
            raise _wrong("it is text and no JSON") from None
    if hasattr(truth, "tolist"):
        truth = truth.tolist()
    if isinstance(truth, Sequence) and not isinstance(truth, (str, bytes)) and truth:
        return {"verify": {"kind": "asserts", "file": file, "tests": list(truth)}}
    if not isinstance(truth, Mapping):
        raise _wrong(f"it is {truth!r:.80}")
    truth = _without_none(truth)
    if "verify" in truth:
        return cast(Request, {**truth, "verify": _with_file(truth["verify"], file)})
    if "kind" in truth:
        return {"verify": _with_file(truth, file)}
    if "assert_case" in truth:
        return {"verify": {"kind": "asserts", "file": file, "tests": list(truth["assert_case"])}}
    if "inputs" in truth and "outputs" in truth:
        return {"verify": _cases(truth, file)}
    raise _wrong(f"it has only {sorted(truth)}")


def _wrong(problem: str) -> InvalidRequest:
    return InvalidRequest(
        f"verify: cannot tell how to judge: {problem}; give `verify` (with `kind`), `inputs` and `outputs`, or test code",
        reason="TRUTH",
        field="verify",
    )


def _without_none(value: Any) -> Any:
    """Columns of tables fill what a row has not with None."""
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if hasattr(value, "tolist"):
        return _without_none(value.tolist())
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value


_TAKE_FILE = {"asserts", "cases", "answer", "compile", "coverage", "leaks", "lint"}


def _with_file(verify: Any, file: str) -> Verify:
    if not isinstance(verify, Mapping) or verify.get("kind") not in _TAKE_FILE or "file" in verify or "argv" in verify:
        return cast(Verify, verify)
    return cast(Verify, {**verify, "file": file})


def _cases(truth: Mapping[str, Any], file: str) -> Verify:
    inputs, outputs, function = truth["inputs"], truth["outputs"], truth.get("fn_name")
    if len(inputs) != len(outputs) or not inputs:
        raise _wrong(f"{len(inputs)} inputs and {len(outputs)} outputs")
    pairs = list(zip(inputs, outputs, strict=True))
    cases: list[Case]
    if function:
        cases = [{"args": _arguments(given), "expected": _value(wanted)} for given, wanted in pairs]
        return {"kind": "cases", "file": file, "function": function, "cases": cases}
    if not file.endswith(".py"):
        raise _wrong("inputs and outputs of whole programs are for Python; give `verify` with `argv`")
    cases = [{"stdin": given, "stdout": wanted} for given, wanted in pairs]
    return {"kind": "cases", "argv": ["python3", file], "cases": cases, "ignore_trailing_space": True}


def _arguments(given: Any) -> list[Any]:
    """Arguments of a call: a list, or text with one value of JSON a line."""
    return [_value(line) for line in given.split("\n")] if isinstance(given, str) else list(given)


def _value(given: Any) -> Any:
    """A value, or the text of its JSON."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except ValueError:
        return given


class Judge:
    """Scores completions through one client for each process, made when it is first needed."""

    def __init__(
        self,
        *,
        policy: str = "python",
        file: str = "solution.py",
        in_flight: int = IN_FLIGHT,
        extract: Callable[[Any], str] | None = None,
        **connection: Any,
    ) -> None:
        self._policy = policy
        self._file = file
        self._in_flight = in_flight
        language = _EXTENSIONS.get(file.rpartition(".")[2], "")
        self._extract = extract or (lambda completion: code_of(completion, language))
        self._connection: dict[str, Any] = {"patience_s": 120.0, **connection}
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._owner = 0

    def __getstate__(self) -> dict[str, Any]:
        # Trainers send their functions to other processes.
        return {**self.__dict__, "_lock": None, "_client": None, "_pool": None, "_owner": 0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def client(self) -> Client:
        """The client of this process; raises what `rollcage.connect` raises, once its patience is over:
        workers may start while the daemon does."""
        with self._lock:
            if self._client is None or self._owner != os.getpid():
                # One of the process before a fork is left alone: its threads are not here.
                self._client = self._connect()
                self._pool = ThreadPoolExecutor(self._in_flight, thread_name_prefix="rollcage")
                self._owner = os.getpid()
            return self._client

    def _connect(self) -> Client:
        patience = Patience(self._connection["patience_s"])
        while True:
            try:
                return Client(**self._connection)
            except SystemTrouble as error:
                delay_s = patience.delay_s(error)
                if delay_s is None:
                    raise
            time.sleep(delay_s)

    def request(self, completion: Any, truth: Any) -> Request:
        """The request that judges one completion; raises `InvalidRequest` where the truth is none."""
        request = request_of(truth, self._file)
        files = {**request.get("files", {}), self._file: self._extract(completion)}
        return {"policy": self._policy, **request, "files": files}

    def score(self, completions: Sequence[Any], truths: Sequence[Any]) -> list[Score]:
        """One score for each completion, in their order; trouble is told, never raised."""
        scores: list[Score | None] = [None] * len(completions)
        requests: list[Request] = []
        for number, (completion, truth) in enumerate(zip(completions, truths, strict=True)):
            try:
                requests.append({**self.request(completion, truth), "id": str(number)})
            except InvalidRequest as error:
                scores[number] = Score(None, None, str(error), error=error)
        try:
            for result in self.client().run_batch(requests, in_flight=self._in_flight):
                scores[int(result.id)] = score_of(result)
        except SystemTrouble as error:
            scores = [score or Score(None, None, str(error), error=error) for score in scores]
        told = [score if score is not None else Score(None, None, "no result") for score in scores]
        for score in told:
            if score.reward is None:
                _LOG.warning("no reward: %s", score.reason)
        return told

    async def score_async(self, completions: Sequence[Any], truths: Sequence[Any]) -> list[Score]:
        """The same without blocking the event loop."""
        await asyncio.to_thread(self._connect_quietly)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.score, completions, truths)

    def _connect_quietly(self) -> None:
        try:
            self.client()
        except SystemTrouble:
            # Told by each score.
            return


def score_of(result: RunResult | NotRun) -> Score:
    """What a result is worth."""
    if isinstance(result, NotRun):
        return Score(None, None, str(result.error), error=result.error)
    if result.reward is None:
        error = result.trouble or SandboxTrouble(result.verdict.reason or result.outcome.value, code="internal")
        return Score(None, result.outcome, str(error), result, error)
    return Score(result.reward, result.outcome, result.verdict.reason, result)
