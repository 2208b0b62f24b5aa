"""A real HTTP server on the loopback that speaks the chat-completions API, well or badly.

Run as a program (``python -m tests.llm.server --latency 0.05 --log FILE``) it prints its port and
answers every question correctly; the log gets one line per request.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdef"


@dataclass
class Answer:
    """What the server sends for one request."""

    body: bytes | dict[str, Any]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut_at: int | None = None
    drip: float = 0.0


@dataclass
class Got:
    """One request as it came."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    at: float


def completion(content: Any, finish: str | None = "stop", **fields: Any) -> Answer:
    """Return a chat completion with this content; ``fields`` replace parts of the body."""
    message = {"role": "assistant", "content": content}
    if "refusal" in fields:
        message["refusal"] = fields.pop("refusal")
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "answering-model",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    return Answer({**body, **fields}, headers={"x-request-id": "req_1"})


def failure(status: int, code: str | None = None, message: str = "no", **headers: str) -> Answer:
    """Return an error as OpenAI words it; header names with ``_`` for ``-``."""
    error = {"message": message, "type": "server_error", "code": code, "param": None}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer({"error": error}, status, named)


Script = Callable[[dict[str, Any], int], Answer]


class FakeEndpoint:
    """The server in a thread; ``got`` holds every request in order of arrival."""

    def __init__(self, script: Script, log: str | None = None) -> None:
        self.got: list[Got] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._script = script
        self._log = log
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_POST(self) -> None:
                owner._serve(self)

            def log_message(self, *_: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_: Any) -> None:
                return

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", 0))
        body = json.loads(handler.rfile.read(length))
        with self._lock:
            number = len(self.got)
            self.got.append(Got(body, dict(handler.headers), handler.path, time.monotonic()))
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            if self._log:
                with open(self._log, "a", encoding="utf-8") as log:
                    log.write(json.dumps(body["messages"]) + "\n")
        try:
            answer = self._script(body, number)
            time.sleep(answer.delay)
        finally:
            # Before the answer goes out: the next question may come as soon as it is there.
            with self._lock:
                self._now -= 1
        self._send(handler, answer)

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        raw = answer.body
        raw = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
        handler.send_response(answer.status)
        for name, value in {"content-type": "application/json", **answer.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(raw)))
        handler.end_headers()
        if answer.drip:
            for position in range(len(raw)):
                handler.wfile.write(raw[position : position + 1])
                handler.wfile.flush()
                time.sleep(answer.drip)
        handler.wfile.write(raw[: answer.cut_at])
        handler.wfile.flush()
        if answer.cut_at is not None:
            handler.close_connection = True

    def __enter__(self) -> FakeEndpoint:
        poll = {"poll_interval": 0.02}
        threading.Thread(target=self._server.serve_forever, kwargs=poll, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def user_text(body: dict[str, Any]) -> str:
    """Return the words of the first user message."""
    content = next(m["content"] for m in body["messages"] if m["role"] == "user")
    return content if isinstance(content, str) else content[0]["text"]


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--log")
    options = parser.parse_args()

    def script(body: dict[str, Any], number: int) -> Answer:
        answer = completion(json.dumps({"verdict": True, "score": 4}))
        answer.delay = options.latency
        return answer

    with FakeEndpoint(script, options.log) as endpoint:
        print(endpoint.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
