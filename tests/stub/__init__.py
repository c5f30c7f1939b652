"""A fake OpenAI-compatible server for tests and benchmarks. The server imitates providers, and can fail on purpose.

`PYTHONPATH=tests python -m stub --provider deepseek` runs it; `Stub` and `stub_process` are for tests.
"""

from stub.behavior import StubBehavior
from stub.process import count_answers, request_counts, request_digests, stub_process
from stub.server import Stub

__all__ = ["Stub", "StubBehavior", "count_answers", "request_counts", "request_digests", "stub_process"]
