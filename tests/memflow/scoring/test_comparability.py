"""Figures by evidence, and whether a comparison's terms are equal or said to differ."""

from dataclasses import replace

import pytest

from memflow.checks.expectations import EXPECTATIONS, Together
from memflow.records import FailureAttribution, Reply, Score
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.comparability import (
    BY_EVIDENCE,
    CHECKPOINTS,
    RECALL_AT_10,
    MeasuredSettings,
    compare_settings,
    differing_settings,
    evidence_scores,
)

FIGURE = Score(
    domain="d", assistant="a", memory="a", model="m", metric="f1", n=4, n_episodes=2, coverage=1.0,
    simulator="s", scripted=False, value=0.5,
)  # fmt: skip


def row(name: str, episode: str = "e", **more: object) -> FailureAttribution:
    plain = {
        "evidence": 2,
        "stored": 2,
        "recalled": 1,
        "recalled_at_10": 1,
        "entries": 4,
        "relevant": 1,
        "loss": 1.0,
    }
    plain |= {"write": 0.0, "read": 1.0, "utilization": 0.0}
    return FailureAttribution(
        domain="d", assistant="a", probe_id=name, episode_id=episode, checkpoint=0, **{**plain, **more}  # type: ignore[arg-type]
    )  # fmt: skip


def by_metric(figures: list[Score], slice_: str = "all") -> dict[str, Score]:
    return {figure.metric: figure for figure in figures if figure.slice == slice_}


def test_figures_by_evidence_are_means_over_probes_with_evidence() -> None:
    unknown = row("p3", evidence=0, stored=None, recalled=None, recalled_at_10=None, entries=None, relevant=None,
                  loss=None, write=None, read=None, utilization=None, reason=NO_EVIDENCE)  # fmt: skip
    rows = [
        row("p1"),
        row(
            "p2",
            "f",
            recalled=2,
            recalled_at_10=0,
            entries=0,
            relevant=0,
            loss=0.5,
            read=0.0,
            utilization=0.5,
        ),
        unknown,
    ]
    figures = by_metric(evidence_scores(rows, FIGURE, seed=0))
    assert figures["evidence_recall"].value == pytest.approx((0.5 + 1.0) / 2)
    assert figures[RECALL_AT_10].value == pytest.approx((0.5 + 0.0) / 2)
    assert figures["evidence_precision"].value == pytest.approx(
        1 / 4
    )  # nothing recalled: nothing to be precise
    assert figures["read_failure"].value == pytest.approx(0.5)
    assert figures["utilization_failure"].value == pytest.approx(0.25)
    assert (figures["read_failure"].n, figures["read_failure"].n_episodes) == (2, 2)
    assert figures["read_failure"].variant == BY_EVIDENCE and figures["read_failure"].coverage == 1.0


def test_too_few_attributed_probes_make_no_figure() -> None:
    lost = [
        row(f"p{at}", loss=None, write=None, read=None, utilization=None, reason="no answer")
        for at in range(2)
    ]
    figures = by_metric(evidence_scores([row("p9"), *lost], FIGURE, seed=0))
    assert figures["write_failure"].value is None
    assert figures["write_failure"].reason == "1 of 3 probes can be attributed: no answer"
    assert figures["evidence_recall"].value == pytest.approx(0.5)  # known all the same


def test_slices_are_checkpoints_and_categories() -> None:
    rows = [row("p1", category="2"), replace(row("p2", category="3", read=0.0, write=1.0), checkpoint=1)]
    figures = evidence_scores(rows, FIGURE, seed=0)
    assert {figure.slice for figure in figures} == {
        "all",
        "checkpoint 0",
        "checkpoint 1",
        "category 2",
        "category 3",
    }
    assert by_metric(figures, "category 3")["write_failure"].value == 1.0


def test_a_benchmarks_own_parts_are_slices() -> None:
    rows = [row("p1"), row("p2", recalled=2)]
    figures = evidence_scores(rows, FIGURE, seed=0, parts={"level factual": frozenset({"p2"})})
    assert by_metric(figures, "level factual")["evidence_recall"].value == 1.0
    assert by_metric(figures, "level factual")["evidence_recall"].n == 1


def test_what_ranks_nothing_has_no_recall_at_10_and_says_why() -> None:
    figures = by_metric(evidence_scores([row("p1", recalled_at_10=None)], FIGURE, seed=0))
    assert figures[RECALL_AT_10].value is None
    assert figures[RECALL_AT_10].reason == "a does not rank what it recalls: it has no ten best"
    assert figures["evidence_recall"].value == 0.5
    lost = row("p1", stored=None, recalled=None, recalled_at_10=None, entries=None, relevant=None, loss=None,
               write=None, read=None, utilization=None, reason="no answer")  # fmt: skip
    assert by_metric(evidence_scores([lost], FIGURE, seed=0))[RECALL_AT_10].reason == "no answer"


def test_steps_that_episodes_do_not_share_are_no_slices() -> None:
    rows = [replace(row(f"p{at}"), checkpoint=at) for at in range(CHECKPOINTS + 1)]
    assert {figure.slice for figure in evidence_scores(rows, FIGURE, seed=0)} == {"all"}
    assert len({figure.slice for figure in evidence_scores(rows[1:], FIGURE, seed=0)}) == 1 + CHECKPOINTS


def reply(prompt: str, model: str = "fingerprint-1", tokens: int = 10) -> Reply:
    return Reply(
        domain="d", assistant="a", probe_id="p", episode_id="e", checkpoint=0, recalled=[], recalled_sources=[],
        prompt=prompt, model=model, injected_tokens=tokens,
    )  # fmt: skip


def test_equal_terms_say_nothing() -> None:
    figures = [replace(FIGURE, assistant=name) for name in ("a", "b")]
    terms = {
        "a": MeasuredSettings.of([reply("x/choice@1", tokens=10), reply("x/choice@1", tokens=30)], k=5),
        "b": MeasuredSettings.of([reply("x/choice_with_notes@2")], k=5, budget=100),
    }
    first, second = compare_settings(figures, terms)
    assert (first.differing_settings, second.differing_settings) == (
        None,
        None,
    )  # prompts of other names, a budget that a has not
    assert (first.injected_tokens, first.k, first.prompts) == (20.0, 5, ["x/choice@1"])


def test_unequal_terms_are_named_on_every_row() -> None:
    figures = [replace(FIGURE, assistant=name) for name in ("a", "b", "c")]
    terms = {
        "a": MeasuredSettings.of([reply("x/choice@1")], k=5),
        "b": MeasuredSettings.of([reply("x/choice@2")], k=30),
        "c": MeasuredSettings.of([reply("x/choice@1", model="fingerprint-1")], budget=7),
    }
    said = [figure.differing_settings for figure in compare_settings(figures, terms)]
    assert said == ["prompt x/choice 1, others 2; k 5, others 30", "prompt x/choice 2, others 1; k 30, others 5",
                    "prompt x/choice 1, others 2"]  # fmt: skip


def test_the_checks_find_hidden_terms_and_mixed_prompts() -> None:
    rules = {each.name: each.rule for each in EXPECTATIONS if each.table == "score.leaderboard"}
    hidden, mixed = rules["unequal_terms_are_shown"], rules["one_prompt_and_model_per_comparison"]
    assert isinstance(hidden, Together) and isinstance(mixed, Together)
    figures = [replace(FIGURE, assistant="a", k=5), replace(FIGURE, assistant="b", k=30)]
    assert list(hidden.at_fault(figures)) == [0, 1] and list(mixed.at_fault(figures)) == []
    shown = [
        replace(figure, differing_settings=said)
        for figure, said in zip(figures, differing_settings(figures), strict=True)
    ]
    assert list(hidden.at_fault(shown)) == []
    stale = [replace(FIGURE, fingerprint="1"), replace(FIGURE, assistant="b", fingerprint="2")]
    assert list(mixed.at_fault(stale)) == [0, 1]
    apart = [replace(figure, model=figure.assistant) for figure in stale]
    assert list(hidden.at_fault(apart)) == []  # two models are two comparisons
