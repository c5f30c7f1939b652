"""Equal results of SQL and Python for the histories of answers."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import factories
import numpy as np
import numpy.typing as npt
import pytest
from factories import metric_context
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profiles import examples

from memflow.metrics.continual import complete_rows, summary
from memflow.records import Probe, Verdict
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse
from memflow.scoring.continual import CheckpointSums, continual_scores

ASSISTANTS = ("none", "rag", "rag@big", "none@big")
Array = npt.NDArray[np.float64]


def probe(domain: str, question: int, checkpoint: int, opens: bool, metric: str = "accuracy") -> Probe:
    return factories.probe(
        domain=domain, probe_id=f"q{question}/{checkpoint}", question_id=f"q{question}", opens=opens,
        episode_id=f"e{question % 3}", checkpoint=checkpoint, metric=metric,
    )  # fmt: skip


def verdict(of: Probe, assistant: str, value: float) -> Verdict:
    known = None if math.isnan(value) else float(value)
    return factories.verdict(
        domain=of.domain, assistant=assistant, probe_id=of.probe_id, episode_id=of.episode_id,
        checkpoint=of.checkpoint, metric=of.metric, value=known, reason="no" if known is None else None,
    )  # fmt: skip


def fill(lake: Lake, domain: str, values: dict[str, Array], opens: bool, metric: str = "accuracy") -> None:
    """Write probes of `domain` and verdicts of each assistant; `values` has the shape (questions, checkpoints)."""
    questions, checkpoints = next(iter(values.values())).shape
    probes = [
        [probe(domain, question, at, opens and not at, metric) for at in range(checkpoints)]
        for question in range(questions)
    ]
    lake.write("question.probes", domain, [each for row in probes for each in row], fingerprint="")
    for assistant, held in values.items():
        rows = [
            verdict(each, assistant, held[question, at])
            for question, row in enumerate(probes)
            for at, each in enumerate(row)
        ]
        lake.write("score.verdicts", f"{domain}/{assistant}", rows, fingerprint="")


def histories(values: dict[str, Array], assistant: str, opens: bool) -> Array:
    """Return the histories that Python uses: without an opening checkpoint, `none` gives the first column."""
    if opens:
        return values[assistant]
    _, at, model = assistant.partition("@")
    return np.column_stack((values[f"none{at}{model}"][:, 0], values[assistant]))


CELLS = st.sampled_from((0.0, 1.0)) | st.integers(0, 16).map(lambda number: number / 16)
GAPPED = st.one_of(CELLS, CELLS, CELLS, CELLS, CELLS, CELLS, CELLS, st.just(math.nan))


@settings(examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_history_scores_from_sql_and_python_agree_on_random_answers(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("views")
    lake = Lake(folder / "lake")
    worlds = {}
    for domain, opens in (("own", True), ("borrowed", False)):
        questions, checkpoints = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 5))
        cells = st.lists(GAPPED, min_size=questions * checkpoints, max_size=questions * checkpoints)
        values = {name: np.array(data.draw(cells)).reshape(questions, checkpoints) for name in ASSISTANTS}
        worlds[domain] = values, opens
        fill(lake, domain, values, opens)
    warehouse = Warehouse(lake, folder / "memflow.duckdb")
    for domain, (values, opens) in worlds.items():
        added = [CheckpointSums(**row) for row in warehouse.query("continual", domain=domain)]
        for assistant in ASSISTANTS:
            correct = histories(values, assistant, opens)
            rows = [row for row in added if row.assistant == assistant]
            at_start = [row for row in rows if row.measure == "accuracy" and row.checkpoint == 0]
            assert sum(row.questions for row in at_start) == len(correct)
            assert sum(row.complete for row in at_start) == complete_rows(correct).sum()
            if complete_rows(correct).any():
                assert_same_scores(rows, correct, opens)


def assert_same_scores(rows: Sequence[CheckpointSums], correct: Array, opens: bool) -> None:
    """Assert that scores from the sums of the query equal those of Python, if coverage is sufficient."""
    found = {
        (each.metric, each.slice): each.value for each in continual_scores(rows, metric_context(), none=True)
    }
    if complete_rows(correct).mean() < 0.9:
        assert set(found.values()) == {None}
        return
    wanted, first = summary(correct), 0 if opens else 1
    named = [f"checkpoint {at}" for at in range(correct.shape[1] - first)]
    for name in ("forgetting", "forward_transfer", "backward_transfer"):
        expected = getattr(wanted, name)[1:]
        assert [found[name, each] for each in named[1 - first :]] == pytest.approx(expected, abs=1e-12)
    assert [found["accuracy", each] for each in named] == pytest.approx(wanted.accuracy[first:], abs=1e-12)
    assert found["guess", "all"] == pytest.approx(wanted.accuracy[0])
    assert found["forgetting", "all"] == pytest.approx(wanted.forgetting[-1], abs=1e-12)
    for name in ("all_correct", "all_wrong", "flip_rate"):
        assert found[name, "all"] == pytest.approx(getattr(wanted, name), abs=1e-12)


def test_histories_scale_values_to_the_range_of_their_metric(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    fill(lake, "d", {"rag": np.array([[1.0, 3.0, 5.0]])}, opens=True, metric="quality")
    fill(lake, "e", {"rag": np.array([[1.0, 0.0, -1.0]])}, opens=True, metric="bertscore[roberta-base,L10]")
    fill(lake, "f", {"rag": np.array([[1.0, 2.0, 3.0]])}, opens=True, metric="fkgl")  # it has no end
    warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
    rows = [row for domain in "def" for row in warehouse.query("continual", domain=domain)]
    accuracies = [row for row in rows if row["measure"] == "accuracy"]
    assert [row["low"] for row in accuracies] == [0.0, 0.5, 1.0, 1.0, 0.5, 0.0, None, None, None]
    assert [row["complete"] for row in accuracies] == [1] * 6 + [0] * 3


def test_histories_exclude_quarantined_probes_and_probes_without_question_id(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    fill(lake, "d", {"rag": np.array([[1.0, 0.0], [1.0, 1.0]])}, opens=True)
    probes = lake.read("question.probes", "d")
    once = replace(probes[0], probe_id="once", question_id=None)
    broken = [replace(probes[0], reason="no key"), *probes[1:], once]
    lake.write("question.probes", "d", broken, fingerprint="")
    warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
    assert {row["questions"] for row in warehouse.query("continual", domain="d")} == {1}


def test_history_is_incomplete_without_memory_none_of_the_same_model(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    values = np.array([[1.0, 0.0], [1.0, 1.0]])
    fill(lake, "d", {"rag": values, "none@big": values}, opens=False)
    rows = Warehouse(lake, tmp_path / "m.duckdb").query("continual", domain="d")
    complete = {(row["assistant"], row["borrowed"], row["complete"]) for row in rows}
    assert complete == {("rag", True, 0), ("none@big", True, 1)}
