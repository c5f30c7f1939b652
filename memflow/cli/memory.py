"""`memflow show memory`: the entries of a memory at a checkpoint or probe, or changes between checkpoints."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, cut, heading, note, table
from memflow.cli.snapshots import EpisodeSnapshots, probe_of, row_of, snapshots_of
from memflow.errors import BadInput
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.memories.entries import Item

FIRST_SOURCES, LONGEST_SOURCES = 3, 48


def memory(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain in which it was played.")],
    assistant: Annotated[
        str, typer.Argument(metavar="MEMORY", help="The memory, or MEMORY@MODEL: the assistant's name.")
    ],
    episode: Annotated[
        str | None,
        typer.Option("--episode", metavar="ID", help="The episode; needed where there are several."),
    ] = None,
    checkpoint: Annotated[
        int | None,
        typer.Option("--checkpoint", metavar="C", min=0, help="The state at this checkpoint. [the last]"),
    ] = None,
    probe: Annotated[
        str | None,
        typer.Option(
            "--probe",
            metavar="ID",
            help="The state when this probe was asked.",
        ),
    ] = None,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option("--diff", metavar="C1 C2", help="The changes from one checkpoint to a later one."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Only entries of this kind; may be repeated."),
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Show the entries of a memory at a checkpoint or at the time of a probe, by kind, with their source messages.

    With --diff: the entries added, retired and changed between two checkpoints. Nothing is replayed.
    """

    if diff is not None and (checkpoint is not None or probe is not None):
        raise BadInput("--diff cannot be combined with --checkpoint or --probe. Remove one of them.")
    if probe is not None and (checkpoint is not None or episode is not None):
        raise BadInput("--probe cannot be combined with --episode or --checkpoint. Remove one of them.")
    lake = front_of(ctx).lake()
    asked = None if probe is None else probe_of(lake, domain, probe)
    snapshots = snapshots_of(lake, domain, assistant, episode if asked is None else asked.episode_id)
    for name in kind or ():
        if name not in snapshots.kinds:
            raise BadInput(unknown_name("memory entry of kind", name, snapshots.kinds, owner=assistant))
    title = {"domain": domain, "assistant": assistant, "episode": snapshots.episode}
    if asked is not None:
        title |= {"probe": asked.probe_id}
        _show(form, title, snapshots, asked.checkpoint, kind or (), snapshots.past.sequence(asked))
    elif diff is None:
        _show(
            form,
            title,
            snapshots,
            snapshots.checkpoints[-1] if checkpoint is None else checkpoint,
            kind or (),
        )
    else:
        _compare(form, title, snapshots, *diff, kind or ())


def _show(
    form: Format,
    title: dict[str, str],
    snapshots: EpisodeSnapshots,
    checkpoint: int,
    kinds: Sequence[str],
    sequence: int | None = None,
) -> None:
    """Print the entries at a checkpoint, or at the sequence number of a probe."""
    reached = snapshots.sequence(checkpoint)
    sequence = reached if sequence is None else sequence
    items = snapshots.at_sequence(sequence, kinds)
    data = {**title, "checkpoint": checkpoint, "sequence": sequence}
    where = f"checkpoint {checkpoint} of {snapshots.checkpoints[-1]}, sequence number {sequence:,}"
    where += f" of {reached:,}" if sequence < reached else ""
    answer(
        form,
        {**data, "entries": [row_of(item) for item in items]},
        Text(f"{title['assistant']} in {title['domain']}", "bold"),
        note(f"episode {title['episode']}, {where}: {_count(len(items), 'entry', 'entries')}"),
        *_by_kind(items),
    )


def _compare(
    form: Format,
    title: dict[str, str],
    snapshots: EpisodeSnapshots,
    first: int,
    last: int,
    kinds: Sequence[str],
) -> None:
    from memflow.memories.memory import FAILURE

    difference = snapshots.between(first, last, kinds)
    failed = [item for item in difference.added if item.kind == FAILURE]
    added = [item for item in difference.added if item.kind != FAILURE]
    data = {
        **title,
        "from": {"checkpoint": first, "sequence": snapshots.sequence(first)},
        "to": {"checkpoint": last, "sequence": snapshots.sequence(last)},
        "added": [row_of(item) for item in added],
        "retired": [row_of(item) for item in difference.retired],
        "changed": [{"before": row_of(old), "after": row_of(new)} for old, new in difference.changed],
        "passed": [row_of(item) for item in difference.passed],
        "failures": _reasons(failed),
    }
    sequences = f"sequence numbers {snapshots.sequence(first):,} to {snapshots.sequence(last):,}"
    answer(
        form,
        data,
        Text(f"{title['assistant']} in {title['domain']}", "bold"),
        note(f"episode {title['episode']}, from checkpoint {first} to {last}, {sequences}"),
        *_table_of("Added", added),
        *_table_of("Retired", difference.retired),
        *_changes(difference.changed),
        *_failures(failed),
        note(f"\n{_count(len(difference.passed), 'entry', 'entries')} were written and retired in between."),
    )


def _by_kind(items: Sequence["Item"]) -> Iterator[RenderableType]:
    from memflow.memories.memory import FAILURE

    for kind in dict.fromkeys(item.kind for item in items if item.kind != FAILURE):
        yield from _table_of(kind, [item for item in items if item.kind == kind], of_kind=True)
    yield from _failures([item for item in items if item.kind == FAILURE])


def _table_of(title: str, items: Sequence["Item"], *, of_kind: bool = False) -> Iterator[RenderableType]:
    """Yield a heading with the number of entries, and a table of the entries. `of_kind` omits the column of kinds."""
    yield heading(f"{title}: {len(items):,}")
    if not items:
        return
    versions = any(item.previous for item in items)
    ends = any(item.until is not None for item in items)
    columns = ["entry", *([] if of_kind else ["kind"]), "since", *(["until"] if ends else [])]
    columns += [*(["version of"] if versions else []), "sources", "text"]
    rows = [
        [
            item.entry_id,
            *([] if of_kind else [item.kind]),
            item.since,
            *([item.until] if ends else []),
            *([item.previous] if versions else []),
            _line(_sources(item.sources)),
            _line(item.text),
        ]
        for item in items
    ]
    yield table("", columns, rows, right=("since", "until"))


def _changes(changed: Sequence[tuple["Item", "Item"]]) -> Iterator[RenderableType]:
    """Yield a heading and a table with two lines per changed entry: the earlier and the later version."""
    yield heading(f"Changed: {len(changed):,}")
    if not changed:
        return
    rows = []
    for old, new in changed:
        rows.append([_line(f"- {old.entry_id}", "red"), old.since, "", _line(old.text)])
        more = len([source for source in new.sources if source not in old.sources])
        rows.append([_line(f"+ {new.entry_id}", "green"), new.since, f"{more} new", _line(new.text)])
    yield table("", ("entry", "since", "sources", "text"), rows, right=("since", "sources"))


def _failures(failed: Sequence["Item"]) -> Iterator[RenderableType]:
    """Yield a heading and a table of failed memory writes with one line per reason; nothing if no write failed."""
    if not failed:
        return
    yield heading(f"Failures: {len(failed):,}")
    rows = [
        [each["count"], _line(_sources(each["sources"])), Text(each["reason"])] for each in _reasons(failed)
    ]
    yield table("", ("count", "about", "reason"), rows, right=("count",))


def _reasons(failed: Iterable["Item"]) -> list[dict[str, Any]]:
    """Return each reason for failed writes with its count and source messages, most frequent first."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in failed:
        found[item.text].append(item)
    return [
        {
            "reason": reason,
            "count": len(items),
            "sources": list(dict.fromkeys(source for item in items for source in item.sources)),
        }
        for reason, items in sorted(found.items(), key=lambda each: -len(each[1]))
    ]


def _sources(sources: Sequence[str]) -> str:
    """Return message ids as short text: `m4`, or `6: m0, m1, m2 …`."""
    if len(sources) < 2:
        return cut(", ".join(sources), LONGEST_SOURCES)
    rest = " …" if len(sources) > FIRST_SOURCES else ""
    return cut(f"{len(sources):,}: {', '.join(sources[:FIRST_SOURCES])}{rest}", LONGEST_SOURCES)


def _line(text: str, style: str = "") -> Text:
    """Return a text as one line, which the terminal truncates with an ellipsis if it is too long."""
    return Text(" ".join(text.split()), style, no_wrap=True, overflow="ellipsis")


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
