"""Kinds of items that people annotate for a benchmark: their configuration, and sampling from the tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from memflow.annotation.sampling import Candidate, draw
from memflow.annotation.sheet import Header, Label, LongText, Name, Sheet, ShortText
from memflow.benchmarks.api import States
from memflow.benchmarks.models import StrictModel
from memflow.errors import BadInput
from memflow.records import FeedbackRound, Probe, TranscriptMessage, Turn


@dataclass(frozen=True)
class DomainTables:
    """The rows of one domain from which annotation items are built. `said` has one assistant's transcripts.

    `written` has the texts that people wrote, by the unit of the sheet on which they wrote them.
    """

    states: States
    turns: Sequence[Turn]
    probes: Sequence[Probe]
    said: Sequence[TranscriptMessage] = ()
    feedback: Sequence[FeedbackRound] = ()
    written: Mapping[str, str] = field(default_factory=dict)


class KindConfig(StrictModel):
    """The configuration of a kind of annotation items, from a benchmark's annotation.yaml.

    `stage` is the stage that generated the data; stage `memory` requires an assistant's transcripts. `units` names the
    sampled units, `draw` is their default number. `asks` is the question to the annotator, `shown` has the titles of
    the facts and texts on the page. An annotator chooses among an item's options and the `labels`. `aspects` are the
    questions of a kind that asks several about a unit. A kind with `written_on` compares the data with texts that
    people wrote as comments on a sheet of that kind.
    """

    title: ShortText
    stage: Literal["utterance", "question", "feedback", "memory"]
    units: ShortText
    draw: int = Field(ge=1)
    guide: list[LongText]
    means: dict[Name, ShortText] = Field(default_factory=dict)
    asks: ShortText = ""
    aspects: dict[Name, ShortText] = Field(default_factory=dict)
    written_on: Name | None = None
    shown: dict[Name, ShortText]
    labels: list[Label]

    @property
    def played(self) -> bool:
        """Whether the items come from one assistant's transcripts."""
        return self.stage == "memory"

    def guide_text(self) -> str:
        """Return the annotators' instructions as text: the paragraphs of `guide`, then the meaning of each label."""
        meanings = [
            f"{label.says}: {self.means[label.name]}" for label in self.labels if label.name in self.means
        ]
        return "\n\n".join([*self.guide, *(["\n".join(meanings)] if meanings else [])])


BuildCandidates = Callable[[KindConfig, DomainTables], Iterable[Candidate]]


@dataclass(frozen=True)
class Kind:
    """A kind of annotation items: its configuration and the function that builds candidates from a domain's rows."""

    name: str
    benchmark: str
    config: KindConfig
    candidates: BuildCandidates

    def sample(
        self,
        domain: str,
        tables: DomainTables,
        *,
        assistant: str | None = None,
        count: int = 0,
        seed: int = 0,
        note: str | None = None,
    ) -> tuple[Sheet, dict[str, str]]:
        """Return a sheet of `count` units (0: the default) and its labels by item id. Raises BadInput without units."""
        header = Header(
            benchmark=self.benchmark,
            kind=self.name,
            title=self.config.title,
            guide=self.config.guide_text(),
            domain=domain,
            assistant=assistant,
            seed=seed,
            units=self.config.units,
            drawn=0,
            population=0,
            note=note,
        )
        try:
            candidates = list(self.candidates(self.config, tables))
        except ValidationError as wrong:
            first = wrong.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise BadInput(
                f"{domain}: the annotation kind {self.name} builds an invalid {wrong.title}: {place}: "
                f"{first['msg']}. Fix the kind's function in {self.candidates.__module__}."
            ) from wrong
        return draw(header, candidates, count or self.config.draw)


def read_kinds(package: str, candidates: Mapping[str, BuildCandidates]) -> dict[str, Kind]:
    """Return the kinds of items in a benchmark's `annotation.yaml` by name, given the function of each."""
    text = files(package).joinpath("annotation.yaml").read_text(encoding="utf-8")
    configs = TypeAdapter(dict[Name, KindConfig]).validate_python(yaml.safe_load(text))
    benchmark = package.rpartition(".")[2]
    return {name: Kind(name, benchmark, configs[name], each) for name, each in candidates.items()}
