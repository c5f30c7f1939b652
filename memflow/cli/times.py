"""`show times`: what memories take per case, by task format (MemoryBench, A.3.8). How it is counted is
benchmarks/memorybench/times.py."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.benchmarks.memorybench.times import Times
    from resources.lake import Lake
    from resources.settings import Settings


def times(
    ctx: typer.Context,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Show how long MemoryBench's memories take, by task format: to write a training dialogue, and to answer a test
    case, in seconds.

    Models count with the seconds that their answers took when they were first asked, also where the ledger gave them;
    a memory's own computing as it was measured when it was played and asked. Waiting counts as neither.
    """
    from memflow.chat.scripted import LABEL
    from resources.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    there = answered(lake, settings)
    names = [one.name for one in there]
    for name in domain or ():
        if name not in names:
            raise BadInput(
                f"{name!r} is no MemoryBench domain that was measured; there are {', '.join(names) or 'none'}"
            )
    found = measured_times(lake, [one for one in there if not domain or one.name in domain])
    if not found:
        raise BadInput("no MemoryBench domain has been measured there yet: `memflow run --demo` measures one")
    scripted = any(row.scripted for row in found)
    label = Text(f"\n{LABEL}: asking it takes no time, and says nothing of any model.", "yellow")
    shown = [part for name in dict.fromkeys(row.domain for row in found) for part in _table(name, found)]
    told = {"label": LABEL if scripted else None, "times": [asdict(row) for row in found]}
    answer(form, told, *shown, *([label] if scripted else []))


def answered(lake: "Lake", settings: "Settings") -> list["Domain"]:
    """The MemoryBench domains that have replies, by name; those that the settings no longer know are passed over."""
    names = dict.fromkeys(partition.partition("/")[0] for partition in lake.partitions("answer.replies"))
    return [one for one in known(settings, names) if one.benchmark == "memorybench"]


def known(settings: "Settings", names: Iterable[str]) -> list["Domain"]:
    """The domains of those names that the settings know."""
    from memflow.benchmarks import registry

    return [
        settings.domain(name) for name in names if name in settings.own_domains or name in registry.domains()
    ]


def measured_times(lake: "Lake", domains: Sequence["Domain"]) -> list["Times"]:
    """The times of every assistant in `domains`, by format."""
    from memflow.benchmarks.memorybench.times import times_of

    found = []
    played = set(lake.partitions("memory.transcripts"))
    asked = lake.partitions("answer.replies")
    for domain in domains:
        probes = lake.read("question.probes", domain.name)
        turns = lake.read("utterance.turns", domain.name)
        for partition in asked:
            name, _, assistant = partition.partition("/")
            if name != domain.name:
                continue
            said = lake.read("memory.transcripts", partition) if partition in played else []
            replies, facts = (
                lake.read("answer.replies", partition),
                lake.facts("memory.transcripts", partition),
            )
            scripted = facts is not None and facts.meta.get("scripted") == "yes"
            found += times_of(name, assistant, said, replies, probes, turns, scripted=scripted)
    return found


def _table(domain: str, found: Sequence["Times"]) -> Iterator[Any]:
    mine = [row for row in found if row.domain == domain]
    numbers = ("dialogues", "memory s", "own", "cases", "predict s", "recall", "own ", "corpora", "corpus s")
    rows: list[list[Any]] = []
    for format_ in dict.fromkeys(row.format for row in mine):
        for place, row in enumerate(row for row in mine if row.format == format_):
            first = format_ if place == 0 else ""
            writing = [row.dialogues or None, _seconds(row.memory_s), _seconds(row.memory_own_s)]
            reading = [row.cases, *map(_seconds, (row.predict_s, row.recall_s, row.recall_own_s))]
            corpora = [row.corpora or None, _seconds(row.corpus_s)]
            rows.append([first, row.assistant, *writing, *reading, *corpora])
    yield heading(domain)
    yield table("", ["format", "memory", *numbers], rows, right=numbers)
    yield note(
        "Seconds, means: to write a dialogue; to answer a case, recalling in it; to write a corpus. "
        "Of each, `own` is the memory's own computing, the rest the models'."
    )


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
