"""`show partitions`: pooled scores, scores on the published scale, and published scores."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import pytest
import yaml

CELLS = yaml.safe_load(Path(__file__).with_name("published_partitions.yaml").read_text(encoding="utf-8"))
SYSTEMS = {
    "wo_memory": "Vanilla", "bm25": "BM25-M", "bm25_dialog": "BM25-S", "embedder": "Embed-M",
    "embedder_dialog": "Embed-S", "a_mem": "A-Mem", "mem0": "Mem0", "memoryos": "MemoryOS",
}  # fmt: skip
ROUNDING = 1e-5
"""Bound on the error of a score that is computed from averages and statistics with six decimals."""
REFUSED = "nfcats: the published scores are judged by DeepSeek-V3 with the authors' prompts"
SISO = factories.score(
    domain="memorybench_siso", assistant="rag", memory="rag", metric="min_max", variant="pooled", value=0.75,
    low=0.5, high=1.0, n=4, scripted=True,
)  # fmt: skip
NO_VALUE = {"value": None, "low": None, "high": None}


def both(score: Any, value: float | None, **given: Any) -> list[Any]:
    """Return a min-max score, and a z score of twice its value."""
    found = replace(score, **{**(NO_VALUE if value is None else {}), "value": value, **given})
    return [found, replace(found, metric="z_score", value=None if value is None else 2 * value)]


WITHOUT_SCALE = [
    row
    for name in ("nfcats", "scitechnews")
    for row in both(SISO, None, variant="standard", slice=f"dataset {name}", reason=REFUSED)
]


@pytest.fixture
def measured(empty: Any) -> Any:
    """Return a home with two assistants: pooled scores, no score on the published scale, but LexEval-QA's."""
    scores = [
        *both(SISO, 0.75),
        *both(SISO, 0.25, assistant="none", memory="none"),
        *both(SISO, None, variant="standard", reason=REFUSED),
        *both(SISO, 0.375, variant="standard", slice="dataset lexeval_qa"),
        *WITHOUT_SCALE,
    ]
    empty.write("score.leaderboard", "all", scores)
    return empty


@pytest.mark.parametrize("macro", [False, True])
def test_show_partitions_paper_prints_the_52_published_cells_computed_by_memflow(
    empty: Any, macro: bool
) -> None:
    told = empty.json("show", "partitions", "--paper", *(["--macro"] if macro else []))
    found = {
        (cell["place"], cell["system"]): cell for cell in told["paper"] if cell["source"] == "recomputed"
    }
    expected = {
        (partition, system): {name: scores[name][system] for name in scores}
        for partition, scores in CELLS.items()
        for system in scores["min_max"]
    }
    assert found.keys() == expected.keys() and len(found) == 52
    for key, scores in expected.items():
        assert found[key]["min_max"] == pytest.approx(
            scores["min_max_macro" if macro else "min_max"], abs=ROUNDING
        )
        if not macro:
            assert found[key]["z_score"] == pytest.approx(scores["z_score"], abs=ROUNDING)


def test_show_partitions_paper_prints_tables_10_and_11_without_a_run(empty: Any) -> None:
    told = empty.json("show", "partitions", "--paper")
    table = [cell for cell in told["paper"] if cell["source"] == "paper"]
    assert len(table) == 54 and not told["cells"]
    [vanilla] = [cell for cell in table if (cell["place"], cell["system"]) == ("legal", "wo_memory")]
    assert (vanilla["min_max"], vanilla["z_score"]) == (0.4637, -0.0019)
    shown = empty("show", "partitions", "--paper").stdout
    assert "0.464" in shown and "Tables 10 and 11 are the rows `paper`." in shown
    assert (
        "not shown: they have no means over data sets"
        in empty("show", "partitions", "--paper", "--macro").stdout
    )


def test_show_partitions_prints_pooled_scores_with_population_and_reasons(measured: Any) -> None:
    shown = " ".join(measured("show", "partitions").stdout.split())
    assert "rag 0.750 1.500" in shown and "none 0.250 0.500" in shown
    assert "Number of assistants: SiSo: 2." in shown
    assert f"No score on the published scale of rag in SiSo: {REFUSED}." in shown


def test_show_partitions_prints_data_sets_that_are_measured_as_published(measured: Any) -> None:
    told = measured.json("show", "partitions")
    [cell] = [cell for cell in told["cells"] if cell["dataset"] and cell["reason"] is None]
    assert (cell["assistant"], cell["dataset"], cell["min_max"]["value"]) == ("rag", "lexeval_qa", 0.375)
    assert told["populations"] == {"memorybench_siso": [2]}
    shown = " ".join(measured("show", "partitions", "--paper").stdout.split())
    assert "memorybench_siso by data set" in shown and "rag 0.375 0.750" in shown
    assert "BM25-M 0.376 0.190" in shown  # (0.135916 - 0) / 0.361624


def test_show_partitions_without_results_names_the_command_to_run(empty: Any) -> None:
    message = empty.error("show", "partitions")
    assert "no partition of MemoryBench has results yet" in message and "--paper" in message


def test_show_partitions_names_the_missing_data_sets_of_a_user_defined_domain(
    empty: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / "memflow.toml"
    settings.write_text(
        '[own_domains.summaries]\nbenchmark = "memorybench"\ndatasets = ["lexeval_summarization"]\n'
        'parameters = { partition = "legal", variants = ["published_code"] }\n'
    )
    monkeypatch.setenv("MEMFLOW_SETTINGS", str(settings))
    own = replace(SISO, domain="summaries", variant="standard")
    scores = [*both(own, 0.5), *both(own, 0.5, slice="dataset lexeval_summarization")]
    empty.write("score.leaderboard", "all", [*scores, *both(own, 0.25, variant="pooled")])
    shown = " ".join(empty("show", "partitions").stdout.split())
    assert (
        "summaries is not the whole partition legal: it is without judge, lexeval_judge, lexeval_qa, "
        "writingbench_law." in shown
    )
    assert "summaries by data set" in shown and "MemoryBench by partition, relative" not in shown
