"""Min-max scores and z-scores, scaled by the published scores or by all assistants."""

from dataclasses import replace

import factories
import pytest

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import paper
from memflow.benchmarks.memorybench.scoring import make_scores, population
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.records import Score, Verdict
from memflow.scoring.groups import Spread, groups_of

LEGAL = Domain("legal", "memorybench", (), "", {"partition": "legal"})


def verdict(
    dataset: str, value: float | None, at: int, assistant: str = "full", checkpoint: int = 0
) -> Verdict:
    return factories.verdict(
        domain="legal", assistant=assistant, probe_id=f"{dataset}/{at}", episode_id=DIALOGUES, checkpoint=checkpoint,
        dataset=dataset, category="x", metric=TASKS[dataset].metric, value=value,
        reason=None if value is not None else "no answer",
    )  # fmt: skip


def scores(
    rows: list[Verdict], others: tuple[Verdict, ...] = (), domain: Domain = LEGAL
) -> dict[tuple[str, str, str], Score]:
    own, compared = groups_of(rows), population(groups_of([*rows, *others]))
    results = AssistantResults(
        "legal", "full", "full", "m", [], [], [], [], "s", True, groups=own, population=compared
    )
    return {(row.metric, row.variant, row.slice): row for row in make_scores(domain, results)}


ROWS = [verdict("judge", value, at) for at, value in enumerate((1.0, 10.0, 7.3675))] + [
    verdict("lexeval_qa", 0.0, 0),
]


def test_published_scores_of_partition_cover_each_task() -> None:
    for partition in ("open", "legal", "academic", "LiSo", "SiLo", "LiLo", "SiSo"):
        names = {
            task.name for task in TASKS.values()
            if partition in (task.field, task.format) and not task.name.startswith(("sample", "memorybench"))
        }  # fmt: skip
        spreads = paper.published(partition)
        assert set(spreads) == names
        assert all(spread.low < spread.mean < spread.high for spread in spreads.values())


def test_min_max_and_z_scores_are_scaled_by_published_range_mean_and_deviation() -> None:
    found = scores(ROWS)
    # judge: 1 and 10 are the extremes, 7.3675 the mean: (0 + 1 + 6.3675 / 9) / 3.
    assert found["min_max", "standard", "dataset judge"].value == pytest.approx((1 + 6.3675 / 9) / 3)
    # Over all four cases, and with each data set as heavy as the other.
    assert found["min_max", "standard", "all"].value == pytest.approx((1 + 6.3675 / 9) / 4)
    assert found["min_max", "standard", "macro"].value == pytest.approx((1 + 6.3675 / 9) / 3 / 2)
    z = found["z_score", "standard", "dataset judge"].value
    assert z == pytest.approx(((1 - 7.3675) + (10 - 7.3675)) / 1.465416 / 3)
    assert found["integrated", "standard", "all"].deviation == pytest.approx(3.7782, abs=1e-4)


def test_pooled_scores_are_scaled_by_scores_of_all_assistants() -> None:
    found = scores(ROWS, (verdict("judge", 1.0, 0, "none"), verdict("lexeval_qa", 0.5, 0, "none")))
    assert found["min_max", "pooled", "dataset lexeval_qa"].value == 0.0
    assert found["min_max", "pooled", "dataset judge"].value == pytest.approx((1 + 6.3675 / 9) / 3)
    alone = scores([verdict("judge", 4.0, 0), verdict("judge", 4.0, 1)])
    assert alone["min_max", "pooled", "all"].value == alone["z_score", "pooled", "all"].value == 0.0


def test_missing_values_lower_coverage_but_not_the_min_max_mean() -> None:
    rows = [verdict("judge", 10.0, at) for at in range(9)] + [verdict("judge", None, 9)]
    assert scores(rows)["min_max", "standard", "all"].value == 1.0
    few = scores([*rows, verdict("judge", None, 10)])["min_max", "standard", "all"]
    assert (few.value, few.n) == (None, 9)
    assert few.reason == "9 of 11 probes have a value; a score needs 90%"


def test_domain_without_partition_parameter_has_pooled_scores_only() -> None:
    found = scores(ROWS, domain=replace(LEGAL, parameters={}))
    assert {variant for metric, variant, _ in found if metric == "min_max"} == {"pooled"}


def test_null_min_max_score_names_data_set_without_published_scores() -> None:
    found = scores([*ROWS, verdict("nfcats", 3.0, 0)])
    score = found["min_max", "standard", "all"]
    assert score.value is None and score.reason == "there are no published scores of nfcats to compare with"


def test_slice_all_of_scores_contains_last_checkpoint_only() -> None:
    rows = [verdict("judge", 1.0 + step, at, checkpoint=step) for step in range(3) for at in range(2)]
    found = scores(rows)
    assert found["integrated", "standard", "all"].value == 3.0
    by_step = [found["integrated", "standard", f"checkpoint {step}"].value for step in range(3)]
    assert by_step == [1.0, 2.0, 3.0]


def test_equal_published_scores_give_min_max_and_z_scores_of_0() -> None:
    constant = Spread(3, 2.0, 0.0, 2.0, 2.0)
    assert paper.min_max(constant) == paper.z_score(constant) == (0.0, 0.0)


def test_score_without_bertscore_is_substituted_in_separate_variant() -> None:
    lacking = [replace(verdict("judge", None, at), reason="there is no bertscore") for at in range(2)]
    beside = [
        replace(row, value=value, reason=None, variant="without_bertscore")
        for row, value in zip(lacking, (1.0, 10.0), strict=True)
    ]
    found = scores([*lacking, *beside, verdict("lexeval_qa", 0.369231, 0)])
    assert found["min_max", "standard", "all"].value is None
    assert found["min_max", "substituted", "all"].value == pytest.approx((0 + 1 + 1) / 3)
    assert found["integrated", "without_bertscore", "all"].value == 5.5
    assert not [key for key in scores(ROWS) if key[1] == "substituted"]
