"""What a run would do: which partitions it would run, and what each would ask, by rehearsal.

Counting is memflow/run/dry_run.py; prices and print are plan.py. Nothing is written, and no model is asked.
"""

from dataclasses import dataclass, field

from rich.console import Console

from assets.fingerprints import STATES, Fingerprints
from memflow.benchmarks import registry
from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.cli.selection import Selection
from memflow.run.dry_run import Act, Cast, Part, Rehearsal, Users
from memflow.run.handlers import handlers
from resources.lake import Lake
from resources.library import Library
from resources.settings import Settings


@dataclass(frozen=True)
class Annotated:
    """How many questions of a domain two models would be asked for, and at how many checkpoints."""

    questions: int
    checkpoints: int


@dataclass
class Forecast:
    """What a run would ask, what it would leave alone, and what it would have to do without."""

    acts: list[Act] = field(default_factory=list)
    up_to_date: list[str] = field(default_factory=list)
    missing: dict[str, list[Dataset]] = field(default_factory=dict)
    annotated: dict[str, Annotated] = field(default_factory=dict)


def forecast(selection: Selection, latency: float, again: bool) -> Forecast:
    """Rehearse every partition that a run would run.

    Raises MissingData where none of a domain's data sets is there.
    """
    settings = selection.settings
    lake, library = Lake(settings.lake_root), Library(settings.data, settings.datasets)
    recipes = Fingerprints(settings, lake, library)
    rehearsal = Rehearsal(
        _cast(settings), handlers(settings.own_memories()), own=settings.own_memories(), latency=latency
    )
    made = Forecast(rehearsal.acts)

    with Console(stderr=True).status("rehearsing") as status:
        for name in selection.domains:
            domain = settings.domain(name).limited(selection.limit)
            benchmark = registry.benchmark(domain.benchmark)
            found, lacking = library.datasets_of(domain)
            if lacking:
                made.missing[name] = lacking
            built = not again and recipes.built(domain)
            status.update(f"rehearsing {name}")
            if built:
                made.up_to_date.append(name)
                users = _held(lake, domain)
            else:
                records = [row for each in found for row in benchmark.records(each, library.paths(each))]
                users = rehearsal.build(benchmark, domain, records)
                if benchmark.annotation_prompts(domain):
                    made.annotated[name] = _annotated(users)
            for assistant in selection.assistants:
                where = f"{name}/{assistant}"
                if built and recipes.measured(name, assistant):
                    made.up_to_date.append(where)
                    continue
                status.update(f"rehearsing {name} · {assistant}")
                rehearsal.measure(benchmark, users, assistant)
    return made


def _annotated(users: Users) -> Annotated:
    questions = {key.question_id for key in users.keys}
    return Annotated(len(questions), len({key.checkpoint for key in users.keys}))


def _held(lake: Lake, domain: Domain) -> Users:
    """What the lake holds of a domain: what a run would measure on."""
    states = States(*(lake.read(table, domain.name) for table in STATES))
    tables = ("utterance.turns", "question.probes", "feedback.sessions")
    return Users(domain, states, *(lake.read(table, domain.name) for table in tables))


def _cast(settings: Settings) -> Cast:
    parts = {
        name: Part(model.sampling(), model.concurrency, model.fingerprint(), model.kind == "scripted")
        for name, model in settings.models.items()
    }
    return Cast(parts, settings.roles.model_dump(), settings.model_of)
