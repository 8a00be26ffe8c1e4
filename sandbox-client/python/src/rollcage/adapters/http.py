"""Rewards over HTTP, for OpenRLHF (`--reward.remote_url URL`) and slime (`--rm-url URL`):

    python -m rollcage.adapters.http --port 8080

`POST` (any path, `/get_reward` by custom) with `query`, `prompts` and `labels` answers `{"rewards":
[..], "scores": [..], "extra_logs": {}}`; with `prompt`, `response` and `label` it answers a bare
number. Labels say how a completion is judged (see `rollcage.adapters._judge.request_of`).

Where there is no reward the answer has no number: 503 while no daemon can be had (with Retry-After),
504 where a sandbox or the time failed, 422 where the label or its tests are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..errors import DaemonUnreachable, QueueFull, Refused, TimedOut
from ..results import Outcome
from ._judge import Judge, Score
from .openrlhf import completion_of

BODY_BYTES_MAX = 64 << 20
RETRY_AFTER_S = 2


class _Answer(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def answer(judge: Judge, body: Any) -> Any:
    """What is answered to a body; raises where that would be no number."""
    if not isinstance(body, dict):
        raise _Answer(400, "send an object")
    if "query" in body:
        queries: Any = body["query"]
        labels: Any = body.get("labels")
        prompts: Any = body.get("prompts") or ([""] * len(queries) if isinstance(queries, list) else None)
        if not _same_length(queries, prompts, labels):
            raise _Answer(400, "query, prompts and labels are lists of one length")
        completions = [completion_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
        rewards = _rewards(judge.score(completions, labels))
        return {"rewards": rewards, "scores": rewards, "extra_logs": {}}
    if "response" in body:
        if body.get("label") is None:
            raise _Answer(400, "label says how the response is judged")
        return _rewards(judge.score([body["response"]], [body["label"]]))[0]
    raise _Answer(400, "send query, prompts and labels, or prompt, response and label")


def _same_length(*lists: Any) -> bool:
    return all(isinstance(each, list) for each in lists) and len({len(each) for each in lists}) == 1


def _rewards(scores: Sequence[Score]) -> list[float]:
    for score in scores:
        if score.reward is None:
            raise _Answer(status_of(score), score.reason or "no reward")
    return [score.reward for score in scores if score.reward is not None]


def status_of(score: Score) -> int:
    """The status for what has no reward."""
    if isinstance(score.error, (QueueFull, DaemonUnreachable)):
        return 503
    if isinstance(score.error, TimedOut) or score.outcome is Outcome.INFRA_ERROR:
        return 504
    if isinstance(score.error, Refused) or score.outcome is not None:
        return 422
    return 504


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    judge: Judge

    def do_GET(self) -> None:
        self._send(200, {"status": "ok"} if self.path in ("/health", "/v1/ping") else {"post": "/get_reward"})

    def do_POST(self) -> None:
        try:
            self._send(200, answer(self.judge, self._body()))
        except _Answer as refused:
            self._send(refused.status, {"error": str(refused)})
        except Exception as error:  # noqa: BLE001 - a mistake of ours is no number either
            self._send(500, {"error": f"{type(error).__name__}: {error}"})

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            raise _Answer(411 if not length.isdigit() else 413, f"send at most {BODY_BYTES_MAX >> 20} MiB, and say how much")
        try:
            return json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise _Answer(400, f"the body is no JSON: {error}") from None

    def _send(self, status: int, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", str(RETRY_AFTER_S))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """One line a request is too much for a trainer's terminal."""


class Server(ThreadingHTTPServer):
    """A server of rewards; `serve_forever` serves. `judge` is for `Judge`."""

    daemon_threads = True
    # Trainers open hundreds of connections at once.
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], **judge: Any) -> None:
        handler = type("Handler", (_Handler,), {"judge": Judge(**judge)})
        super().__init__(address, handler)


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m rollcage.adapters.http", description="Rewards over HTTP.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (loopback by default: there is no key)")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--policy", default="python")
    parser.add_argument("--file", default="solution.py", help="where a completion's program goes")
    parser.add_argument("--connect", metavar="URI", help="the daemon; else the running one")
    parser.add_argument("--embedded", action="store_true", help="a daemon of its own")
    parser.add_argument("--patience", type=float, default=20.0, metavar="SECONDS", help="before 503")
    given = parser.parse_args(words)
    settings = {"policy": given.policy, "file": given.file, "uri": given.connect, "embedded": given.embedded}
    with Server((given.host, given.port), patience_s=given.patience, **settings) as server:
        print(f"rewards at http://{given.host}:{server.server_address[1]}/get_reward", file=sys.stderr, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
