"""Import of the results of the published code, scored by memflow's rules.

An answer belongs to the domain's probe of the same user, period and question; options are matched by their texts. If
the model's answer names no option, the published code's random choice counts, as in its own metrics. agent_run.py reads
the files.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memflow.benchmarks.amemgym.agent_run import read_agent_run
from memflow.benchmarks.amemgym.recorded_results import ChoiceResult, StateResult, UserResults
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_results import stored_probes
from memflow.benchmarks.verdicts import UNPARSED
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Verdict

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def import_results(reader: Reader, domain: Domain, folder: Path) -> ImportedResults:
    """Return an agent's results as replies and verdicts of the assistant `imported_TYPE@MODEL`.

    A missing or invalid result becomes a reply with a reason. Raises BadInput if the domain has no probes, or if the
    folder has no results of the domain's users or results of several agents.
    """
    probes = stored_probes(reader, domain)
    run = read_agent_run(folder)
    users = dict.fromkeys(probe.episode_id for probe in probes)
    if not any(user in run.users for user in users):
        raise BadInput(
            f"none of the {len(run.users)} users in {folder} is a user of {domain.name}. Use the domain of the users "
            "that the run was recorded with."
        )
    name = "@".join(
        _NOT_IN_NAMES.sub("-", part) for part in (run.config.type, run.config.llm_config.llm_model)
    )
    answers = _Answers(domain, f"imported_{name}", probes, run.users)
    replies = list(answers.replies())
    return ImportedResults(
        assistant=f"imported_{name}",
        model=run.config.llm_config.llm_model,
        source=f"{run.config.name} of AMemGym's published code, content hash {run.digest}",
        settings=run.config.settings(),
        replies=replies,
        verdicts=answers.verdicts(replies),
        faults=[
            *run.faults,
            *(f"user {user} is not a user of {domain.name}" for user in run.users if user not in users),
            *(f"user {user} of {domain.name} has no results" for user in users if user not in run.users),
        ],
    )


@dataclass
class _Answers:
    """The recorded answers to a domain's probes."""

    domain: Domain
    assistant: str
    probes: Sequence[Probe]
    users: Mapping[str, UserResults]
    unparsed: set[str] = field(default_factory=set)
    """The probes whose recorded answer could not be read."""

    def replies(self) -> Iterator[Reply]:
        """Yield one reply per probe; a reply without a recorded answer has a reason."""
        choices: dict[tuple[str, int, str], ChoiceResult] = {}  # by user, period and question
        numbers: dict[tuple[str, str], int] = {}  # of questions, by user and question
        for user, results in self.users.items():
            for (period, number), result in results.choices.items():
                choices[user, period, result.query] = result
                numbers[user, result.query] = number
        questions = {probe.probe_id: probe.question for probe in self.probes if probe.kind == "choice"}
        for probe in self.probes:
            if probe.kind == "choice":
                choice = choices.get((probe.episode_id, probe.checkpoint, probe.question))
                yield self._missing_reply(probe) if choice is None else self._choice_reply(probe, choice)
            else:
                question = numbers.get((probe.episode_id, questions.get(probe.parent or "", "")))
                states = self.users[probe.episode_id].states if probe.episode_id in self.users else {}
                state = None if question is None else states.get((probe.checkpoint, question))
                yield self._missing_reply(probe) if state is None else self._state_reply(probe, state)

    def verdicts(self, replies: Sequence[Reply]) -> list[Verdict]:
        """Return the verdicts on the replies. A recorded answer with `json_error` counts as unparsed."""
        return [
            replace(row, value=1.0) if row.metric == UNPARSED and row.probe_id in self.unparsed else row
            for row in make_verdicts(self.domain, self.probes, replies)
        ]

    def _choice_reply(self, probe: Probe, result: ChoiceResult) -> Reply:
        """Return the recorded choice as a reply; with a reason if it contradicts the probe or its own score."""
        usage = result.llm_usage_statistics
        reply = replace(
            self._empty_reply(probe, result.raw_response),
            attempts=1,
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.answer_tokens,
            latency_s=usage.time_elapsed,
        )
        if not probe.gold or probe.options[int(probe.gold) - 1] != result.answer_choice:
            return replace(reply, reason="the gold option of the recorded question is not that of the probe")
        if result.response_choice not in probe.options:
            return replace(reply, reason="the recorded choice is not among the options of the probe")
        if (result.response_choice == result.answer_choice) != (result.scores.accuracy == 1):
            return replace(reply, reason="the recorded score contradicts the recorded choice")
        if result.json_error:
            self.unparsed.add(probe.probe_id)
        return replace(reply, parsed=str(1 + probe.options.index(result.response_choice)))

    def _state_reply(self, probe: Probe, result: StateResult) -> Reply:
        """Return the recorded values as a reply; with a reason if they contradict the probe or their own scores."""
        reply = replace(self._empty_reply(probe, result.raw_response), attempts=1)
        if result.truth != json.loads(probe.gold):
            return replace(reply, reason="the true values in the recorded answer are not those of the probe")
        if any((row.answer_state == row.response_state) != (row.score == 1) for row in result.results):
            return replace(reply, reason="a recorded score contradicts the recorded value")
        if any(row.json_error for row in result.results):
            self.unparsed.add(probe.probe_id)
        return replace(reply, parsed=json.dumps(result.answers, ensure_ascii=False))

    def _missing_reply(self, probe: Probe) -> Reply:
        return self._empty_reply(probe, None, "the recorded run has no valid answer")

    def _empty_reply(self, probe: Probe, text: str | None, reason: str | None = None) -> Reply:
        """Return a reply without a parsed answer; `text` is the recorded text."""
        return Reply(
            domain=self.domain.name,
            assistant=self.assistant,
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            text=text,
            recalled=[],
            recalled_sources=[],
            reason=reason,
        )
