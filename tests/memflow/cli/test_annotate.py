"""`memflow annotate`: sample items with an annotation page, report agreement."""

import json
from pathlib import Path

import pytest
from annotation_files import write_annotations

from memflow.annotation.annotations import Annotations
from memflow.annotation.sheet import read_sheet
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
    done = sample("--kind", "integrity", "--assistant", "full", "--n", "3")
    assert done.exit_code == 0 and "3 of" in done.stdout
    assert "Choose another folder" in sample("--kind", "integrity", "--assistant", "full").stderr


def test_annotate_names_missing_run_annotations_or_sheet(measured, empty, sampled, tmp_path) -> None:
    assert "memflow run --domain amemgym_demo~1" in empty.error(
        "annotate", "sample", "amemgym_demo~1", str(tmp_path / "x"), "--kind", "exposure"
    )
    assert "has no annotations" in measured.error("annotate", "report", str(sampled))
    assert "items.jsonl is missing" in measured.error("annotate", "report", str(tmp_path))
