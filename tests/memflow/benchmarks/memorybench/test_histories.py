"""Histories of a case over the steps: step 0 starts the history, and metrics of every range become shares."""

from typing import Any

from checkpoint_scores import curve, followed

from memflow.benchmarks.registry import find_domain
from memflow.records import Probe
from memflow.scoring.catalog import find_metric

CASES = 28


async def stepwise(run_domain: Any, sample: Any, end: str = "stepwise") -> Any:
    return await run_domain(find_domain(f"memorybench_demo_{end}"), sample)


async def test_stepwise_probes_of_a_case_share_one_question_id(run_domain: Any, sample: Any) -> None:
    for end in ("stepwise", "onpolicy"):
        run = await stepwise(run_domain, sample, end)
        for probe in run.probes:
            if probe.split == "train":
                assert (probe.question_id, probe.opens) == (None, False)
            else:
                assert probe.probe_id == f"{probe.question_id}/{probe.checkpoint}"
                assert probe.opens == (probe.checkpoint == 0)


async def test_forgetting_scores_match_hand_computation(run_domain: Any, sample: Any, tmp_path: Any) -> None:
    run = await stepwise(run_domain, sample)
    cases = list(dict.fromkeys(probe.question_id for probe in run.probes if probe.question_id))
    assert len(cases) == CASES
    # Case n of four has this share of its metric's range at steps 0 to 3; so it is learnt or forgotten.
    shares = ((0.0, 0.5, 0.5, 1.0), (0.5, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 0.5, 1.0))

    def worth(probe: Probe) -> float:
        low, high = find_metric(probe.metric).range
        share = shares[cases.index(str(probe.question_id)) % 4][probe.checkpoint]
        return low + share * (high - low)

    found = followed(tmp_path, run.domain.name, run.probes, {"full": worth})["full"]
    assert CASES % 4 == 0
    assert found["guess", "all"].value == 1.5 / 4
    assert curve(found, "accuracy") == [1.5 / 4, 1.5 / 4, 2.0 / 4, 2.0 / 4]
    assert curve(found, "forward_transfer") == [0.5 / 4, 0.5 / 4, 0.5 / 4]
    assert curve(found, "forgetting") == [0.5 / 4, 0.5 / 4, 1.0 / 4]
    assert curve(found, "backward_transfer") == [0.5 / 4, 0, 0]
    assert found["all_correct", "all"].value == (0.5 + 0 + 0 + 0.5) / 4
    assert found["all_wrong", "all"].value == 1 / 4
    assert found["flip_rate", "all"].value == (0.5 / 2 + 2 / 2 + 0 + 1 / 2) / 4
    last = found["forgetting", "all"]
    assert (last.n, last.n_episodes) == (CASES, 1) and last.low is not None and last.low < 0.25 < last.high
    assert last.interval_units == "cases", "there is one episode, of independent cases"
