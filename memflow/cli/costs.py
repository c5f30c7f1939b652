"""`show costs`: what a memory asked of its chat model, measured: per message written, and per probe read.

What an instance (a user) costs from its making to its last answer is instance_costs.py.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.instance_costs import instance_costs
from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from resources.lake import Lake
    from resources.ledger import SqlLedger
    from resources.usage import UsageRow


class Per(StrEnum):
    """What costs are counted for."""

    memory = "memory"
    instance = "instance"


@dataclass(frozen=True)
class Asked:
    """What a memory asked of its model, over so many messages written or probes read. Tokens and seconds are those of
    when a request was first asked, also where it was answered from the ledger since."""

    of: int
    calls: float
    prompt_tokens: float
    completion_tokens: float
    seconds: float

    @classmethod
    def over(cls, of: int, row: "UsageRow | None") -> "Asked":
        """The means over `of` messages or probes."""
        if row is None or not of:
            return cls(of, 0.0, 0.0, 0.0, 0.0)
        calls = (row.requests + row.cache_hits + row.failed) / of
        return cls(of, calls, row.prompt_tokens / of, row.completion_tokens / of, row.latency_s / of)


@dataclass(frozen=True)
class Costs:
    """The costs of one assistant in one domain. `failures` are its entries that say what could not be written."""

    domain: str
    assistant: str
    write: Asked
    read: Asked
    injected_tokens: float
    failures: int


def costs(
    ctx: typer.Context,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
    ] = None,
    per: Annotated[
        Per,
        typer.Option(
            "--per",
            help="memory: by message and probe; instance: all that a user (an episode) costs, by role.",
        ),
    ] = Per.memory,
    form: FormatOption = Format.text,
) -> None:
    """Show what a memory asked of its chat model: per message written, and per probe read.

    The answers themselves are not counted, which every assistant pays for alike. Where replies are made while an
    episode is played, reading for them counts as writing. With `--per instance`: calls, tokens and price of one
    user, for its generation, the simulated user, replies, memory and answers; a replay shows the same.
    """
    from resources.lake import Lake
    from resources.ledger import SqlLedger

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    with SqlLedger(settings.ledger_url) as ledger:
        if per is Per.instance:
            instance_costs(form, settings, lake, ledger, domain)
            return
        found = [one for one in measured(lake, ledger) if not domain or one.domain in domain]
    if not found:
        raise BadInput("no memory has been measured there yet: `memflow run --demo` measures some")
    shown = [part for name in dict.fromkeys(one.domain for one in found) for part in _table(name, found)]
    answer(form, [asdict(one) for one in found], *shown)


def measured(lake: "Lake", ledger: "SqlLedger") -> Iterator[Costs]:
    """The costs of every assistant whose episodes were played and whose probes were asked.

    Left out is what an older memflow made, which does not say in which run.
    """
    from memflow.memories.memory import FAILURE

    answered = set(lake.partitions("answer.replies"))
    for partition in lake.partitions("memory.transcripts"):
        runs = [_run(lake, table_, partition) for table_ in ("memory.indexes", "answer.replies")]
        if partition not in answered or not all(runs):
            continue
        name, _, assistant = partition.partition("/")
        said = [line for line in lake.read("memory.transcripts", partition) if line.reason is None]
        replies = [reply for reply in lake.read("answer.replies", partition) if reply.model is not None]
        entries = lake.read("memory.indexes", partition, vectors=False)
        yield Costs(
            domain=name,
            assistant=assistant,
            write=Asked.over(len(said), _booked(ledger, runs[0], "memory", name, assistant)),
            read=Asked.over(len(replies), _booked(ledger, runs[1], "answer", name, assistant)),
            injected_tokens=sum(reply.injected_tokens for reply in replies) / max(1, len(replies)),
            failures=sum(entry.kind == FAILURE for entry in entries),
        )


def _run(lake: "Lake", table_: str, partition: str) -> str | None:
    facts = lake.facts(table_, partition)
    return None if facts is None else facts.run


def _booked(
    ledger: "SqlLedger", run: str | None, stage: str, domain: str, assistant: str
) -> "UsageRow | None":
    """What the memory asked in that run and stage; None where it asked nothing."""
    wanted = {"domain": domain, "assistant": assistant, "stage": stage, "role": "memory"}
    return next((row for row in ledger.usage((*wanted,), run=run) if row.by == wanted), None)


def _table(domain: str, found: list[Costs]) -> Iterator[Any]:
    titles = {
        "messages": lambda one: one.write.of,
        "calls\nper message": lambda one: one.write.calls,
        "prompt\ntokens": lambda one: round(one.write.prompt_tokens),
        "answer\ntokens": lambda one: round(one.write.completion_tokens),
        "seconds": lambda one: one.write.seconds,
        "probes": lambda one: one.read.of,
        "calls\nper read": lambda one: one.read.calls,
        "prompt\ntokens ": lambda one: round(one.read.prompt_tokens),
        "answer\ntokens ": lambda one: round(one.read.completion_tokens),
        "seconds ": lambda one: one.read.seconds,
        "injected\ntokens": lambda one: round(one.injected_tokens),
        "failures": lambda one: one.failures,
    }
    yield heading(domain)
    rows = [[one.assistant, *(of(one) for of in titles.values())] for one in found if one.domain == domain]
    yield table("", ["memory", *titles], rows, right=titles)
    yield note(
        "Means per message written, and per probe read; injected tokens are those put into a probe's prompt."
    )
