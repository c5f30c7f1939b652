"""The two things every asset body does besides its own: book its requests, and keep its rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from assets.fingerprints import STATES
from assets.partitions import parts, place
from assets.report import booked, report
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.records import Probe, Record
from resources.lake import RUN, Lake
from resources.models import Models

UNFINISHED = "some requests got no answer"
"""Stands in for a recipe where a run should try again."""


class Take(dg.Config):
    """How much of a domain to take."""

    limit: int = Field(
        default=0,
        ge=0,
        description="Users, test questions (MemoryBench), trajectories (MemBench) or contexts (CoMem); 0 is all.",
    )


def account(context: dg.AssetExecutionContext, stage: str) -> RequestContext:
    """On whose account a step's requests are booked."""
    domain, assistant = parts(context)
    return RequestContext(run=context.run.run_id, stage=stage, domain=domain, assistant=assistant)


def keep(
    context: dg.AssetExecutionContext,
    lake: Lake,
    models: Models,
    table: str,
    rows: Sequence[Any],
    recipe: str,
    meta: Mapping[str, str] | None = None,
) -> dg.MaterializeResult:
    """Write a table's partition, and report it with the accounts of its stage. `meta` is kept beside the rows, with
    the run: what the partition cost is booked there.

    A step in which requests were given up is not up to date: the next run asks for what got no answer.
    """
    accounts = booked(models.ledger, context.run.run_id, table.split(".", maxsplit=1)[0])
    if accounts["failed"]:
        recipe = UNFINISHED
    kept = {RUN: context.run.run_id, **(meta or {})}
    facts = lake.write(table, place(*parts(context)), rows, recipe=recipe, meta=kept)
    return report(table, rows, facts.digest, accounts)


def records_of(lake: Lake, domain: Domain) -> list[Record]:
    """The records of those data sets of a domain that were read. Raises MissingData where none was."""
    read = set(lake.partitions("raw.records"))
    there = [name for name in domain.datasets if name in read]
    return lake.read_all("raw.records", there or domain.datasets)


def probes_of(lake: Lake, domain: str) -> list[Probe]:
    """The probes that a domain's assistants are asked: those of split test."""
    return [probe for probe in lake.read("question.probes", domain) if probe.split == "test"]


def states_of(lake: Lake, domain: str) -> States:
    """The state tables of a domain."""
    return States(*(lake.read(table, domain) for table in STATES))
