"""`memflow show deviations`: the points in which a domain's runs differ from the published protocol.

The benchmark declares the points (memflow/benchmarks/protocol.py). The values are those of stored verdicts or, without
any, of the settings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.options import AssistantFilter
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.stored_names import assistants_of, check_names
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.benchmarks.protocol import ProtocolPoint
    from resources.lake.lake import Lake
    from resources.settings.settings import Settings

VERDICTS = "score.verdicts"
COLUMNS = ("point", "published", "here")
DomainArgument = Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain (`memflow domains`).")]
AllOption = Annotated[
    bool, typer.Option("--all", help="Also list the points that do not change memflow's scores.")
]


@dataclass(frozen=True)
class Deviation:
    """A point that differs from the published protocol, with one value and the assistants that have this value."""

    point: "ProtocolPoint"
    value: Any
    assistants: tuple[str, ...]
    """Empty if the value is that of every assistant."""


def deviations(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: AssistantFilter = None,
    every: AllOption = False,
    form: FormatOption = Format.text,
) -> None:
    """List the points in which a domain differs from the protocol of its benchmark's published code.

    The values are those of the stored runs, or of the settings where nothing was run: parameters, decoding, models,
    embedder, prompts, sample, and what memflow always does differently. DOMAIN.PROFILE is a domain under another
    protocol profile.
    """
    from memflow.benchmarks import registry
    from resources.settings.prompt_folders import activate_prompts

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
    found = list(_deviations(points, values))
    shown = [each for each in found if every or each.point.changes_scores]
    hidden = len(found) - len(shown)
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
            "deviations": [
                {
                    "point": each.point.name,
                    "topic": each.point.topic,
                    "published": each.point.published_value,
                    "value": each.value,
                    "assistants": list(each.assistants or values),
                    "paper": each.point.paper,
                    "source": each.point.source,
                    "changes_scores": each.point.changes_scores,
                    "set_by": each.point.setting.set_by or None,
                }
                for each in found
            ],
        },
        table(
            f"{domain}, profile {of.profile}: differences from {protocol.code or 'the paper'}",
            COLUMNS,
            [_row(each) for each in shown],
        ),
        note(
            f"\n{len(found)} of {len(points)} points differ. Values: {source}."
            + (f" {hidden} do not change scores; `--all` shows them." if hidden else "")
            + " `--format json` has the sources."
        ),
    )


def _values(
    settings: "Settings", lake: "Lake", domain: "Domain", assistants: Sequence[str] | None
) -> tuple[Mapping[str, Mapping[str, Any]], bool]:
    """Return the values of the protocol points by assistant, and whether these are values of stored runs."""
    from resources.settings.protocol_values import protocol_values, stored_values

    names = assistants_of(lake, VERDICTS, domain.name)
    stored = {name: values for name in names if (values := stored_values(lake, domain, name)) is not None}
    if stored:
        check_names(f"the stored runs of {domain.name}", "assistant", assistants, stored)
        return {name: stored[name] for name in assistants or stored}, True
    chosen = assistants or settings.assistants
    return {name: protocol_values(settings, domain, name) for name in chosen}, False


def _deviations(
    points: Iterable["ProtocolPoint"], values: Mapping[str, Mapping[str, Any]]
) -> Iterator[Deviation]:
    from memflow.benchmarks.protocol_settings import Fixed

    for point in points:
        if isinstance(point.setting, Fixed):
            if point.deviates(None):
                yield Deviation(point, point.memflow, ())
            continue
        given = {name: of_one[point.name] for name, of_one in values.items() if point.name in of_one}
        distinct: list[Any] = []  # a value may be a list, which has no hash
        for value in given.values():
            if value not in distinct and point.deviates(value):
                distinct.append(value)
        for value in distinct:
            assistants = tuple(name for name, of_one in given.items() if of_one == value)
            yield Deviation(point, value, () if len(assistants) == len(values) else assistants)


def _row(deviation: Deviation) -> tuple[str, str, str]:
    of = f" ({', '.join(deviation.assistants)})" if deviation.assistants else ""
    point = deviation.point
    return point.topic, str(point.published_value), f"{deviation.value}{of}"
