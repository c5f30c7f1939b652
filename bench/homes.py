"""Homes of benchmarks and drills: settings in which a stub server plays every role, and the contents of a lake."""

from memflow.records import APPEND_ONLY, TABLES
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.roles import Roles

STUB = """embedder = {{ kind = "hashing" }}

[models.stub]
kind = "endpoint"
url = "{url}"
model = "stub"
concurrency = {concurrency}

[roles]
""" + "".join(f'{role} = "stub"\n' for role in Roles.model_fields)


def stub_settings(url: str, concurrency: int) -> str:
    """Return the embedder, model and roles of memflow.toml. Other settings without a section must precede them."""
    return STUB.format(url=url, concurrency=concurrency)


def partition_facts(lake: Lake) -> dict[str, Facts]:
    """Return the metadata of each table and partition of a lake.

    Append-only tables are left out: they contain the times and runs of a home.
    """
    found = {}
    for table in TABLES:
        for partition in () if table in APPEND_ONLY else lake.partitions(table):
            facts = lake.facts(table, partition)
            assert facts is not None, f"{table} {partition} has rows but no metadata"
            found[f"{table} {partition}"] = facts
    return found


def content_hashes(lake: Lake) -> dict[str, str]:
    """Return the content hash of each table and partition of a lake, without append-only tables."""
    return {name: facts.digest for name, facts in partition_facts(lake).items()}
