"""`memflow show costs`: the chat requests of a memory, per message written and per probe read.

instance_costs.py shows the costs per instance (a user), from generation to the last answer.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.instance_costs import instance_costs
from memflow.cli.options import DomainFilter
from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.errors import BadInput
from memflow.repeats import suffix

if TYPE_CHECKING:
    from resources.lake.lake import Lake
    from resources.ledger.sql_ledger import SqlLedger
    from resources.ledger.usage import UsageRow


class Per(StrEnum):
    """The grouping of `memflow show costs`: by memory, or by instance (one user)."""

    memory = "memory"
    instance = "instance"


@dataclass(frozen=True)
class MeanRequests:
    """A memory's mean chat requests per message written or per probe read. `of` is the number of messages or probes.

    A cache hit counts the tokens and seconds of the first request.
    """

    of: int
    calls: float
    prompt_tokens: float
    completion_tokens: float
    seconds: float

    @classmethod
    def over(cls, of: int, row: "UsageRow | None") -> "MeanRequests":
        """Return the totals in a usage row divided by `of`, the number of messages or probes."""
        if row is None or not of:
            return cls(of, 0.0, 0.0, 0.0, 0.0)
        calls = (row.requests + row.cache_hits + row.failed) / of
        return cls(of, calls, row.prompt_tokens / of, row.completion_tokens / of, row.latency_s / of)


@dataclass(frozen=True)
class Costs:
    """The mean requests of one assistant's memory in one domain.

    `failures` is the number of failed writes and failed items. `at_limit` is the share of the write requests whose
    answer has a text or list as long as its limit allows; 0 without requests.
    """

    domain: str
    assistant: str
    write: MeanRequests
    read: MeanRequests
    injected_tokens: float
    failures: int
    at_limit: float


def costs(
    ctx: typer.Context,
    domain: DomainFilter = None,
    per: Annotated[
        Per,
        typer.Option(
            "--per",
            help="memory: per message and probe; instance: the total of a user (an episode), by role.",
        ),
    ] = Per.memory,
    form: FormatOption = Format.text,
) -> None:
    """Show the chat requests of each memory, per message written and per probe read.

    Answers to probes are not counted, since all assistants need them. On-policy, a read for a reply counts as writing.
    `--per instance` shows calls, tokens and price per user: generation, simulated user, replies, memory and answers. A
    replay costs the same as the first run.
    """
    from resources.ledger.sql_ledger import SqlLedger

    settings = front_of(ctx).load()
    lake = front_of(ctx).lake()
    with SqlLedger(settings.ledger_url) as ledger:
        if per is Per.instance:
            instance_costs(form, settings, lake, ledger, domain)
            return
        found = [one for one in measured(lake, ledger) if not domain or one.domain in domain]
    if not found:
        raise BadInput("the lake has no memory with recorded costs. Evaluate one with `memflow run --demo`.")
    shown = [part for name in dict.fromkeys(one.domain for one in found) for part in _table(name, found)]
    answer(form, [asdict(one) for one in found], *shown)


def measured(lake: "Lake", ledger: "SqlLedger") -> Iterator[Costs]:
    """Return the costs of every assistant that has played its episodes and answered its probes.

    Partitions of old versions without a run id are skipped.
    """
    from memflow.memories.memory import AT_LIMIT, FAILURE

    answered = set(lake.partitions("answer.replies"))
    played = [partition for partition in lake.partitions("memory.transcripts") if not suffix(partition)]
    for partition in played:
        runs = [_run(lake, table_, partition) for table_ in ("memory.indexes", "answer.replies")]
        if partition not in answered or not all(runs):
            continue
        name, _, assistant = partition.partition("/")
        said = [line for line in lake.read("memory.transcripts", partition) if line.reason is None]
        replies = [reply for reply in lake.read("answer.replies", partition) if reply.model is not None]
        kinds = Counter(entry.kind for entry in lake.read("memory.indexes", partition, vectors=False))
        write = MeanRequests.over(len(said), _usage(ledger, runs[0], "memory", name, assistant))
        yield Costs(
            domain=name,
            assistant=assistant,
            write=write,
            read=MeanRequests.over(len(replies), _usage(ledger, runs[1], "answer", name, assistant)),
            injected_tokens=sum(reply.injected_tokens for reply in replies) / max(1, len(replies)),
            failures=kinds[FAILURE],
            at_limit=kinds[AT_LIMIT] / (write.calls * write.of) if write.calls else 0.0,
        )


def _run(lake: "Lake", table_: str, partition: str) -> str | None:
    facts = lake.facts(table_, partition)
    return None if facts is None else facts.run


def _usage(
    ledger: "SqlLedger", run: str | None, stage: str, domain: str, assistant: str
) -> "UsageRow | None":
    """Return the usage of an assistant's memory in a Dagster run and stage; None without requests."""
    wanted = {"domain": domain, "assistant": assistant, "stage": stage, "role": "memory"}
    return next(
        (row for row in ledger.usage((*wanted,), runs=None if run is None else [run]) if row.by == wanted),
        None,
    )


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
        "answers\nat limit": lambda one: f"{one.at_limit:.0%}",
    }
    yield heading(domain)
    rows = [[one.assistant, *(of(one) for of in titles.values())] for one in found if one.domain == domain]
    yield table("", ["memory", *titles], rows, right=titles)
    yield note(
        "Means per message written and per probe read; injected tokens are recalled tokens in a probe's prompt. "
        "Failures include single items. Answers at limit: a text or list is as long as max_text or max_items allows."
    )
