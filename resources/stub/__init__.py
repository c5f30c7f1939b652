"""A fake OpenAI-compatible server for tests and benchmarks. The server imitates providers, and can fail on purpose.

`python -m resources.stub --provider deepseek` runs it; `Stub` and `stub_process` are for tests.
"""

from resources.stub.behavior import StubBehavior
from resources.stub.process import count_answers, stub_process
from resources.stub.server import Stub

__all__ = ["Stub", "StubBehavior", "count_answers", "stub_process"]
