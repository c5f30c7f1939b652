"""Min-max scores and z-scores, scaled by the published scores or by all assistants."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import factories
import pytest
import yaml

from bench.verdict_groups import groups_of
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import paper
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE
from memflow.benchmarks.memorybench.scoring import make_scores, population
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.paper_values import read_values
from memflow.chat.replacements import PromptFile, replace_prompts
from memflow.records import Score, Verdict

LEGAL = Domain("legal", "memorybench", (), "", {"partition": "legal"})
PUBLISHED = replace(LEGAL, parameters={"partition": "legal", "variants": ["published_code"]})


def verdict(
    dataset: str,
    value: float | None,
    at: int,
    assistant: str = "full",
    checkpoint: int = 0,
    variant: str = "standard",
) -> Verdict:
    return factories.verdict(
        domain="legal", assistant=assistant, probe_id=f"{dataset}/{at}", episode_id=DIALOGUES, checkpoint=checkpoint,
        dataset=dataset, category="x", metric=TASKS[dataset].metric, value=value, variant=variant,
        reason=None if value is not None else "no answer",
    )  # fmt: skip


def scores(
    rows: list[Verdict],
    others: tuple[Verdict, ...] = (),
    domain: Domain = LEGAL,
    *,
    scripted: bool = False,
) -> dict[tuple[str, str, str], Score]:
    own, compared = groups_of(rows), population(groups_of([*rows, *others]))
    results = AssistantResults(
        "legal", "full", "full", "m", [], [], [], [], "s", scripted, groups=own, population=compared,
    )  # fmt: skip
    return {(row.metric, row.variant, row.slice): row for row in make_scores(domain, results)}


ROWS = [verdict("judge", value, at) for at, value in enumerate((1.0, 10.0, 7.3675))] + [
    verdict("lexeval_qa", 0.0, 0),
]


LEXEVAL = [
    verdict("lexeval_qa", 0.369231, 0, variant="published_code"),
    verdict("lexeval_qa", 0.0, 1, variant="published_code"),
    verdict("lexeval_qa", 0.3, 0), verdict("lexeval_qa", 0.3, 1),
]  # fmt: skip
"""Two values of the published variant, at the published maximum and minimum, and two of ROUGE-L."""
SUMMARIES = [
    verdict("lexeval_summarization", value, at, variant=variant)
    for at in range(4)
    for variant, value in (("published_code", 0.475), ("standard", 0.2))
]


def test_min_max_and_z_scores_are_scaled_by_published_range_mean_and_deviation() -> None:
    found = scores([*LEXEVAL, *SUMMARIES], domain=PUBLISHED)
    assert found["min_max", "standard", "dataset lexeval_qa"].value == pytest.approx(0.5)
    # Over all six cases, and with each data set as heavy as the other.
    assert found["min_max", "standard", "all"].value == pytest.approx((0.5 * 2 + 4) / 6)
    assert found["min_max", "standard", "macro"].value == pytest.approx((0.5 + 1) / 2)
    z = found["z_score", "standard", "dataset lexeval_qa"].value
    assert z == pytest.approx(((0.369231 - 0.122018) - 0.122018) / 0.06711 / 2)
    integrated = scores(ROWS)["integrated", "standard", "all"]
    assert integrated.deviation == pytest.approx(3.7782, abs=1e-4)


def test_metric_of_another_variant_than_the_published_has_reason_instead_of_min_max_score() -> None:
    found = scores([*ROWS, *LEXEVAL])
    for metric in ("min_max", "z_score"):
        reason = found[metric, "standard", "dataset lexeval_qa"].reason
        assert reason is not None and 'add variants = ["published_code"]' in reason
        assert "use the variant pooled" in reason
        assert found[metric, "pooled", "dataset lexeval_qa"].value is not None


@pytest.fixture
def replaced_prompts() -> Iterator[None]:
    names = {name for each in paper.reference().measurements.values() for name in each.prompts}
    files = {f"memorybench/{name}": PromptFile("mine.md", "", PACKAGE, ("judge",)) for name in names}
    replace_prompts(files)
    yield
    replace_prompts({})


def judged_scores(*more: Verdict, scripted: bool = False) -> Score:
    """Return JuDGE's min-max score of 10 under a domain that states to have the published judge."""
    rows = [*more, *(verdict("judge", 10.0, at, variant="published_code") for at in range(3))]
    parameters = {**PUBLISHED.parameters, "published_judge": True}
    return scores(rows, domain=replace(PUBLISHED, parameters=parameters), scripted=scripted)[
        "min_max", "standard", "dataset judge"
    ]


@pytest.mark.usefixtures("replaced_prompts")
def test_published_judge_with_replaced_prompts_has_min_max_scores() -> None:
    assert judged_scores().value == pytest.approx(1.0)
    scripted = judged_scores(scripted=True)
    assert scripted.value is None and "a scripted chat was used here" in (scripted.reason or "")
    several = [verdict("judge", 10.0, 0, variant=f"published_code_judge_{name}") for name in ("a", "b")]
    mean = judged_scores(*several)
    assert mean.value is None and "the mean over 2 judges was scored here" in (mean.reason or "")


def test_published_judge_with_prompts_of_memflow_has_reason_instead_of_min_max_score() -> None:
    refused = judged_scores()
    assert refused.value is None and refused.reason is not None
    assert "these are memflow's: memorybench/merge_judgment; replace them" in refused.reason


CELLS = yaml.safe_load(Path(__file__).with_name("published_partitions.yaml").read_text(encoding="utf-8"))
"""The published min-max and z scores of partitions, by scale and system."""
PARTITIONS = tuple(CELLS)


def averages(partition: str) -> dict[str, dict[str, float]]:
    """Return the published averages, and the number of cases, by data set and system."""
    found: dict[str, dict[str, float]] = {}
    for value in read_values("memflow.benchmarks.memorybench"):
        place, _, dataset = value.slice.partition("/dataset:")
        if place == partition:
            name = value.metric if value.metric == "cases" else value.system
            found.setdefault(dataset, {})[name] = float(value.value)
    return found


@pytest.mark.usefixtures("replaced_prompts")
@pytest.mark.parametrize("partition", PARTITIONS)
def test_verdicts_equal_to_the_published_averages_give_the_published_partition_scores(
    partition: str,
) -> None:
    """Every case of a data set has the average of a published system, in the published variant."""
    parameters = {"partition": partition, "variants": ["published_code"], "published_judge": True}
    domain, measured = replace(LEGAL, parameters=parameters), paper.reference().measurements
    published = CELLS[partition]
    for system in published["min_max"]:
        rows = [
            verdict(name, of_dataset[system], case, variant=measured[name].variant)
            for name, of_dataset in averages(partition).items()
            for case in range(int(of_dataset["cases"]))
        ]
        found = scores(rows, domain=domain)
        for metric in ("min_max", "z_score"):
            expected = published[metric][system]
            assert found[metric, "standard", "all"].value == pytest.approx(expected, abs=1e-5)
        expected = published["min_max_macro"][system]
        assert found["min_max", "standard", "macro"].value == pytest.approx(expected, abs=1e-5)


def test_pooled_scores_are_scaled_by_scores_of_all_assistants() -> None:
    found = scores(ROWS, (verdict("judge", 1.0, 0, "none"), verdict("lexeval_qa", 0.5, 0, "none")))
    assert found["min_max", "pooled", "dataset lexeval_qa"].value == 0.0
    assert found["min_max", "pooled", "dataset judge"].value == pytest.approx((1 + 6.3675 / 9) / 3)
    alone = scores([verdict("judge", 4.0, 0), verdict("judge", 4.0, 1)])
    assert alone["min_max", "pooled", "all"].value == alone["z_score", "pooled", "all"].value == 0.0


def test_missing_values_lower_coverage_but_not_the_min_max_mean() -> None:
    rows = [verdict("locomo", 1.0, at) for at in range(9)] + [verdict("locomo", None, 9)]
    domain = replace(LEGAL, parameters={"partition": "open"})
    assert scores(rows, domain=domain)["min_max", "standard", "all"].value == 1.0
    few = scores([*rows, verdict("locomo", None, 10)], domain=domain)["min_max", "standard", "all"]
    assert (few.value, few.n) == (None, 9)
    assert few.reason == "9 of 11 probes have a value; a score needs 90%"


def test_null_min_max_score_names_data_set_without_published_scores() -> None:
    score = scores([*LEXEVAL, verdict("nfcats", 3.0, 0)], domain=PUBLISHED)["min_max", "standard", "all"]
    assert (
        score.value is None
        and score.reason == "nfcats: there are no published scores of the data set; use the variant `pooled`"
    )


def test_slice_all_of_scores_contains_last_checkpoint_only() -> None:
    rows = [verdict("judge", 1.0 + step, at, checkpoint=step) for step in range(3) for at in range(2)]
    found = scores(rows)
    assert found["integrated", "standard", "all"].value == 3.0
    by_step = [found["integrated", "standard", f"checkpoint {step}"].value for step in range(3)]
    assert by_step == [1.0, 2.0, 3.0]


def test_pooled_score_without_bertscore_has_a_reason() -> None:
    lacking = [replace(verdict("judge", None, at), reason="there is no bertscore") for at in range(2)]
    beside = [
        verdict("judge", value, at, variant="without_bertscore") for at, value in enumerate((1.0, 10.0))
    ]
    found = scores([*lacking, *beside, verdict("lexeval_qa", 0.3, 0), verdict("lexeval_qa", 0.2, 1)])
    pooled = found["min_max", "pooled", "all"]
    assert pooled.value is None and "judge: no assistant has a value of integrated" in (pooled.reason or "")
    assert found["integrated", "without_bertscore", "all"].value == 5.5


def test_slice_without_corpora_leaves_out_the_data_sets_with_a_corpus() -> None:
    """Table 18's column Open* (A.3.5)."""
    domain = Domain("legal", "memorybench", (), "", {"partition": "open"})
    corpora = [verdict("locomo", 1.0, 0), verdict("dialsim_friends", 1.0, 0)]
    other = [verdict("nfcats", value, at) for at, value in enumerate((1.0, 5.0, 4.0))]
    found = scores([*corpora, *other], domain=domain)
    alone = scores(other, domain=domain)
    assert ("min_max", "pooled", "without corpora") not in alone
    for metric in ("min_max", "z_score"):
        assert found[metric, "pooled", "without corpora"].value == alone[metric, "pooled", "all"].value
        assert found[metric, "pooled", "without corpora"].n == 3
    # On the published scale, only the reasons of its own data sets keep it from having a value.
    refused = found["min_max", "standard", "without corpora"]
    assert refused.value is None
    assert refused.reason == alone["min_max", "standard", "all"].reason
    assert "dialsim_friends" in (found["min_max", "standard", "all"].reason or "")
    assert found["min_max", "standard", "dataset locomo"].value is not None
