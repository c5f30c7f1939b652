"""`memflow show costs`: the requests and price of one user, from generation to the last answer.

Each request of a run counts once, with the tokens and seconds of its first answer. Thus a replayed run costs the same.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.options import DomainFilter
from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.stored_names import assistants_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from resources.lake.lake import Lake
    from resources.ledger.sql_ledger import SqlLedger
    from resources.settings.settings import Settings

GENERATED = {
    "state": "state.profiles",
    "utterance": "utterance.turns",
    "question": "question.probes",
    "feedback": "feedback.sessions",
}
MEASURED = {"memory": "memory.indexes", "answer": "answer.replies", "score": "score.claims"}
"""Stage, and the table whose partition states the run that requested it."""

PARTS = {
    ("question", "annotator"): "annotation",
    ("question", "verifier"): "annotation",
    ("memory", "simulator"): "user model",
    ("memory", "assistant"): "replies",
    ("memory", "memory"): "memory, writing",
    ("answer", "memory"): "memory, reading",
    ("answer", "assistant"): "answers",
    ("score", "judge"): "judging",
}
"""Stage and role of a played instance, and what it is for; everything else is generation."""

SUMS = ("calls", "prompt_tokens", "completion_tokens", "seconds")


def costs(ctx: typer.Context, domain: DomainFilter = None, form: FormatOption = Format.text) -> None:
    """Show the requests, tokens, seconds and price of one user (an instance, an episode), by part of the pipeline.

    The parts are generation, annotation, simulated user, replies, writing and reading of the memory, answers and
    judging. A row without an assistant is shared by all. A replay costs the same as the first run.
    """
    from resources.ledger.sql_ledger import SqlLedger

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    with SqlLedger(settings.ledger_url) as ledger:
        rows = [row for row in cost_rows(settings, lake, ledger) if not domain or row["domain"] in domain]
    if not rows:
        raise BadInput(
            "the ledger has no model requests of these domains. Create some with `memflow run --demo`."
        )
    shown = [part for name in dict.fromkeys(row["domain"] for row in rows) for part in _table(name, rows)]
    answer(form, rows, *shown)


def cost_rows(settings: "Settings", lake: "Lake", ledger: "SqlLedger") -> Iterator[dict[str, Any]]:
    """Yield the mean costs per instance of every generated domain and evaluated assistant, in pipeline order.

    `price` is None if the model has no price.
    """
    from memflow.chat.budget import Prices

    for domain in lake.partitions("question.probes"):
        instances = len({probe.episode_id for probe in lake.read("question.probes", domain)})
        made = [(stage, table_, "") for stage, table_ in GENERATED.items()]
        for assistant in assistants_of(lake, "answer.replies", domain):
            made += [(stage, table_, assistant) for stage, table_ in MEASURED.items()]
        for stage, table_, assistant in made:
            facts = lake.facts(table_, f"{domain}/{assistant}" if assistant else domain)
            if facts is None or facts.run is None or not instances:
                continue
            wanted = {"stage": stage, "domain": domain, "assistant": assistant}
            for row in ledger.needed((*wanted, "role", "model"), facts.run):
                if not wanted.items() <= row.by.items():
                    continue
                model = settings.models.get(row.by["model"])
                price = None
                if model is not None and model.has_price:
                    price = Prices(model.price_in, model.price_out).cost(
                        row.prompt_tokens, row.completion_tokens
                    )
                yield {
                    "domain": domain,
                    "assistant": assistant,
                    "part": PARTS.get((stage, row.by["role"]), "generation"),
                    "stage": stage,
                    "role": row.by["role"],
                    "model": row.by["model"],
                    "instances": instances,
                    "calls": row.requests / instances,
                    "failures": row.failed / instances,
                    "prompt_tokens": row.prompt_tokens / instances,
                    "completion_tokens": row.completion_tokens / instances,
                    "seconds": row.latency_s / instances,
                    "price": price / instances if price else None,
                }


def _table(domain: str, costs: Sequence[dict[str, Any]]) -> Iterator[RenderableType]:
    of_domain = [row for row in costs if row["domain"] == domain]
    numbers = ("calls", "prompt tokens", "answer tokens", "seconds", "price")
    rows: list[list[Any]] = []
    for assistant in dict.fromkeys(row["assistant"] for row in of_domain):
        group = [row for row in of_domain if row["assistant"] == assistant]
        rows += [[*(row[name] for name in _NAMES), *_numbers([row])] for row in group]
        if len(group) > 1:
            rows.append([assistant, "together", "", "", "", *_numbers(group)])
    yield heading(domain)
    yield table("", ["assistant", "for", *_NAMES[2:], *numbers], rows, right=numbers)
    yield note(
        f"Means over {of_domain[0]['instances']:,} instances (users, episodes). Every answer counts once, with the"
        " tokens of its first request. A row without an assistant is shared by all."
    )


_NAMES = ("assistant", "part", "stage", "role", "model")


def _numbers(rows: Sequence[dict[str, Any]]) -> list[Any]:
    prices = [row["price"] for row in rows if row["price"] is not None]
    calls, prompt, completion, seconds = (sum(row[name] for row in rows) for name in SUMS)
    return [round(calls, 1), round(prompt), round(completion), seconds, sum(prices) if prices else None]
