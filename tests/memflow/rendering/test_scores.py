"""The clear winners of a table of scores."""

from typing import Any

import factories

from memflow.records import Comparison
from memflow.rendering.scores import winners


def compared(a: str, b: str, better: str | None, **columns: Any) -> Comparison:
    return factories.row(Comparison, metric="accuracy", slice="all", a=a, b=b, better=better, **columns)


def test_only_an_assistant_that_is_better_than_each_other_wins() -> None:
    scores = [factories.score(assistant=name, value=0.5) for name in ("x", "y", "z", "oracle@m", "previous")]
    faulty = factories.score(assistant="broken", value=None)
    rows = [compared("x", "y", "a"), compared("z", "x", "b"), compared("x", "oracle@m", "b")]
    assert winners([*scores, faulty], rows) == {"accuracy": "x"}
    assert winners(scores, [*rows[:1], compared("z", "x", None)]) == {}
    assert winners(scores, [*rows[:1], compared("z", "x", "b", within_noise=True)]) == {}
    assert winners(scores[:1], rows) == {} and winners(scores, []) == {}
