"""The calibration of judges: known answers, sensitivity and specificity, and what is withheld."""

import gzip
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from memflow.benchmarks import registry
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.errors import ChatError
from memflow.judges.calibration import (
    BOUND,
    calibrate,
    known_answers,
    languages,
    share_of_items,
    youden_limit,
)
from memflow.judges.cases import JudgeCase
from memflow.judges.catalog import all_cases
from memflow.judges.scripted import failing_handlers
from memflow.judges.withheld import withheld_reason, without_withheld
from memflow.metrics.intervals import Interval
from memflow.run.handlers import handlers

CASES = [case for case in all_cases() if case.calibration]
J_2025 = next(case for case in CASES if case.prompt.name == "locomo/j_2025")
KNOWN = [(case, language) for case in CASES for language in languages() if known_answers(case, language)]
PUBLISHED_RUNS = Path(os.environ.get("MEMFLOW_DATA", "missing")) / "published_runs"
EVERY_PROMPT = {
    "memorybench": {"variants": ["published_code"]},
    "beam": {"contracts": ["published", "corrected"]},
}
"""Parameters with which a benchmark sends all prompts of its judges."""
BILINGUAL = {"amemgym/claims", "dialogues/judge", "dialogues/judge_rubric"}


def ids(value: JudgeCase | str) -> str:
    return value if isinstance(value, str) else value.prompt.name


def labels(label: str) -> ScriptedChat:
    return ScriptedChat({J_2025.prompt.name: lambda request: f'{{"label": "{label}"}}'})


@pytest.mark.parametrize(("case", "language"), KNOWN, ids=ids)
def test_known_answers_are_at_least_100_with_right_and_wrong_ones_of_the_prompts_fields(
    case: JudgeCase, language: str
):
    answers = known_answers(case, language)
    assert len(answers) >= 100
    assert (
        min(sum(answer.is_right for answer in answers), sum(not answer.is_right for answer in answers)) >= 50
    )
    texts = {True: set(), False: set()}
    for answer in answers:
        assert set(answer.fields) == set(case.prompt.fields)
        assert "$" not in answer.fields[case.field]
        texts[answer.is_right].add((answer.item, answer.fields[case.field]))
    assert texts[True].isdisjoint(texts[False])


def test_prompts_of_bilingual_benchmarks_have_known_answers_in_both_languages():
    both = {case.prompt.name for case, language in KNOWN if language == "zh"}
    assert both >= BILINGUAL
    assert {case.prompt.name for case, language in KNOWN if language == "en"} == {
        case.prompt.name for case in CASES
    }


def test_right_answers_with_a_short_gold_contain_it_and_wrong_ones_do_not():
    for case, language in KNOWN:
        if case.calibration != "answers":
            continue
        for answer in known_answers(case, language):
            words = answer.fields["gold"].removeprefix("the ").removeprefix("a ").removeprefix("by ").lower()
            if words.startswith(("3 may", "in the cellar")):  # reworded in another order
                continue
            assert (words in answer.fields[case.field].lower()) == answer.is_right, answer


@pytest.mark.parametrize(("case", "language"), KNOWN, ids=ids)
async def test_scripted_judge_passes(case: JudgeCase, language: str):
    result = await calibrate(ScriptedChat(handlers()), case, language)
    assert result.passed and result.reason is None
    assert result.sensitivity_low is not None and result.sensitivity_low > 0.85
    assert result.out_of_form == 0


@pytest.mark.parametrize("case", CASES, ids=ids)
async def test_judge_that_accepts_everything_fails_and_the_reason_has_both_counts(case: JudgeCase):
    chat = ScriptedChat(failing_handlers(handlers(), [case], "agreeable"))
    result = await calibrate(chat, case, "en", name="small")
    assert (result.sensitivity, result.specificity, result.passed) == (1.0, 0.0, False)
    assert result.reason == (
        f"not scored: the judge small accepts 52 of 52 right and {result.wrong} of {result.wrong} wrong answers "
        f"({case.prompt.name}, en)"
    )


async def test_verdicts_out_of_form_count_neither_as_right_nor_as_wrong():
    result = await calibrate(labels("MAYBE"), J_2025, "en", name="small")
    assert (result.right, result.wrong, result.sensitivity, result.specificity) == (0, 0, None, None)
    assert (result.out_of_form, result.cases, result.passed) == (117, 117, False)
    assert result.reason is not None and "; 117 of 117 verdicts are out of form" in result.reason


async def test_reason_of_a_judge_whose_server_fails_names_the_failure():
    class Down(ScriptedChat):
        async def complete(self, request):
            raise ChatError("http://127.0.0.1:9 does not answer")

    result = await calibrate(Down(handlers()), J_2025, "en", name="small")
    assert result.passed is False and result.reason is not None
    assert "117 requests have no usable answer" in result.reason and "does not answer" in result.reason


async def test_prompt_without_known_answers_is_not_calibrated_and_says_so():
    quality = next(case for case in all_cases() if case.prompt.name == "memorybench/quality")
    result = await calibrate(ScriptedChat(handlers()), quality, "en")
    assert (result.cases, result.passed) == (0, None)
    assert result.reason == "there are no known answers for the prompt memorybench/quality in en"


def test_every_judge_prompt_has_a_case_and_a_fenced_answer():
    judged = {
        prompt.name
        for domain in registry.domains().values()
        for table in ("score.verdicts", "score.claims")
        for prompt in registry.benchmark(domain.benchmark).judge_prompts(
            replace(domain, parameters={**domain.parameters, **EVERY_PROMPT.get(domain.benchmark, {})}), table
        )
    }
    assert judged == {case.prompt.name for case in all_cases()}
    assert all(case.field in case.prompt.untrusted for case in all_cases())


def test_every_judged_metric_has_a_case():
    metrics = {metric for benchmark in registry.benchmarks() for metric in benchmark.judged_metrics}
    metrics -= {"task_averaged_accuracy", "unclear_label"}  # computed from the labels of accuracy
    judged_together = registry.benchmark("halumem").judged_metrics  # four decisions have all of its metrics
    assert len(judged_together & {case.metric for case in all_cases()}) == 4
    metrics -= judged_together
    metrics -= {"event_f1", "event_precision", "event_list_recall"}  # computed from the labels of event_tau
    metrics -= {"j_recorded"}  # the labels of a recorded run, whose judge memflow does not call
    assert metrics <= {case.metric for case in all_cases()}


def test_youden_limit_combines_the_distances_of_both_limits():
    limit = youden_limit(Interval(0.9, 0.8, 0.95), Interval(0.8, 0.7, 0.9))
    assert limit == pytest.approx(0.7 - 0.02**0.5)
    assert youden_limit(Interval(None, None, None), Interval(0.8, 0.7, 0.9)) is None


async def test_failed_judge_is_not_asked_for_any_prompt_of_its_metric():
    failed = await calibrate(labels("CORRECT"), J_2025, "en", name="small")
    passed = replace(failed, prompt="locomo/other", passed=True, reason=None)
    unrelated = replace(passed, prompt="locomo/j_strict", metric="j_strict")
    asked: list[str] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request.prompt)
        return '{"reason": "It fits.", "label": "WRONG"}'

    names = ("locomo/j_2025", "locomo/other", "locomo/j_strict")
    chat = ScriptedChat(dict.fromkeys(names, answer))
    judges = without_withheld({"small": chat, "large": chat}, [failed, passed, unrelated])
    assert judges["large"] is chat and judges["small"].fingerprint == chat.fingerprint
    request = ChatRequest("locomo/j_2025", {}, (), chat.sampling)
    for name in names[:2]:
        with pytest.raises(ChatError, match="52 of 52 right and 65 of 65 wrong"):
            await judges["small"].complete(replace(request, prompt=name))
        assert withheld_reason(judges["small"], name) == failed.reason
        assert withheld_reason(judges["large"], name) is None
    await judges["small"].complete(replace(request, prompt="locomo/j_strict"))
    assert asked == ["locomo/j_strict"]


def recorded_votes(run: str) -> list[list[tuple[dict[str, str], bool]]]:
    """Return the answers of a run by conversation, each with the majority of the recorded judge's three verdicts."""
    recorded = json.loads(gzip.decompress((PUBLISHED_RUNS / run).read_bytes()))["detailed_results"]
    return [
        [(answer, sum(answer["llm_judgments"].values()) > 1) for answer in answers]
        for answers in recorded.values()
    ]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", str(text).lower())


@pytest.mark.skipif(not PUBLISHED_RUNS.is_dir(), reason="needs published_runs in MEMFLOW_DATA")
def test_recorded_judge_passes_on_published_answers_and_one_that_accepts_most_wrong_ones_does_not():
    """dial481/locomo-audit: gpt-4o-mini on answers that equal the gold, and on 1,540 deliberately wrong ones."""
    equal = [
        [
            accepted
            for answer, accepted in answers
            if words(answer["generated_answer"]) == words(answer["golden_answer"])
        ]
        for answers in recorded_votes("fullcontext-locomo/gpt-4o-mini-memos.eval_results.json.gz")
    ]
    wrong = [
        [not accepted for _, accepted in answers]
        for answers in recorded_votes("wronganswers-locomo/v1.ap_eval_results_scored.json.gz")
    ]
    assert (sum(map(len, equal)), sum(map(len, wrong))) == (269, 1540)
    sensitivity, specificity = share_of_items(equal), share_of_items(wrong)
    assert (sensitivity.value, specificity.value) == (1.0, pytest.approx(1 - 164 / 1540))
    limit = youden_limit(sensitivity, specificity)
    assert limit is not None and limit > 0.8
    # the same audit: a judge accepts 62.8 % of vague answers
    vague = [[place % 1000 >= 628 for place in range(at, at + 154)] for at in range(0, 1540, 154)]
    limit = youden_limit(sensitivity, share_of_items(vague))
    assert limit is not None and limit < BOUND
