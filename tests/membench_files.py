"""MemBench files in each published form, with invented content: one step states the age in question."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.kinds import KINDS, Level, Scene
from memflow.benchmarks.membench.wording import format_time
from memflow.benchmarks.registry import find_dataset
from memflow.records import Record

LEVELS: dict[Level, str] = {"factual": "Low", "reflective": "High"}
PLACE = "Boston, MA"


def time(step: int) -> str:
    """Return the time of a step; steps are one hour apart."""
    return format_time(datetime(2024, 10, 1, 8) + timedelta(hours=step))


def question(targets: Any, **changes: Any) -> dict[str, Any]:
    return {
        "qid": 0,
        "question": "How old is my aunt?",
        "answer": "61",
        "target_step_id": targets,
        "choices": {"A": "60", "B": "61", "C": "62", "D": "63"},
        "ground_truth": "B",
        "time": format_time(datetime(2024, 12, 1, 9)),
        **changes,
    }


def sampled(
    scene: Scene, tid: int = 0, steps: int = 3, units: int = 0, colon: str = ":", **changes: Any
) -> dict[str, Any]:
    """Return a data2test trajectory: the evidence in the second-last step, `units` of noise before the last."""

    def said(step: int, text: str) -> Any:
        stamp = f" (place: {PLACE}; time{colon}{' ' if colon else ''}{time(step)})"
        return text + stamp if scene == "observation" else {"user": text + stamp, "agent": f"I see.{stamp}"}

    def noise(number: int) -> Any:
        text = f"In those times, {number} kings ruled."
        return text if scene == "observation" else {"user": text, "agent": "Indeed."}

    told = [said(step, "My aunt is 61." if step == steps - 2 else f"Step {step}.") for step in range(steps)]
    bare = [noise(number) for number in range(3 * units)]
    return {"tid": tid, "message_list": [*told[:-1], *bare, told[-1]], "QA": question([steps - 2], **changes)}


def split(scene: Scene, level: Level, each: Mapping[str, int] | int, units: int = 0) -> dict[str, Any]:
    """Return a data2test file with `each` trajectories of every kind and scenario (or a number per scenario)."""
    return {
        (kind.names[0] if kind.names else kind.name): {
            scenario: [
                sampled(scene, tid, units=units)
                for tid in range(each if isinstance(each, int) else each[scenario])
            ]
            for scenario in kind.scenarios(scene)
        }
        for kind in KINDS.values()
        if kind.level == level and kind.scenarios(scene)
    }


def round_of(step: int, text: str, **more: Any) -> dict[str, Any]:
    """Return a MemData round."""
    said = {"sid": step, "user_message": text, "assistant_message": "I see."}
    return {**said, "time": time(step), "place": PLACE, **more}


def message_of(step: int, text: str, **more: Any) -> dict[str, Any]:
    """Return a MemData message."""
    return {"mid": step, "message": text, "time": time(step), "place": PLACE, **more}


TOLD = {"rel": "aunt", "attr": "age", "value": "61"}


def sessions(tid: int = 0, **changes: Any) -> dict[str, Any]:
    """Return a MemData participation trajectory: sessions of two and three rounds, numbered from 0 each."""
    first = [round_of(0, "Hello."), round_of(1, "It rains.")]
    second = [round_of(2, "My aunt is 61.", **TOLD), round_of(3, "It snows."), round_of(4, "Good night.")]
    for session in (first, second):
        for number, each in enumerate(session):
            each["sid"] = number
    return {"tid": tid, "message_list": [first, second], "QA": question([[2, 1]], **changes)}


def messages(tid: int = 0, **changes: Any) -> dict[str, Any]:
    """Return a MemData observation trajectory."""
    said = [message_of(0, "Hello."), message_of(1, "My aunt is 61.", **TOLD)]
    return {"tid": tid, "message_list": said, "QA": question([1], **changes)}


def names(name: str) -> list[str]:
    """Return the files of a data set, or the folder of a file pattern."""
    return [source.replace("/*.json", "") for source in find_dataset(name).files]


def read(name: str, files: Mapping[str, Any], folder: Path) -> list[Record]:
    """Write the files (path -> bytes or JSON data) and return the records of the data set."""
    for source, content in files.items():
        path = folder / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    found = replace(find_dataset(name), files=tuple(files))
    return MemBench().records(found, {source: folder / source for source in files})


def sampled_files(scene: Scene, length: str, each: Mapping[Level, int]) -> dict[str, Any]:
    """Return both data2test files of a scene by their published paths."""
    units = 1 if length else 0
    return {
        source.replace("_100.json", "_1.json"): split(scene, level, each[level], units)
        for source, level in zip(names(f"membench_{scene}{length}"), LEVELS, strict=True)
    }


def ids(records: Iterable[Record]) -> list[str]:
    return [record.record_id for record in records]
