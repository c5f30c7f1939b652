"""The schedule of each protocol: at which checkpoint of which episode a probe is asked (paper, A.3.3 to A.3.7).

off_policy   Each test case is asked once. The memory contains all training dialogues and the corpus of the case.
stepwise     Each test case is asked at every checkpoint. One memory contains all corpora, then the training dialogues.
on_policy    As stepwise, but the evaluated assistant leads the training dialogues.
training     Each training case is asked again. The memory contains all training dialogues.
same         Each training case is asked twice: before and after its own dialogue is written to memory.

The training cases of a step are a batch of all cases, or a random sample (A.3.6, A.3.7). Each step ends with a
checkpoint; checkpoint 0 is before the first step.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import Parameters, parameters_of
from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.records import Probe, Turn

T = TypeVar("T")
REPEATED = ("training", "same")
"""Protocols that ask training cases again."""
SHARED_MEMORY = ("stepwise", "on_policy")
"""Protocols with all corpora in one memory before the first step."""
WITHOUT, WITH = "without", "with"
"""The ends of the ids of the two probes of a case under the protocol `same`: before and after feedback."""


def schedule_probes(domain: Domain, probes: Sequence[Probe]) -> list[Probe]:
    """Return the scheduled probes, each with its checkpoint and episode, followed by the unchanged training probes."""
    parameters = parameters_of(domain)
    train = [probe for probe in probes if probe.split == "train"]
    if parameters.protocol in REPEATED:
        return [twin for probe in train for twin in _repeat(parameters, probe)] + train
    if parameters.protocol in SHARED_MEMORY:
        test = [probe for probe in probes if probe.split == "test"]
        steps = checkpoints(parameters, len(train))
        return [_at_step(probe, step) for step in steps for probe in test] + train
    return list(probes)


def place_turns(domain: Domain, turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns of the corpora. If dialogues are written first, a corpus continues their episode."""
    off_policy = parameters_of(domain).protocol in ("off_policy", "training")
    return [replace(turn, base=DIALOGUES if off_policy else None) for turn in turns]


def own_episode(case_id: str) -> str:
    """Return the id of the episode with the dialogue of this case only."""
    return f"same/{case_id}"


def _at_step(probe: Probe, step: int) -> Probe:
    """Return the test probe for the checkpoint after `step`. At step 0 the memory has the corpora but no dialogue."""
    return replace(
        probe,
        probe_id=f"{probe.probe_id}/{step}",
        question_id=probe.probe_id,
        opens=not step,
        episode_id=DIALOGUES,
        checkpoint=step,
    )


def _repeat(parameters: Parameters, probe: Probe) -> list[Probe]:
    """Return the test probes of a training case. Their evidence is in the corpus, or else the user's first critique."""
    evidence = probe.evidence or [feedback_id(probe.probe_id, 2)]
    twin = replace(probe, split="test", evidence=evidence)
    if parameters.protocol == "training":
        return [replace(twin, probe_id=f"{probe.probe_id}/again")]
    own = own_episode(probe.probe_id)
    before = own if probe.episode_id == DIALOGUES else probe.episode_id
    return [
        replace(twin, probe_id=f"{probe.probe_id}/{WITHOUT}", episode_id=before),
        replace(twin, probe_id=f"{probe.probe_id}/{WITH}", episode_id=own, checkpoint=1),
    ]


def shuffled(cases: Sequence[T], seed: int) -> list[T]:
    """Return all cases in an order that depends only on the seed."""
    found = list(cases)
    random.Random(seed).shuffle(found)
    return found


def batches(cases: Sequence[T], size: int, seed: int) -> list[list[T]]:
    """Return all cases in batches of `size`, in random order. The last batch can be smaller."""
    order = shuffled(cases, seed)
    return [order[first : first + size] for first in range(0, len(order), size)]


def draws(cases: Sequence[T], size: int, steps: int, seed: int) -> list[list[T]]:
    """Return `size` cases for each step. A case occurs at most once per step but can recur in other steps."""
    generator = random.Random(seed)
    return [generator.sample(cases, min(size, len(cases))) for _ in range(steps)]


def checkpoints(parameters: Parameters, training: int) -> range:
    """Return the checkpoints of a domain with this number of training cases."""
    if parameters.protocol == "stepwise":
        return range(1 + math.ceil(training / parameters.batch))
    return range(1 + parameters.steps if parameters.protocol == "on_policy" else 1)
