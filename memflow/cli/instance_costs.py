"""`memflow show costs --per instance`: the requests and price of one user, from generation to the last answer.

Each request of a run counts once, with the tokens and seconds of its first answer. Thus a replayed run costs the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from memflow.cli.output import Format, answer, heading, note, table
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
"""Stage, and the table whose partition says in which run it was made."""

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


@dataclass(frozen=True)
class InstanceCost:
    """The average cost of one stage and role per instance (user).

    `assistant` is empty if the costs are shared by all assistants. `price` is None if the model has no price.
    """

    domain: str
    assistant: str
    part: str
    stage: str
    role: str
    model: str
    instances: int
    calls: float
    failures: float
    prompt_tokens: float
    completion_tokens: float
    seconds: float
    price: float | None


def instance_costs(
    form: Format, settings: "Settings", lake: "Lake", ledger: "SqlLedger", domains: Sequence[str] | None
) -> None:
    """Print the costs per instance. Raises BadInput if nothing was generated yet."""
    found = [row for row in costs_of(settings, lake, ledger) if not domains or row.domain in domains]
    if not found:
        raise BadInput(
            "the ledger has no model requests of these domains. Create some with `memflow run --demo`."
        )
    shown = [part for name in dict.fromkeys(row.domain for row in found) for part in _table(name, found)]
    answer(form, [asdict(row) for row in found], *shown)


def costs_of(settings: "Settings", lake: "Lake", ledger: "SqlLedger") -> Iterator[InstanceCost]:
    """Yield the costs of every generated domain and of every assistant evaluated in it, in pipeline order."""
    for domain in lake.partitions("question.probes"):
        instances = len({probe.episode_id for probe in lake.read("question.probes", domain)})
        for stage, made in GENERATED.items():
            yield from _rows(settings, lake, ledger, stage, made, domain, "", instances)
        for assistant in assistants_of(lake, "answer.replies", domain):
            for stage, made in MEASURED.items():
                yield from _rows(settings, lake, ledger, stage, made, domain, assistant, instances)


def _rows(
    settings: "Settings",
    lake: "Lake",
    ledger: "SqlLedger",
    stage: str,
    made: str,
    domain: str,
    assistant: str,
    instances: int,
) -> Iterator[InstanceCost]:
    from resources.endpoints.limits import Prices

    facts = lake.facts(made, f"{domain}/{assistant}" if assistant else domain)
    run = None if facts is None else facts.run
    if run is None or not instances:
        return
    wanted = {"stage": stage, "domain": domain, "assistant": assistant}
    for row in ledger.needed(("stage", "domain", "assistant", "role", "model"), run):
        if not wanted.items() <= row.by.items():
            continue
        role, model = row.by["role"], settings.models.get(row.by["model"])
        prices = None if model is None or not model.has_price else Prices(model.price_in, model.price_out)
        cost = None if prices is None else prices.cost(row.prompt_tokens, row.completion_tokens)
        yield InstanceCost(
            domain=domain,
            assistant=assistant,
            part=PARTS.get((stage, role), "generation"),
            stage=stage,
            role=role,
            model=row.by["model"],
            instances=instances,
            calls=row.requests / instances,
            failures=row.failed / instances,
            prompt_tokens=row.prompt_tokens / instances,
            completion_tokens=row.completion_tokens / instances,
            seconds=row.latency_s / instances,
            price=cost / instances if cost else None,
        )


def _table(domain: str, found: Sequence[InstanceCost]) -> Iterator[Any]:
    of_domain = [row for row in found if row.domain == domain]
    numbers = ("calls", "prompt tokens", "answer tokens", "seconds", "price")
    rows: list[list[Any]] = []
    for assistant in dict.fromkeys(row.assistant for row in of_domain):
        group = [row for row in of_domain if row.assistant == assistant]
        rows += [[assistant, row.part, row.stage, row.role, row.model, *_numbers([row])] for row in group]
        if len(group) > 1:
            rows.append([assistant, "together", "", "", "", *_numbers(group)])
    yield heading(domain)
    yield table("", ["assistant", "for", "stage", "role", "model", *numbers], rows, right=numbers)
    yield note(
        f"Means over {of_domain[0].instances:,} instances (users, episodes). Every answer counts once, with the tokens"
        " of its first request. A row without an assistant is shared by all."
    )


def _numbers(rows: Sequence[InstanceCost]) -> list[Any]:
    prices = [row.price for row in rows if row.price is not None]
    return [
        round(sum(row.calls for row in rows), 1),
        round(sum(row.prompt_tokens for row in rows)),
        round(sum(row.completion_tokens for row in rows)),
        sum(row.seconds for row in rows),
        sum(prices) if prices else None,
    ]
