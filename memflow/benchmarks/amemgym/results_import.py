"""Import of the results of the published code, scored by memflow's rules.

The folder of an agent has one folder per user, with overall_results.json, diagnosis_results.json and agent_config.json.
An answer belongs to the domain's probe of the same user, period and question; options are matched by their texts.
Where the model's answer had no option, the published code's random choice counts, as in its own metrics.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from memflow.benchmarks.amemgym.recorded_results import (
    DIAGNOSIS,
    OVERALL,
    ChoiceResult,
    StateResult,
    UserResults,
)
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File
from memflow.benchmarks.verdicts import UNPARSED
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import Probe, Reply, Verdict

CONFIG = "agent_config.json"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


class AgentModel(BaseModel):
    """The chat model of an agent. Other fields of its configuration, such as the key, are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())

    llm_model: str
    temperature: float | None = None
    max_tokens: int | None = None
    max_history_msgs: int | None = None


class AgentConfig(BaseModel):
    """The configuration of an agent of the published code."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str
    name: str
    llm_config: AgentModel
    agent_config: dict[str, Any] = {}

    def settings(self) -> dict[str, Any]:
        """Return the settings that the results depend on: of the agent's own, the numbers, since others may be keys."""
        model = self.llm_config.model_dump(exclude_none=True)
        numbers = {name: value for name, value in self.agent_config.items() if isinstance(value, int | float)}
        return {"type": self.type, "name": self.name, **model, **numbers}


def import_results(reader: Reader, domain: Domain, folder: Path) -> ImportedResults:
    """Return the results of an agent as those of the assistant `imported_TYPE@MODEL`.

    Missing and invalid results are replies with a reason. Raises BadInput if the domain has no probes, and if the
    folder has no results of the domain's users or results of several agents.
    """
    if reader.facts("question.probes", domain.name) is None:
        raise BadInput(
            f"the lake has no probes of {domain.name}. Generate them with `memflow run --domain {domain.name} --memory "
            "none`, then import the results."
        )
    probes = [probe for probe in reader.rows("question.probes", domain.name) if probe.split == "test"]
    run = _AgentRun.read(folder)
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


@dataclass(frozen=True)
class _AgentRun:
    """The results of an agent by user, its configuration, and the content hash of the files that were read."""

    config: AgentConfig
    users: Mapping[str, UserResults]
    digest: str
    faults: Sequence[str]

    @classmethod
    def read(cls, folder: Path) -> "_AgentRun":
        """Read the folder of an agent. Raises BadInput if it has no results, or results of several agents."""
        found = sorted({path.parent for name in (OVERALL, DIAGNOSIS) for path in folder.glob(f"*/{name}")})
        if not found:
            raise BadInput(
                f"{folder} has no folder of a user with {OVERALL}. Use the folder that the published code wrote for "
                "one agent."
            )
        sums: dict[str, str] = {}
        faults: list[str] = []
        users, configs = {}, {}
        for user in found:
            files = _UserFiles(user, sums, faults)
            if (config := files.json(CONFIG)) is not None:
                try:
                    configs[user.name] = AgentConfig.model_validate(config)
                except ValidationError as wrong:
                    faults.append(f"user {user.name}: {CONFIG}: {File.first(wrong)}")
            results = UserResults.of(files.periods(OVERALL), files.periods(DIAGNOSIS))
            faults += [f"user {user.name}: {fault}" for fault in results.faults]
            users[user.name] = results
        if not configs:
            raise BadInput(f"{folder} has no valid {CONFIG}, which names the agent and its model. Add one.")
        config, *others = dict.fromkeys(json.dumps(each.settings()) for each in configs.values())
        if others:
            raise BadInput(
                f"{folder} has results of different agents: {config} and {others[0]}. Use one folder per agent."
            )
        return cls(next(iter(configs.values())), users, digest(sums), faults)


@dataclass(frozen=True)
class _UserFiles:
    """The files of one user. Missing and unreadable files are None, with a sentence in `faults`."""

    folder: Path
    sums: dict[str, str]
    faults: list[str]

    def json(self, name: str) -> Any:
        """Return the content of a JSON file."""
        path = self.folder / name
        if not path.is_file():
            return None
        content = path.read_bytes()
        self.sums[f"{self.folder.name}/{name}"] = hashlib.sha256(content).hexdigest()
        try:
            return json.loads(content)
        except ValueError as wrong:
            self.faults.append(f"user {self.folder.name}: {name} is truncated or invalid JSON ({wrong})")
            return None

    def periods(self, name: str) -> Any:
        """Return the content of a file of results: a list of periods, which are lists."""
        found = self.json(name)
        if found is None or (isinstance(found, list) and all(isinstance(each, list) for each in found)):
            return found
        self.faults.append(f"user {self.folder.name}: {name} is not a list of periods with lists of results")
        return None


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
        choices = {
            (user, period, result.query): result
            for user, results in self.users.items()
            for (period, _), result in results.choices.items()
        }
        numbers = {
            (user, results.choices[at].query): at[1]
            for user, results in self.users.items()
            for at in results.choices
        }
        questions = {probe.probe_id: probe.question for probe in self.probes if probe.kind == "choice"}
        for probe in self.probes:
            if probe.kind == "choice":
                chosen = choices.get((probe.episode_id, probe.checkpoint, probe.question))
                yield self._missing(probe) if chosen is None else self._choice(probe, chosen)
            else:
                number = numbers.get((probe.episode_id, questions.get(probe.parent or "", "")))
                found = self.users[probe.episode_id].states if probe.episode_id in self.users else {}
                stated = None if number is None else found.get((probe.checkpoint, number))
                yield self._missing(probe) if stated is None else self._state(probe, stated)

    def verdicts(self, replies: Sequence[Reply]) -> list[Verdict]:
        """Return the verdicts on the replies. An answer that could not be read counts as unparsed."""
        return [
            replace(row, value=1.0) if row.metric == UNPARSED and row.probe_id in self.unparsed else row
            for row in make_verdicts(self.domain, self.probes, replies)
        ]

    def _choice(self, probe: Probe, result: ChoiceResult) -> Reply:
        usage = result.llm_usage_statistics
        said = replace(
            self._reply(probe, result.raw_response),
            attempts=1,
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.answer_tokens,
            latency_s=usage.time_elapsed,
        )
        if not probe.gold or probe.options[int(probe.gold) - 1] != result.answer_choice:
            return replace(said, reason="the gold option of the recorded question is not that of the probe")
        if result.response_choice not in probe.options:
            return replace(said, reason="the recorded choice is not among the options of the probe")
        if (result.response_choice == result.answer_choice) != (result.scores.accuracy == 1):
            return replace(said, reason="the recorded score contradicts the recorded choice")
        if result.json_error:
            self.unparsed.add(probe.probe_id)
        return replace(said, parsed=str(1 + probe.options.index(result.response_choice)))

    def _state(self, probe: Probe, result: StateResult) -> Reply:
        said = replace(self._reply(probe, result.raw_response), attempts=1)
        if result.truth != json.loads(probe.gold):
            return replace(said, reason="the true values in the recorded answer are not those of the probe")
        if any((each.answer_state == each.response_state) != (each.score == 1) for each in result.results):
            return replace(said, reason="a recorded score contradicts the recorded value")
        if any(each.json_error for each in result.results):
            self.unparsed.add(probe.probe_id)
        return replace(said, parsed=json.dumps(result.stated, ensure_ascii=False))

    def _missing(self, probe: Probe) -> Reply:
        return self._reply(probe, None, "the recorded run has no valid answer")

    def _reply(self, probe: Probe, text: str | None, reason: str | None = None) -> Reply:
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
