"""`memflow show memory`: the entries of a memory at a checkpoint or probe.

Entries have `since` and `until`, so the state at a moment is a filter and needs no replay.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from memflow.cli.options import (
    AssistantArgument,
    CheckpointOption,
    DomainArgument,
    EpisodeOption,
    front_of,
    option,
)
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.probes import find_probe
from memflow.operations.stored_names import check_names, check_played
from memflow.rendering.tables import Column, Text, table_of
from memflow.rendering.texts import cut, heading, line, note
from memflow.suggestions import MOST_NAMES

if TYPE_CHECKING:
    from memflow.memories.entries import Item
    from memflow.resources.lake.lake import Lake
    from memflow.run.answer import EpisodeHistory

FIRST_SOURCES, LONGEST_SOURCES = 3, 48
STORED = ("entry_id", "kind", "text", "sources", "since", "until", "role", "previous")


def memory(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: AssistantArgument,
    episode: EpisodeOption = None,
    checkpoint: CheckpointOption = None,
    probe: Annotated[str | None, option("--probe", "When this probe was asked.", metavar="ID")] = None,
    kind: Annotated[
        list[str] | None, option("--kind", "Only entries of this kind; may be repeated.", metavar="KIND")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Show the entries of a memory at a checkpoint or at the time of a probe, by kind, with their source messages.

    Nothing is replayed. The page Memory of `memflow view` shows what changed between two moments.
    """
    if probe is not None and (checkpoint is not None or episode is not None):
        raise BadInput(
            "--probe cannot be combined with --episode or --checkpoint. Remove --probe, or the other options."
        )
    lake = front_of(ctx).lake()
    asked = None if probe is None else find_probe(lake, probe, domain)
    name, past = _history(lake, domain, assistant, episode if asked is None else asked.episode_id)
    check_names(
        assistant, "memory entry of kind", kind, list(dict.fromkeys(item.kind for item in past.items))
    )
    last = max(past.checkpoints)
    if asked is not None:
        checkpoint = asked.checkpoint
    elif checkpoint is None:
        checkpoint = last
    if checkpoint not in past.checkpoints:
        raise BadInput(f"episode {name} has no checkpoint {checkpoint}. Use one from 0 to {last}.")
    reached = past.checkpoints[checkpoint]
    sequence = reached if asked is None else past.sequence(asked)
    items = [item for item in past.items if item.alive(sequence) and (not kind or item.kind in kind)]
    where = f"checkpoint {checkpoint} of {last}, sequence number {sequence:,}"
    where += f" of {reached:,}" if sequence < reached else ""
    rows = [{**{name: getattr(item, name) for name in STORED}, "meta": dict(item.meta)} for item in items]
    print_result(
        form,
        {
            "domain": domain,
            "assistant": assistant,
            "episode": name,
            **({} if asked is None else {"probe": asked.probe_id}),
            "checkpoint": checkpoint,
            "sequence": sequence,
            "entries": rows,
        },
        Text(f"{assistant} in {domain}", "bold"),
        note(f"episode {name}, {where}: {len(items):,} {'entry' if len(items) == 1 else 'entries'}"),
        *_by_kind(items),
        rows=rows,
    )


def _history(lake: "Lake", domain: str, assistant: str, episode: str | None) -> tuple[str, "EpisodeHistory"]:
    """Return the name and history of an episode; `episode` may be None if the memory played only one.

    Raises BadInput if the domain, assistant or episode is unknown, or the episode ambiguous.
    """
    from memflow.run.transcripts import episode_histories

    partition = f"{domain}/{assistant}"
    domains = list(dict.fromkeys(name.partition("/")[0] for name in lake.partitions("memory.indexes")))
    if not domains:
        raise BadInput("the lake contains no memory entries. Create some with `memflow run --demo`.")
    if domain not in domains:
        raise BadInput(
            f"{domain!r} has no memory entries; domains with entries: {', '.join(domains)}. Create "
            f"some with `memflow run --domain {domain}`."
        )
    check_played(lake, domain, assistant, "memory.indexes")
    asked = lake.read("question.probes", domain) if domain in lake.partitions("question.probes") else []
    histories = episode_histories(
        lake.read("memory.indexes", partition, vectors=False),
        lake.read("memory.transcripts", partition),
        asked,
    )
    if not histories:
        raise BadInput(
            f"{assistant} has no messages in {domain}, because it did not play an episode there. "
            "Choose another assistant or domain."
        )
    if episode is None and len(histories) > 1:
        some = ", ".join([*histories][:MOST_NAMES]) + (", ..." if len(histories) > MOST_NAMES else "")
        raise BadInput(f"{partition} has {len(histories)} episodes: {some}. Choose one with --episode.")
    name = episode or next(iter(histories))
    check_names(partition, "episode", [name], histories)
    return name, histories[name]


def _by_kind(items: Sequence["Item"]) -> Iterator[RenderableType]:
    """Yield a heading with the number of entries and a table for each kind; failed memory writes come last."""
    from memflow.memories.memory import FAILURE

    kinds = dict.fromkeys(item.kind for item in items)
    for kind in sorted(kinds, key=lambda name: name == FAILURE):
        of_kind = [item for item in items if item.kind == kind]
        yield heading(f"{'Failures' if kind == FAILURE else kind}: {len(of_kind):,}")
        yield table_of(of_kind, COLUMNS)


def _sources(item: "Item") -> Text:
    """Return the message ids of an entry as short text: `m4`, or `6: m0, m1, m2 …`."""
    number = f"{len(item.sources):,}: " if len(item.sources) > 1 else ""
    rest = " …" if len(item.sources) > FIRST_SOURCES else ""
    return line(cut(f"{number}{', '.join(item.sources[:FIRST_SOURCES])}{rest}", LONGEST_SOURCES))


COLUMNS: dict[str, Column] = {
    "entry": "entry_id",
    "since": "since",
    "until": "until",
    "version of": "previous",
    "sources": _sources,
    "text": lambda item: line(item.text),
}
