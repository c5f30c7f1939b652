"""The tables of papers: what a run of one needs, and its values from the results of a home."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from memflow.benchmarks.domain_names import DomainName
from memflow.errors import BadInput, BadSettings
from memflow.papers.files import COMMAND, TableOfPaper, find_table, papers, tables_of, view_records
from memflow.papers.names import problems
from memflow.repeats import Kind, memory_name, plain_name
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.benchmarks.views import Reader
    from memflow.papers.cells import MeasuredTable
    from memflow.resources.settings.settings import Settings

MOST_ADVICE = 3
"""Missing data sets of a table with the advice on each."""


def runnable_table(reference: str) -> TableOfPaper:
    """Return a table that can be run. Raises BadInput for another, and for a table with a wrong name in its file."""
    table = find_table(reference)
    if not table.runs:
        reason = table.table.unavailable or "no row has an assistant"
        raise BadInput(f"{reference} cannot be run: {reason}. `memflow papers` lists the tables that can be.")
    for fault in problems(table):
        raise BadInput(f"{fault} Fix paper.yaml.")
    return table


class PaperSelection(NamedTuple):
    """What the run of a table selects: domains with their profile, memories, size of samples (0: all) and repeats."""

    domains: list[str]
    memories: list[str]
    sample: int
    repeats: int
    repeats_of: Kind


def paper_selection(
    settings: "Settings",
    reference: str,
    domains: Sequence[str] | None,
    memories: Sequence[str] | None,
    assistants: Sequence[str] | None,
    model: str | None,
    other_options: Sequence[str] = (),
) -> PaperSelection:
    """Return what a table needs, or the part of it with these domains, memories and assistants.

    Raises BadSettings for a domain or an assistant that the table does not have, without a chat model, and if other
    options select something else.
    """
    if other_options:
        raise BadSettings(f"--paper and --{other_options[0]} select different runs. Remove one of them.")
    table = runnable_table(reference)
    if model is None and not assistants and settings.model(settings.roles.assistant).kind == "scripted":
        named = f", such as the paper's {table.models[0]}" if table.models else ""
        raise BadSettings(
            f"{reference} needs a chat model, and memflow.toml names none. Add --model NAME{named}; --model scripted "
            "tries the chain without a language model."
        )
    known = {name: full for full in table.domains for name in (full, DomainName.parse(full).stem)}
    named_memories = [memory_name(name) for name in (*(memories or ()), *(assistants or ()))]
    for kind, names, of_table, options in (
        ("domain", domains or (), known, "--domain"),
        ("assistant", named_memories, table.assistants, "--memory and --assistant"),
    ):
        for name in names:
            if name not in of_table:
                fault = unknown_name(kind, name, of_table, owner=f"--paper {reference}")
                raise BadSettings(f"{fault.rstrip('.?')}. Change {options}, or remove --paper.")
    return PaperSelection(
        list(dict.fromkeys(known[name] for name in domains or table.domains)),
        [*(memories or ())] if named_memories else list(table.assistants),
        table.table.sample,
        table.table.repeats,
        table.table.repeats_of,
    )


def paper_plan(
    settings: "Settings", reference: str, domains: Sequence[str], assistants: Sequence[str]
) -> list[str]:
    """Return lines on what the run of a paper's table does: its domains, assistants, models, and missing data."""
    from memflow.papers.cells import same_model

    table = find_table(reference)
    plain = list(dict.fromkeys(map(plain_name, assistants)))
    model = settings.roles.assistant
    others = [name for name in table.models if not same_model(name, model)]
    repeats = len(assistants) // len(plain)
    evaluations = f", {repeats} evaluations of each ({settings.repeats_of})" if repeats > 1 else ""
    return [
        f"{table.reference} ({table.paper.source}, {table.name}): {table.table.title}, profile {table.table.profile}",
        f"  domains: {', '.join(domains)}",
        f"  assistants: {', '.join(plain)}{evaluations}",
        f"  model: {model}" + (f"; the paper's: {', '.join(others)}" if others else ""),
        *(f"  {line}" for line in missing_lines(missing_data(settings, table))),
        *([f"  {table.table.note}"] if table.table.note else []),
    ]


def missing_lines(missing: Mapping[str, str]) -> list[str]:
    """Return lines on missing data sets: how to get each of a few, or the names of many."""
    if len(missing) <= MOST_ADVICE:
        return [f"missing: {name}. {advice}" for name, advice in missing.items()]
    return [f"missing: {', '.join(missing)}. `memflow data` lists how to get them."]


def missing_data(settings: "Settings", table: TableOfPaper) -> dict[str, str]:
    """Return how to get each missing data set of a table, by its name; empty if none is missing."""
    from memflow.resources.data.library import Library

    library = Library(settings.data, settings.datasets)
    names = dict.fromkeys(name for domain in map(settings.domain, table.domains) for name in domain.datasets)
    datasets = [library.dataset(name) for name in names]
    return {dataset.name: dataset.advice for dataset in datasets if not library.found(dataset)}


def listed_tables(settings: "Settings", paper: str | None = None) -> list[dict[str, Any]]:
    """Return a row for each table and figure of all papers, or of one: its command, and what is missing to run it.

    Raises BadInput for an unknown paper.
    """
    if paper is not None and paper not in papers():
        raise BadInput(unknown_name("paper", paper, papers(), COMMAND))
    return [
        {
            "paper": benchmark,
            "paper_title": table.paper.title,
            "source": table.paper.source,
            "table": table.reference,
            "name": table.name,
            "title": table.table.title,
            "command": table.command(),
            "models": list(table.models),
            "missing": [*missing_data(settings, table)] if table.runs else [],
            "unavailable": table.table.unavailable,
            "note": table.table.note,
        }
        for benchmark in ([paper] if paper else papers())
        for table in tables_of(benchmark)
    ]


def stored_table(reader: "Reader", reference: str, *, model: str = "", limit: int = 0) -> "MeasuredTable":
    """Return a table with the values of a home. Raises BadInput for an unknown table or model."""
    from memflow.papers.cells import measure, same_model

    table = find_table(reference)
    for fault in problems(table):
        raise BadInput(f"{fault} Fix paper.yaml.")

    records = cache(lambda view: view_records(reader, view))
    measured = measure(table, reader.scores(), records, model=model, limit=limit)
    if model and not any(same_model(model, name) for name in measured.models):
        raise BadInput(unknown_name("model", model, measured.models, owner=f"the stored table {reference}"))
    return measured
