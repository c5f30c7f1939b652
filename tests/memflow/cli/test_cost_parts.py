"""The largest parts of a plan: shares, the most expensive memory, and what each benchmark says about its stages."""

from dataclasses import replace
from pathlib import Path

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.costs import STAGES
from memflow.cli.cost_parts import large_parts
from memflow.run.dry_run import RequestCount, StepForecast
from resources.settings.chat_models import Model
from resources.settings.settings import load

DOMAIN = "memorybench_legal~6"


def step(stage: str, calls: int, tokens: int, assistant: str = "", model: str = "scripted") -> StepForecast:
    count = RequestCount("role", model, calls, tokens, 0, 0)
    return StepForecast(stage, stage, DOMAIN, assistant, 1.0, (count,))


def test_stages_with_a_large_share_are_listed_the_most_expensive_first() -> None:
    steps = [
        step("feedback", 62, 2_000),
        step("answer", 3, 900, "none"),
        step("answer", 3, 7_000, "full"),
        step("score", 2, 100),
    ]
    answer, feedback = large_parts(steps, load())
    assert (answer.stage, answer.calls, answer.of_calls, answer.tokens) == ("answer", 6, 70, 7_900)
    assert (answer.largest_assistant, answer.largest_share) == ("full", pytest.approx(7_000 / 7_900))
    assert (feedback.calls, feedback.largest_assistant) == (62, "")
    assert str(feedback).startswith(
        "memorybench_legal~6: 62 of 70 requests and 20% of 10,000 tokens are in stage feedback, dialogues about "
        "training cases, which every memory receives"
    )
    assert "full has 89% of these tokens." in str(answer)


def test_shares_are_of_the_cost_if_models_have_prices() -> None:
    dear = Model(url="http://127.0.0.1:9/v1", model="a/b", price_in=10.0)
    settings = load().model_copy(update={"models": {**load().models, "dear": dear}})
    steps = [step("feedback", 1, 9_000), step("score", 1, 1_000, model="dear")]
    first, second = large_parts(steps, settings)
    assert (first.stage, first.cost_share) == ("score", 1.0) and second.cost_share == 0.0


def test_domain_without_requests_has_no_parts() -> None:
    assert large_parts([replace(step("answer", 0, 0), counts=())], load()) == []


@pytest.mark.parametrize("domain", registry.domains().values(), ids=lambda each: each.name)
def test_purposes_and_reductions_of_every_domain_are_complete_sentences(domain) -> None:
    parts = registry.benchmark(domain.benchmark).cost_parts(domain)
    assert set(parts) <= set(STAGES)
    for part in (*parts.values(), *STAGES.values()):
        assert part.purpose and not part.purpose.endswith(".") and part.purpose[0].islower()
        assert part.reduction.endswith(".") and part.reduction[0].isupper()


def test_plan_names_what_a_sample_leaves_out_and_its_largest_parts(empty) -> None:
    planned = empty.json("plan", "--domain", "memorybench_demo", "--memory", "full", "--limit", "1")
    assert planned["left_out"] == {
        "memorybench_demo~1": "without 1 training dialogue that no selected question needs"
    }
    assert {row["stage"] for row in planned["stages"]} == {"answer"}
    assert [part["stage"] for part in planned["largest_parts"]] == ["answer"]
    text = empty("plan", "--domain", "memorybench_demo", "--memory", "full", "--limit", "2").stdout
    assert "What costs most" in text and "requests and" in text
    assert "memorybench_demo~2 is a sample without" in text


def test_parameter_of_an_own_domain_keeps_proportional_training_cases(empty) -> None:
    Path("memflow.toml").write_text(
        '[own_domains.mine]\nbenchmark = "memorybench"\ndatasets = ["memorybench_sample"]\n'
        'parameters = { sample_training = "proportional" }\n',
        encoding="utf-8",
    )
    planned = empty.json("plan", "--domain", "mine", "--memory", "full", "--limit", "1")
    assert planned["left_out"] == {} and "feedback" in {row["stage"] for row in planned["stages"]}
