"""`memflow annotate`: sample items with an annotation page, report agreement."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from annotation_files import write_annotations
from generated import generate

from memflow.annotation.annotations import Annotations
from memflow.annotation.sheet import read_key, read_sheet
from memflow.chat.scripted import LABEL


@pytest.fixture
def sampled(measured, tmp_path) -> Path:
    folder = tmp_path / "exposure"
    done = measured(
        "annotate", "sample", "amemgym_demo~1", str(folder), "--kind", "exposure", "--format", "json"
    )
    told = json.loads(done.stdout)
    assert told["files"] == ["items.jsonl", "annotate.html"] and told["drawn"] == told["population"]
    assert LABEL in told["note"]
    return folder


def annotated(folder: Path, name: str, *odd: int) -> None:
    sheet = read_sheet(folder)
    labels = {item: "partly" if number in odd else "fully" for number, item in enumerate(sheet.items)}
    write_annotations(folder / f"annotations-{name}.jsonl", sheet, Annotations(name, labels))


def test_annotate_report_compares_two_persons(measured, sampled) -> None:
    annotated(sampled, "Ann", 0)
    annotated(sampled, "Bo", 1)
    [told] = measured.json("annotate", "report", str(sampled))
    n = told["items"]
    assert [row["of"] for row in told["measured"]] == ["2 persons", "Ann", "Bo"]
    both = told["measured"][0]
    assert both["agreement"]["value"] == pytest.approx(1 - 2 / n)
    assert both["mean"]["value"] == pytest.approx(1 - 0.5 / n)
    p = (2 * n - 2) / (2 * n)
    chance = (p * (1 - p) + (1 - p) * p) / 2
    assert both["ac1"]["value"] == pytest.approx((1 - 2 / n - chance) / (1 - chance))
    assert len(told["differing"]) == 2 and any(LABEL in note for note in told["notes"])

    shown = measured("annotate", "report", str(sampled)).stdout
    assert "State exposure: amemgym_demo~1" in shown and "AC1" in shown and LABEL in shown
    assert "2 items on which persons differ" in shown and "Ann: Partly, Bo: Fully" in shown


def test_annotate_sample_with_the_same_seed_writes_the_same_page(measured, sampled, tmp_path) -> None:
    for folder, seed in (("again", "0"), ("other", "1")):
        measured(
            "annotate",
            "sample",
            "amemgym_demo~1",
            str(tmp_path / folder),
            "--kind",
            "exposure",
            "--seed",
            seed,
        )
    page = (sampled / "annotate.html").read_bytes()
    assert (tmp_path / "again/annotate.html").read_bytes() == page
    assert (tmp_path / "other/annotate.html").read_bytes() != page


def test_integrity_sample_requires_an_assistant_with_a_stored_run(measured, tmp_path) -> None:
    def sample(*options: str):
        return measured("annotate", "sample", "amemgym_demo~1", str(tmp_path / "x"), *options)

    assert "Choose one with --assistant" in sample("--kind", "integrity").stderr
    assert "Remove --assistant" in sample("--kind", "exposure", "--assistant", "full").stderr
    assert (
        "no stored run of assistant 'beauty'. Use one of: awi, full"
        in sample("--kind", "integrity", "--assistant", "beauty").stderr
    )
    done = sample("--kind", "integrity", "--assistant", "full", "--n", "2")
    assert done.exit_code == 0 and "2 of" in done.stdout, done.output
    assert "Choose another folder" in sample("--kind", "integrity", "--assistant", "full").stderr


def test_annotate_names_missing_run_annotations_or_sheet(measured, empty, sampled, tmp_path) -> None:
    assert "memflow run --domain amemgym_demo~1" in empty.error(
        "annotate", "sample", "amemgym_demo~1", str(tmp_path / "x"), "--kind", "exposure"
    )
    folder = str(tmp_path / "x")
    assert "no amemgym kind of items 'beauty'" in measured.error(
        "annotate", "sample", "amemgym_demo~1", folder, "--kind", "beauty"
    )
    assert "locomo has no items to annotate. Choose a domain of one of: amemgym" in measured.error(
        "annotate", "sample", "locomo", folder, "--kind", "exposure"
    )
    assert "has no annotations" in measured.error("annotate", "report", str(sampled))
    assert "items.jsonl is missing" in measured.error("annotate", "report", str(tmp_path))


@pytest.fixture
def feedback(empty):
    """Return a home with the simulated feedback of memorybench_demo."""
    made = generate("memorybench_demo")
    for name in ("profiles", "variables", "changes"):
        empty.write(f"state.{name}", "memorybench_demo", getattr(made.states, name))
    empty.write("utterance.turns", "memorybench_demo", made.turns)
    empty.write("question.probes", "memorybench_demo", made.probes)
    empty.write("feedback.sessions", "memorybench_demo", made.feedback)
    return empty


def write_feedback(folder: Path, cases: int) -> None:
    """Let Ann write a feedback on the first `cases` units."""
    sheet = read_sheet(folder)
    comments = {item: f"Ann's words on {item}" for item in list(sheet.items)[:cases]}
    write_annotations(
        folder / "annotations-Ann.jsonl",
        sheet,
        Annotations("Ann", dict.fromkeys(comments, "written"), comments),
    )


def sample_feedback(home, folder: Path, *options: str):
    return home("annotate", "sample", "memorybench_demo", str(folder), "--kind", *options)


def kappa_by_pairs(rows: list[list[str]]) -> float:
    """Return Fleiss' kappa from all pairs of ratings: within items, and between any two ratings."""
    within = [sum(a == b for a, b in combinations(row, 2)) / len(list(combinations(row, 2))) for row in rows]
    shares = Counter(label for row in rows for label in row)
    total = sum(shares.values())
    chance = sum((count / total) ** 2 for count in shares.values())
    return (sum(within) / len(within) - chance) / (1 - chance)


def test_people_write_feedback_and_three_others_compare_it_with_the_simulated(feedback, tmp_path) -> None:
    """MemoryBench, A.2.5: both rounds on the demo, and the values of Table 7."""
    writing, pairs = tmp_path / "writing", tmp_path / "pairs"
    assert sample_feedback(feedback, writing, "feedback_writing").exit_code == 0
    write_feedback(writing, 9)
    done = sample_feedback(feedback, pairs, "feedback", "--written", str(writing))
    assert done.exit_code == 0 and "key.json has the correct labels" in done.stdout, done.output
    sheet = read_sheet(pairs)
    key = read_key(pairs, sheet)
    assert len(sheet.units) == 9 and len(key) == len(sheet.items) == 27
    simulated = {row.case_id: row.critique for row in generate("memorybench_demo").feedback if row.round == 0}
    for unit in sheet.units:
        shown = {part.title: part.text for part in unit.shown}
        assert {shown["Feedback 1"], shown["Feedback 2"]} == {simulated[unit.id], f"Ann's words on {unit.id}"}
        for item in unit.items:
            says = next(label.says for label in item.labels if label.name == key[item.id])
            assert shown[says] == simulated[unit.id]
    # The simulated feedback does not always come first.
    assert len(set(key.values())) == 2

    answers: dict[str, dict[str, str]] = {}
    for person in range(3):
        chosen = {}
        for number, (name, item) in enumerate(sheet.items.items()):
            prefers_simulated = (
                (number * 7 + person * 3) % 5 < 3 if item.aspect != "overall" else number % 2 == 0
            )
            other = next(label.name for label in item.labels if label.name != key[name])
            chosen[name] = key[name] if prefers_simulated else other
        answers[f"P{person}"] = chosen
        write_annotations(pairs / f"annotations-P{person}.jsonl", sheet, Annotations(f"P{person}", chosen))
    [report] = feedback.json("annotate", "report", str(pairs))
    together = {row["aspect"]: row for row in report["measured"] if row["of"] == "3 persons"}
    assert list(together) == ["naturalness", "relevance", "overall"]
    for aspect, row in together.items():
        items = [name for name, item in sheet.items.items() if item.aspect == aspect]
        rows = [
            ["simulated" if answers[person][name] == key[name] else "written" for person in answers]
            for name in items
        ]
        won = sum(row.count("simulated") for row in rows)
        assert row["mean"]["value"] == pytest.approx(won / (3 * len(items)))
        assert row["kappa"]["value"] == pytest.approx(kappa_by_pairs(rows))
    assert together["overall"]["kappa"]["value"] == 1 > together["naturalness"]["kappa"]["value"]
    assert "naturalness" in feedback("annotate", "report", str(pairs)).stdout


def test_feedback_is_compared_only_with_texts_written_for_the_same_domain(feedback, tmp_path) -> None:
    writing = tmp_path / "writing"
    refused = sample_feedback(feedback, tmp_path / "x", "feedback")
    assert refused.exit_code == 1 and "name its folder with --written" in refused.stderr
    sample_feedback(feedback, writing, "feedback_writing")
    nobody = sample_feedback(feedback, tmp_path / "x", "feedback", "--written", str(writing))
    assert "nobody has written a comment" in nobody.stderr
    twice = sample_feedback(feedback, tmp_path / "x", "feedback_writing", "--written", str(writing))
    assert "Remove --written" in twice.stderr
    write_feedback(writing, 2)
    other = tmp_path / "pairs"
    sample_feedback(feedback, other, "feedback", "--written", str(writing))
    wrong = sample_feedback(feedback, tmp_path / "x", "feedback", "--written", str(other))
    assert "Use one of the kind feedback_writing in memorybench_demo" in wrong.stderr


def test_feedback_that_a_metric_decides_is_not_sampled(feedback, tmp_path) -> None:
    sample_feedback(feedback, tmp_path / "w", "feedback_writing")
    cases = {unit.id for unit in read_sheet(tmp_path / "w").units}
    rounds = generate("memorybench_demo").feedback
    fixed = {row.case_id for row in rounds if row.score is not None}
    assert fixed and cases
    assert not fixed & cases
