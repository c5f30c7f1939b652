"""Reader of the folder that the published code writes for an agent: results per user, and the agent's configuration.

The folder has one folder per user, with overall_results.json, diagnosis_results.json and agent_config.json.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from memflow.benchmarks.amemgym.recorded_results import DIAGNOSIS, OVERALL, UserResults
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


class AgentConfig(BaseModel):
    """The configuration of an agent of the published code."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Name
    name: Name
    llm_config: AgentModel
    agent_config: dict[str, Any] = {}

    def settings(self) -> dict[str, Any]:
        """Return the settings that affect results. Texts in `agent_config` are omitted, since they may be API keys."""
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

    @classmethod
    def read(cls, folder: Path) -> "AgentRun":
        """Return the results in an agent's folder. Raises BadInput for no results and for several agents."""
        result_files = (*folder.glob(f"*/{OVERALL}"), *folder.glob(f"*/{DIAGNOSIS}"))
        user_folders = sorted({path.parent for path in result_files})
        if not user_folders:
            raise BadInput(
                f"{folder} has no folder of a user with {OVERALL}. Use the folder that the published code wrote for "
                "one agent."
            )
        checksums: dict[str, str] = {}
        faults: list[str] = []
        users, configs = {}, {}
        for user_folder in user_folders:
            user = user_folder.name
            files = _UserFiles(user_folder, checksums, faults)
            if (config := files.json(CONFIG)) is not None:
                try:
                    configs[user] = AgentConfig.model_validate(config)
                except ValidationError as error:
                    faults.append(f"user {user}: {CONFIG}: {first_error(error)}")
            results = UserResults.from_files(files.periods(OVERALL), files.periods(DIAGNOSIS))
            faults += [f"user {user}: {fault}" for fault in results.faults]
            users[user] = results
        if not configs:
            raise BadInput(f"{folder} has no valid {CONFIG}, which names the agent and its model. Add it.")
        agents = list(dict.fromkeys(json.dumps(config.settings()) for config in configs.values()))
        if len(agents) > 1:
            raise BadInput(
                f"{folder} has results of different agents: {agents[0]} and {agents[1]}. Use one folder per agent."
            )
        return cls(next(iter(configs.values())), users, digest(checksums), faults)


@dataclass(frozen=True)
class _UserFiles:
    """The reader of one user's files. An invalid file is read as None and adds a message to `faults`."""

    folder: Path
    checksums: dict[str, str]
    faults: list[str]

    def json(self, name: str) -> Any:
        """Return the content of a JSON file; None for a missing or invalid file."""
        path = self.folder / name
        if not path.is_file():
            return None
        content = path.read_bytes()
        self.checksums[f"{self.folder.name}/{name}"] = hashlib.sha256(content).hexdigest()
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            self.faults.append(f"user {self.folder.name}: {name} is truncated or invalid JSON ({error})")
            return None

    def periods(self, name: str) -> Any:
        """Return the results in a file, one list per period; None for a missing or invalid file."""
        content = self.json(name)
        if content is None:
            return None
        if isinstance(content, list) and all(isinstance(results, list) for results in content):
            return content
        self.faults.append(f"user {self.folder.name}: {name} is not a list of periods with lists of results")
        return None
