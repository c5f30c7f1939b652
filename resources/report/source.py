"""The source of a report: the lake, the ledger and the settings, and the domains and assistants that it shows."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.pipeline import partition_key
from memflow.resources.data.library import Library
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog, scored_domains
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.report.redaction import Redaction
from memflow.resources.settings.chat_models import COMMAND_LINE
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift import INPUTS
from memflow.suggestions import unknown_name

DOMAIN_TABLES = (
    *("state.profiles", "state.variables", "state.changes", "state.entities"),
    *("utterance.turns", "question.keys", "question.probes", "feedback.sessions"),
)
"""The tables of a domain that a report shows or checks."""
ASSISTANT_TABLES = (
    *("memory.transcripts", "memory.indexes", "answer.replies"),
    *("score.verdicts", "score.attributions", "score.claims"),
)
"""The tables of an assistant that a report shows."""
LEADERBOARD = "score.leaderboard"


@dataclass(frozen=True)
class ReportOptions:
    """The content of a report. Without `domains` or `assistants`, it shows all that the lake has."""

    domains: Sequence[str] = ()
    assistants: Sequence[str] = ()
    texts: bool = True
    """False leaves out all texts of dialogues, questions, answers and prompts."""
    as_of: datetime | None = None
    """The moment that the lake shows; None for the present."""


class ReportSource:
    """The stored results that a report shows, as of its creation.

    Raises BadInput for an empty lake, and for a domain or assistant without results.
    """

    def __init__(
        self, settings: Settings, lake: Lake, ledger: SqlLedger, options: ReportOptions | None = None
    ) -> None:
        self.settings = settings
        self.lake = lake
        self.ledger = ledger
        self.options = options or ReportOptions()
        self.library = Library(settings.data, settings.datasets)
        self.catalog = PartitionCatalog(lake, (*DOMAIN_TABLES, *ASSISTANT_TABLES, LEADERBOARD))
        variables = [model.key_variable for model in settings.models.values()]
        variables.append(settings.embedder.key_variable)
        self.redaction = Redaction.of_environment(variables, texts=self.options.texts)
        if not self._all:
            raise BadInput(
                "the lake contains no results for a report. Create some with `memflow run --demo`."
            )
        self._check("domain", self.options.domains, self._all)
        self._check(
            "assistant", self.options.assistants, {each for row in self._all.values() for each in row}
        )

    @cached_property
    def assistants(self) -> Mapping[str, Sequence[str]]:
        """The assistants with verdicts, by domain, in the order of the settings; only those of the options."""
        domains, assistants = self.options.domains, self.options.assistants
        return {
            domain: [name for name in names if not assistants or name in assistants]
            for domain, names in self._all.items()
            if not domains or domain in domains
        }

    @cached_property
    def _all(self) -> Mapping[str, Sequence[str]]:
        places = {name: number for number, name in enumerate(self.settings.assistants)}
        found: dict[str, list[str]] = {
            name: [] for name in self.catalog.of("question.probes") if self.settings.has_domain(name)
        }
        for partition in self.catalog.of("score.verdicts"):
            domain, _, assistant = partition.partition("/")
            if domain in found:
                found[domain].append(assistant)
        return {
            name: sorted(found[name], key=lambda each: (places.get(each, len(places)), each))
            for name in scored_domains(self.settings, found)
        }

    @staticmethod
    def _check(what: str, names: Sequence[str], known: Collection[str]) -> None:
        for name in names:
            if name not in known:
                raise BadInput(unknown_name(what, name, known, "memflow show leaderboard"))

    @cached_property
    def model_names(self) -> Mapping[str, str]:
        """The names of the models that the command line named, by those of the settings, such as `cli_gpt_4o_mini`."""
        found = {}
        for domain, names in self.assistants.items():
            for assistant in names:
                entry = self.catalog.get("score.verdicts", partition_key(domain, assistant))
                meta = {} if entry is None else entry.facts.meta
                if meta.get("model", "").startswith(COMMAND_LINE):
                    inputs = json.loads(meta.get(INPUTS, "{}"))
                    name = inputs.get("answering model", "").rpartition(" (")[0]
                    found[meta["model"]] = self.shown_model(name) or meta["model"]
        return found

    def shown_model(self, name: str) -> str:
        """Return the name of a model or embedder; of a local folder, only its last part."""
        if name.startswith(("/", "~")) or "\\" in name:
            return name.replace("\\", "/").rstrip("/").rpartition("/")[2]
        return self.redaction.text(name) or name

    def named(self, value: Any) -> Any:
        """Return the value of a data file, with the names of `model_names` instead of those of the settings."""
        if not self.model_names:
            return value
        names = re.compile(rf"\b({'|'.join(map(re.escape, self.model_names))})\b")
        return json.loads(names.sub(lambda match: self.model_names[match[0]], json.dumps(value)))

    def domain(self, name: str) -> Domain:
        """Return a domain of the settings."""
        return self.settings.domain(name)

    def version(self, tables: Sequence[str], domain: str, assistant: str = "", *more: object) -> str:
        """Return a version of the partitions of some tables, and of the options, that changes with their content."""
        parts = [self.catalog.version(table, partition_key(domain, assistant)) for table in tables]
        return digest(self.options.texts, parts, more)
