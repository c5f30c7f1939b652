"""The facts that plans combine with what happens to them."""

from memflow.benchmarks.retraction.load import load_words
from memflow.benchmarks.retraction.plans import RESTRICTED, SINGLE, make_plans
from tests.memflow.benchmarks.retraction.conftest import generate


def test_no_fact_is_in_a_frame_that_it_does_not_fit() -> None:
    rows = generate(languages=("en", "zh"))
    frames = {
        (fact.name, frame)
        for plan in make_plans(rows.domain, rows.records)
        for fact in plan.facts
        for frame in (fact.fate, RESTRICTED.get(fact.fate), fact.owner and "relative")
    } | {
        (probe.variables[0], (probe.question_id or "").rpartition("/")[2])
        for probe in rows.probes
        if probe.options
    }
    for words in load_words(rows.records).values():
        assert {*words.unfit} <= {*SINGLE, *RESTRICTED.values(), "relative"}
        for frame, facts in words.unfit.items():
            assert {*facts} < {*words.facts}
            assert frames.isdisjoint((fact, frame) for fact in facts)
            assert any((fact, frame) in frames for fact in words.facts)
