"""`memflow show deviations`: the points in which a domain's runs differ from the published protocol.

The benchmark declares the points (memflow/benchmarks/protocol.py). The values are those of stored verdicts or, without
any, of the settings.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.options import AssistantFilter, DomainArgument
from memflow.cli.output import Format, FormatOption, answer, note, table_of
from memflow.cli.stored_names import assistants_of, check_names
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.benchmarks.protocol import ProtocolPoint
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

VERDICTS = "score.verdicts"


def deviations(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: AssistantFilter = None,
    form: FormatOption = Format.table,
) -> None:
    """List the points in which a domain differs from the protocol of its benchmark's published code.

    The values are those of the stored runs, or of the settings where nothing was run: parameters, decoding, models,
    embedder, prompts, sample, and what memflow always does differently. DOMAIN.PROFILE is a domain under another
    protocol profile.
    """
    from memflow.benchmarks import registry
    from memflow.resources.settings.prompt_folders import activate_prompts

    settings = front_of(ctx).load()
    activate_prompts(settings)
    of = settings.domain(domain)
    protocol = registry.protocol(of.benchmark)
    if not protocol.points:
        raise BadInput(
            f"the benchmark {of.benchmark} of the domain {domain} declares no protocol points, so there is nothing to "
            "compare. Choose a domain of another benchmark."
        )
    values, is_run = _values(settings, front_of(ctx).lake(), of, assistant)
    systems = {settings.memory_of(name).system.name for name in values}
    points = [
        point
        for point in protocol.points
        if point.concerns(of) and (not point.memories or systems & {*point.memories})
    ]
    rows = [row for point in points for row in _deviations(point, values)]
    shown = [row for row in rows if row["changes_scores"]]
    hidden = len(rows) - len(shown)
    source = "the stored runs" if is_run else "the settings; the domain has no stored run"
    answer(
        form,
        {
            "domain": domain,
            "profile": of.profile,
            "values": "run" if is_run else "settings",
            "code": protocol.code,
            "points": len(points),
            "assistants": list(values),
            "deviations": rows,
        },
        table_of(
            shown,
            {
                "point": "topic",
                "published": lambda row: str(row["published"]),
                "here": lambda row: f"{row['value']}{_some(row['assistants'], values)}",
            },
            f"{domain}, profile {of.profile}: differences from {protocol.code or 'the paper'}",
        ),
        note(
            f"\n{len(rows)} of {len(points)} points differ. Values: {source}."
            + (f" {hidden} do not change scores." if hidden else "")
            + " `--format json` has all of them, with their sources."
        ),
    )


def _values(
    settings: "Settings", lake: "Lake", domain: "Domain", assistants: Sequence[str] | None
) -> tuple[Mapping[str, Mapping[str, Any]], bool]:
    """Return the values of the protocol points by assistant, and whether these are values of stored runs."""
    from memflow.resources.settings.protocol_values import protocol_values, stored_values

    names = assistants_of(lake, VERDICTS, domain.name)
    stored = {name: values for name in names if (values := stored_values(lake, domain, name)) is not None}
    if stored:
        check_names(f"the stored runs of {domain.name}", "assistant", assistants, stored)
        return {name: stored[name] for name in assistants or stored}, True
    chosen = assistants or settings.assistants
    return {name: protocol_values(settings, domain, name) for name in chosen}, False


def _deviations(point: "ProtocolPoint", values: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each value of a point that differs from the published one, with its assistants."""
    from memflow.benchmarks.protocol_settings import Fixed

    pairs: list[tuple[Any, list[str]]] = []  # a value may be a list, which has no hash
    if isinstance(point.setting, Fixed):
        pairs = [(point.memflow, [*values])] if point.deviates(None) else []
    else:
        for name, of_assistant in values.items():
            value = of_assistant.get(point.name)
            if point.name not in of_assistant or not point.deviates(value):
                continue
            assistants = next((names for other, names in pairs if other == value), None)
            if assistants is None:
                pairs.append((value, [name]))
            else:
                assistants.append(name)
    for value, assistants in pairs:
        yield {
            "point": point.name,
            "topic": point.topic,
            "published": point.published_value,
            "value": value,
            "assistants": assistants,
            "paper": point.paper,
            "source": point.source,
            "changes_scores": point.changes_scores,
            "set_by": point.setting.set_by or None,
        }


def _some(assistants: Sequence[str], every: Collection[str]) -> str:
    return f" ({', '.join(assistants)})" if len(assistants) < len(every) else ""
