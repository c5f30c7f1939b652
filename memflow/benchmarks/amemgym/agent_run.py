"""Reader of the folder that the published code writes for an agent: results per user, and the agent's configuration.

The folder has one folder per user, with overall_results.json, diagnosis_results.json and agent_config.json.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from memflow.benchmarks.amemgym.recorded_results import DIAGNOSIS, OVERALL, UserResults
from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.raw_records import first_error
from memflow.errors import BadInput
from memflow.fingerprint import digest

CONFIG = "agent_config.json"
Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class AgentModel(BaseModel):
    """The chat model of an agent. Other fields of its configuration, such as the API key, are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())

    llm_model: Name
    temperature: float | None = None
    max_tokens: int | None = None
    max_history_msgs: int | None = None


class AgentConfig(PublishedModel):
    """The configuration of an agent of the published code."""

    type: Name
    name: Name
    llm_config: AgentModel
    agent_config: dict[str, Any] = Field({})

    def settings(self) -> dict[str, Any]:
        """Return the settings that affect results, by name; no text of `agent_config`, since it may be an API key."""
        model = self.llm_config.model_dump(exclude_none=True)
        numbers = {name: value for name, value in self.agent_config.items() if isinstance(value, int | float)}
        return {"type": self.type, "name": self.name, **model, **numbers}


@dataclass(frozen=True)
class AgentRun:
    """The results of an agent by user, the agent's configuration, and the content hash of the files."""

    config: AgentConfig
    users: Mapping[str, UserResults]
    digest: str
    faults: Sequence[str]


def read_agent_run(folder: Path) -> AgentRun:
    """Return the results in an agent's folder. Raises BadInput for no results and for several agents."""
    checksums: dict[str, str] = {}
    faults: list[str] = []
    contents: dict[str, dict[str, Any]] = {}
    for path in sorted(path for name in (OVERALL, DIAGNOSIS, CONFIG) for path in folder.glob(f"*/{name}")):
        user, content = path.parent.name, path.read_bytes()
        checksums[f"{user}/{path.name}"] = hashlib.sha256(content).hexdigest()
        try:
            contents.setdefault(user, {})[path.name] = json.loads(content)
        except (ValueError, RecursionError) as error:
            faults.append(f"user {user}: {path.name} is truncated or invalid JSON ({error})")
    users: dict[str, UserResults] = {}
    configs: dict[str, AgentConfig] = {}
    for user, files in contents.items():
        users[user] = UserResults.from_files(files.get(OVERALL), files.get(DIAGNOSIS))
        faults += [f"user {user}: {fault}" for fault in users[user].faults]
        try:
            config = AgentConfig.model_validate(files.get(CONFIG))
            configs[json.dumps(config.settings())] = config
        except ValidationError as error:
            faults.append(f"user {user}: {CONFIG}: {first_error(error)}")
    if not checksums:
        raise BadInput(
            f"{folder} has no file USER/{OVERALL}. Use the folder that the published code wrote for one agent."
        )
    if not any(results.choices or results.states for results in users.values()):
        first = faults[0] if faults else "its files have no answer"
        others = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise BadInput(f"{folder} has no valid result: {first}{others}. Fix or copy the files again.")
    if not configs:
        raise BadInput(f"{folder} has no valid {CONFIG}, which names the agent and its model. Add it.")
    if len(configs) > 1:
        raise BadInput(
            f"{folder} has results of different agents: {' and '.join([*configs][:2])}. Use one folder per agent."
        )
    return AgentRun(next(iter(configs.values())), users, digest(checksums), faults)
