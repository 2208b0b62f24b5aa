"""Speed of asking a language model: many questions at once, and again from the cache.

Run ``python perf/llm.py``. A server in its own process answers every question after 50 ms. Printed:
seconds for 1,000 questions at 32 at a time, for the same from the cache, and for what a user would
write instead: the same client in a plain loop, and one call after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from llm.ask import LanguageModel
from llm.cache import ResponseCache
from llm.outcome import coverage
from llm.requests import Question
from llm.settings import LlmSettings
from tests.llm.world import Verdict, request

ROOT = Path(__file__).resolve().parents[1]


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ask(model: LanguageModel, calls: int) -> None:
    """Ask all questions and insist on all answers."""
    came = coverage(model.ask_many([request(number) for number in range(calls)], Verdict))
    if came.usable != calls:
        raise SystemExit(came.line())


def plain(settings: LlmSettings, calls: int, at_once: int) -> None:
    """Ask with the client library alone: no checks, no cache, no record."""
    from openai import AsyncOpenAI

    async def work() -> None:
        room = asyncio.Semaphore(at_once)
        async with AsyncOpenAI(base_url=settings.base_url, api_key="EMPTY") as client:

            async def one(number: int) -> None:
                async with room:
                    body = Question(request(number), settings, Verdict).body()
                    reply = await client.chat.completions.create(**body)
                    Verdict.model_validate_json(reply.choices[0].message.content or "")

            await asyncio.gather(*(one(number) for number in range(calls)))

    asyncio.run(work())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.05)
    options = parser.parse_args()
    command = [sys.executable, "-m", "tests.llm.server", "--latency", str(options.latency)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().strip() if server.stdout else ""
        settings = LlmSettings(
            model="m", base_url=f"http://127.0.0.1:{port}/v1", concurrency=options.concurrency
        )
        importing = seconds(lambda: __import__("openai"))
        with tempfile.TemporaryDirectory() as folder:
            model = LanguageModel(settings, ResponseCache(Path(folder)))
            before = time.process_time()
            fresh = seconds(lambda: ask(model, options.calls))
            worked = time.process_time() - before
            cached = seconds(lambda: ask(model, options.calls))
        before = time.process_time()
        bare = seconds(lambda: plain(settings, options.calls, options.concurrency))
        bare_worked = time.process_time() - before
        serial_calls = max(1, options.calls // 20)
        serial = seconds(lambda: plain(settings, serial_calls, 1)) * options.calls / serial_calls
    finally:
        server.terminate()
        server.wait()
    floor = options.calls * options.latency / options.concurrency
    print(f"{options.calls} calls, {options.latency * 1000:g} ms, {options.concurrency} at a time")
    print(f"importing the client library, once   {importing:7.2f} s")
    print(f"asked                                {fresh:7.2f} s, {fresh / floor:.2f} × the waiting")
    print(f"asked again, from the cache          {cached:7.2f} s, {fresh / cached:.1f} × faster")
    print(f"client library in a plain loop       {bare:7.2f} s, {bare / fresh:.2f} × ours")
    print(
        f"processor time, ours                 {worked:7.2f} s, {worked / bare_worked:.2f} × plain"
    )
    print(f"one call after the other (scaled)    {serial:7.2f} s, {serial / fresh:.1f} × ours")


if __name__ == "__main__":
    main()
