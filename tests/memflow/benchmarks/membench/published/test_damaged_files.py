"""Damaged files: the reader either reads a file or raises `BadInput`, and raises no other error."""

import copy
import json
from dataclasses import replace
from typing import Any

from factories import row
from hypothesis import given
from hypothesis import strategies as st
from membench_files import messages, sampled, sessions

from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.published import release as published
from memflow.benchmarks.membench.turns import turn_rows
from memflow.benchmarks.published_file import File
from memflow.benchmarks.registry import find_dataset
from memflow.errors import BadInput
from memflow.records import Record

FILES: dict[str, Any] = {
    "FirstAgentDataLowLevel_multiple_0.json": {"simple": {"roles": [sampled("participation")]}},
    "ThirdAgentDataLowLevel_multiple_2.json": {"noisy": {"items": [sampled("observation", units=2)]}},
    "FirstAgent/simple.json": {"events": [sessions()]},
    "ThirdAgent/simple.json": {"places": [messages()]},
}


def rows(source: str, content: bytes) -> int:
    """Return the number of rows in a file. Raises BadInput."""
    known = find_dataset("membench_participation")
    record = row(
        Record, dataset=known.name, record_id="", source=source, sha256="", licence="", origin="", content=""
    )
    found = 0
    for raw in published.read(File(known, source, content)):
        content_of = json.dumps(raw.content, ensure_ascii=False)
        read = replace(record, record_id=raw.record_id, content=content_of, reason=raw.fault)
        each = published.trajectory(read)
        for probe in probe_rows("d", each):
            assert probe.reason is not None or 1 <= int(probe.gold) <= len(probe.options)
        found += len([*turn_rows("d", each), *probe_rows("d", each)])
    return found


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a JSON document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inside for place in places(each, (*at, key)))]


def put(value: Any, place: tuple[Any, ...], what: Any) -> Any:
    if not place:
        return what
    damaged = copy.deepcopy(value)
    inner = damaged
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = what
    return damaged


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("[ERRORC]"),
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.sampled_from("AB"), inside, max_size=2),
    max_leaves=3,
)


@given(st.data())
def test_membench_reader_raises_only_bad_input_for_any_replaced_value(data: st.DataObject):
    source = data.draw(st.sampled_from(sorted(FILES)))
    place = data.draw(st.sampled_from(places(FILES[source])))
    damaged = put(FILES[source], place, data.draw(JUNK))
    try:
        assert rows(source, json.dumps(damaged).encode()) > 0
    except BadInput as refused:
        assert source in str(refused)
