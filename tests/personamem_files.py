"""PersonaMem files in the published form, with invented content."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.registry import find_dataset
from memflow.records import Record

COLUMNS = (
    "persona_id", "question_id", "question_type", "topic", "context_length_in_tokens", "context_length_in_letters",
    "distance_to_ref_in_blocks", "distance_to_ref_in_tokens", "num_irrelevant_tokens",
    "distance_to_ref_proportion_in_context", "user_question_or_message", "correct_answer", "all_options",
    "shared_context_id", "end_index_in_shared_context",
)  # fmt: skip
QUESTIONS, CONTEXTS = "personamem/questions_32k.csv", "personamem/shared_contexts_32k.jsonl"
PERSONA = "Current user persona: Name: Mira. Mira keeps bees."
TALK = (
    ("system", PERSONA),
    ("user", "User: I like tea, it's calming."),
    ("assistant", "Assistant: Tea is a fine choice."),
    ("user", "User: My sister sent me some."),
    ("user", "User: It was green."),
    ("assistant", "How kind of her."),
    ("system", PERSONA),
    ("user", "Patient: I sleep badly."),
    ("assistant", "Therapist: Since when?"),
    ("user", "User: Since I took to coffee."),
)
OPTIONS = ("Some tea, then?", "Some coffee, then?", 'A "mocha", then?', "Milk, or isn't it?")


def row(question_id: str = "q1", options: Sequence[str] = OPTIONS, **changes: Any) -> dict[str, Any]:
    """Return a row of the question table; `options` are given without their letters."""
    written = [f"({letter}) {option}" for letter, option in zip("abcdefgh", options, strict=False)]
    return {
        **dict.fromkeys(COLUMNS, "0"),
        "question_id": question_id,
        "question_type": "recall_user_shared_facts",
        "topic": "foodRecommendation",
        "user_question_or_message": "What might I drink?",
        "correct_answer": "(b)",
        "all_options": repr(written),
        "shared_context_id": "c1",
        "end_index_in_shared_context": len(TALK) - 1,
        **changes,
    }


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> str:
    """Return the rows as CSV with CRLF line ends, as published."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def shared(contexts: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Return contexts by id as JSON lines."""
    return "".join(
        json.dumps({name: [{"role": role, "content": content} for role, content in said]}) + "\n"
        for name, said in contexts.items()
    )


def read(folder: Path, questions: str, contexts: str, name: str = "personamem_32k") -> list[Record]:
    """Write the two files and return the records of the data set."""
    known = find_dataset(name)
    paths = {source: folder / source for source in known.files}
    for path, text in zip(paths.values(), (questions, contexts), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return CoMem().records(known, paths)
