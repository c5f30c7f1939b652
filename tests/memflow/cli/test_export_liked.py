"""`memflow export liked`: the liked first answers of a domain, in TRL's format."""

import json
from dataclasses import replace
from typing import Any

from generated import generate

DOMAIN = "memorybench_demo"


def test_export_liked_writes_the_liked_first_answers_as_training_examples(empty: Any, tmp_path: Any) -> None:
    demo = generate(DOMAIN)
    firsts = [row.case_id for row in demo.feedback if row.round == 0][:3]
    rows = [
        replace(row, liked=row.round == 0 and row.case_id in firsts, copied=False) for row in demo.feedback
    ]
    empty.write("question.probes", DOMAIN, demo.probes)
    empty.write("feedback.sessions", DOMAIN, rows)
    file = tmp_path / "train.jsonl"
    data = empty.json("export", "liked", DOMAIN, str(file))
    assert sum(examples for _, _, examples, _ in data["counts"]) == 3 and data["left_out"] == []
    examples = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert sorted(example["case_id"] for example in examples) == sorted(firsts)
    assert {*examples[0]} == {"case_id", "prompt", "completion"}
    assert "none that can be used has a copy" in empty.error("export", "copied", DOMAIN, str(tmp_path / "c"))
