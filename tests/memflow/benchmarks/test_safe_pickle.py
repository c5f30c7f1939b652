"""Safe loading of pickles: plain values only, and no code is executed."""

import builtins
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.safe_pickle import NotPlain, load

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())
SETS = st.one_of(st.sets(SCALARS), st.frozensets(SCALARS))


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(st.text(), inner))


PLAIN = st.recursive(st.one_of(SCALARS, SETS), nested, max_leaves=10)


class Malicious:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, called: Any, *given: Any) -> None:
        self.called, self.given = called, given

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.called, self.given


@given(PLAIN, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_load_returns_pickled_plain_values_unchanged(value: Any, protocol: int) -> None:
    assert load(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_load_rejects_malicious_pickle_without_executing_its_code(tmp_path: Path, protocol: int) -> None:
    touched = tmp_path / "touched"
    acts = [
        Malicious(os.system, f"touch {touched}"),
        Malicious(builtins.eval, f"open({str(touched)!r}, 'w')"),
    ]
    for act in acts:
        malicious = pickle.dumps({"S01E01": [1, act]}, protocol)
        pickle.loads(malicious)  # noqa: S301
        assert touched.exists(), "it would have"
        touched.unlink()
        with pytest.raises(
            NotPlain, match=r"contains the class .*; only built-in values and sets are allowed"
        ):
            load(malicious)
        assert not touched.exists()


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(OrderedDict(a=1)),
        pickle.dumps(NotPlain("a class")),
        b"cos\nsystem\n(S'true'\ntR.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        b"\x80\x02\x82\x01.",
        b"Pid\n.",
        b"",
        b"not a pickle",
        pickle.dumps({"a": [1, 2]})[:-3],
    ],
)
def test_load_rejects_pickle_of_class_outside_allowlist(content: bytes) -> None:
    with pytest.raises(NotPlain):
        load(content)
