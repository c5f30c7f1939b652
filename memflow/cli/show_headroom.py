"""`memflow show headroom`: which read failures of a memory would a better search over its entries have avoided?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType

from memflow.cli.options import (
    AnyAssistantArgument,
    AnyDomainArgument,
    EmbedderOption,
    EmbedderPresetOption,
    EmbedderUrlOption,
    front_of,
)
from memflow.cli.output import Format, FormatOption, print_result
from memflow.cli.selection import select
from memflow.errors import BadInput
from memflow.operations.messages import message
from memflow.operations.stored_names import assistants_of, check_names
from memflow.rendering.tables import Column, Text, table_of
from memflow.rendering.texts import heading, note

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings
    from memflow.scoring.comparison import PairedDifference
    from memflow.scoring.headroom import Headroom

ATTRIBUTIONS = "score.attributions"
RANKINGS = ("memory", "vector", "text", "hybrid", "random")
EXPLANATION = (
    "\nMean share of the evidence that is recalled with the memory's own number of entries and tokens. best: for each "
    "episode, the search that recalls most in the other episodes. gain: best minus memory. avoided: share of the "
    "memory's read failures that best would have avoided, in brackets the share of random orders. Square brackets are "
    "95 % intervals."
)
NEXT = "\nNothing is measured yet. `memflow show headroom DOMAIN` searches the stored entries again."


def headroom(
    ctx: typer.Context,
    domain: AnyDomainArgument = None,
    assistant: AnyAssistantArgument = None,
    embedder: EmbedderOption = None,
    embedder_url: EmbedderUrlOption = None,
    embedder_preset: EmbedderPresetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Show which read failures of a memory a better search over the same entries would have avoided.

    With a domain, the stored entries are first searched again where that is missing or outdated, by vector, text and
    both: without a chat model, at most as many entries and tokens as the memory recalled. Without, what was measured is
    shown.
    """
    from memflow.resources.publishing.headroom import stored_headroom

    front = front_of(ctx)
    settings, lake = front.load(), front.lake()
    if domain is not None and front.as_of is None:
        domains = {partition.partition("/")[0] for partition in lake.partitions(ATTRIBUTIONS)}
        check_names("the lake", "domain with attributed failures", [domain], domains)
        names = assistants_of(lake, ATTRIBUTIONS, domain)
        check_names(domain, "assistant with attributed failures", [assistant] if assistant else None, names)
        chosen = [assistant] if assistant else names
        settings = select(
            front,
            domains=[domain],
            assistants=chosen,
            baselines=False,
            embedder=embedder,
            embedder_url=embedder_url,
            embedder_preset=embedder_preset,
        ).settings
        _measure(settings, domain, chosen)
    rows = [
        row
        for row in stored_headroom(settings, lake)
        if domain in (None, row.domain) and assistant in (None, row.assistant)
    ]
    parts: list[RenderableType] = []
    for name in dict.fromkeys(row.domain for row in rows):
        of_domain = [row for row in rows if row.domain == name]
        parts.append(heading(f"{name}: {max(row.probes for row in of_domain):,} probes with evidence"))
        parts.append(table_of(of_domain, COLUMNS))
        parts += [Text(f"{row.assistant}: {row.statement}") for row in of_domain]
    flat = [{name: value for name, value in row.values.items() if name != "curves"} for row in rows]
    print_result(form, [row.values for row in rows], *parts, note(EXPLANATION if rows else NEXT), rows=flat)


def _measure(settings: "Settings", domain: str, assistants: Sequence[str]) -> None:
    """Materialize score/retrieval of the assistants where it is missing or outdated. Raises BadInput for a failure."""
    from memflow.assets.fingerprints import Fingerprints
    from memflow.pipeline import RETRIEVAL_JOB, WRITERS, partition_key
    from memflow.resources.indexes.search import check_stored_embedder

    fingerprints = Fingerprints.of(settings)
    step, stale = WRITERS["score.retrieval"], []
    for name in assistants:
        facts = fingerprints.lake.intact_facts("score.retrieval", partition_key(domain, name))
        if facts is None or facts.fingerprint != fingerprints.step(step, domain, name):
            check_stored_embedder(settings, fingerprints.lake, domain, name)
            stale.append(name)
    if not stale:
        return
    from memflow.operations.executor import open_executor
    from memflow.operations.planned_runs import PlannedRun

    with open_executor(settings, fingerprints, lambda context, done, total: None, None) as executor:
        for name in stale:
            message(f"Searching the entries of {name} in {domain} again.")
            _, reason = executor.run(PlannedRun("domain x assistant", domain, name), RETRIEVAL_JOB)
            if reason:
                raise BadInput(
                    f"the entries of {name} in {domain} cannot be searched again: {reason}. Select "
                    "another assistant with --assistant."
                )


def _whole(name: str) -> Column:
    return lambda row: None if row.values[name] is None else round(row.values[name])


def _value(name: str) -> Column:
    return lambda row: row.values[name]


def _interval(gain: "PairedDifference | None", form: str = ".2f") -> str:
    """Return a difference with its interval as text, such as `0.18 [0.16 0.19]`."""
    if gain is None or gain.difference is None:
        return ""
    if gain.low is None or gain.high is None:
        return f"{gain.difference:{form}}"
    return f"{gain.difference:{form}} [{gain.low:{form}} {gain.high:{form}}]"


def _avoided(row: "Headroom") -> str:
    by_random = "" if row.avoided_by_random is None else f" ({row.avoided_by_random:.2f})"
    return f"{_interval(row.avoided)}{by_random}"


COLUMNS: dict[str, Column] = {
    "assistant": "assistant",
    "k": _whole("k"),
    "tokens": _whole("tokens"),
    **{name: _value(name) for name in (*RANKINGS, "best")},
    "gain": lambda row: _interval(row.gain, "+.2f"),
    "read failures": _value("read_failures"),
    "avoided": _avoided,
}
