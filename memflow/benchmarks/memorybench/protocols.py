"""What a protocol makes of a domain's probes and turns: what is asked, where and when (paper, A.3.3 to A.3.7).

Off-policy, the test cases are asked once, of the dialogues' memory with the case's corpus on top. By steps, there is
one memory with all corpora in it, and the test cases are asked at every checkpoint. Two protocols ask the training
cases again, and no others: `training` of the memory of all dialogues, `same` before and after the case's own. A case
that is asked again is a test probe beside the training probe that feedback is gathered on.

What an assistant lives through is episodes.py.
"""

from collections.abc import Sequence
from dataclasses import replace

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import Parameters, parameters_of
from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.steps import checkpoints
from memflow.records import Probe, Turn

AGAIN = ("training", "same")
"""Protocols that ask what was learnt from."""
SHARED = ("stepwise", "on_policy")
"""Protocols with all corpora in one memory, before the first step."""


def asked(domain: Domain, probes: Sequence[Probe]) -> list[Probe]:
    """The domain's probes: test probes where and when its protocol asks them, and the training probes as they are."""
    parameters = parameters_of(domain)
    train = [probe for probe in probes if probe.split == "train"]
    if parameters.protocol in AGAIN:
        return [twin for probe in train for twin in _again(parameters, probe)] + train
    if parameters.protocol in SHARED:
        test = [probe for probe in probes if probe.split == "test"]
        steps = checkpoints(parameters, len(train))
        return [_at(probe, step) for step in steps for probe in test] + train
    return list(probes)


def placed(domain: Domain, turns: Sequence[Turn]) -> list[Turn]:
    """The corpora's turns: built on the dialogues only where these come first."""
    off_policy = parameters_of(domain).protocol in ("off_policy", "training")
    return [replace(turn, base=DIALOGUES if off_policy else None) for turn in turns]


def alone(case_id: str) -> str:
    """The episode of one case's own dialogue."""
    return f"same/{case_id}"


def _at(probe: Probe, step: int) -> Probe:
    """The case at a step. At step 0 nothing was learnt: its corpus is in memory, and no dialogue."""
    return replace(
        probe,
        probe_id=f"{probe.probe_id}/{step}",
        question_id=probe.probe_id,
        opens=not step,
        episode_id=DIALOGUES,
        checkpoint=step,
    )


def _again(parameters: Parameters, probe: Probe) -> list[Probe]:
    """A training case asked again: it rests on its corpus, or on what its own user found fault with first."""
    evidence = probe.evidence or [feedback_id(probe.probe_id, 2)]
    twin = replace(probe, split="test", evidence=evidence)
    if parameters.protocol == "training":
        return [replace(twin, probe_id=f"{probe.probe_id}/again")]
    own = alone(probe.probe_id)
    before = own if probe.episode_id == DIALOGUES else probe.episode_id
    return [
        replace(twin, probe_id=f"{probe.probe_id}/without", episode_id=before),
        replace(twin, probe_id=f"{probe.probe_id}/with", episode_id=own, checkpoint=1),
    ]
