"""The points in which a domain's runs differ from the protocol of its benchmark's paper or published code.

Benchmarks and memories declare the points; their values are those of stored verdicts or, without any, of the settings.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memflow.errors import BadInput
from memflow.operations.stored_names import assistants_of, check_names

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.benchmarks.protocol import ProtocolPoint
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

VERDICTS = "score.verdicts"


def deviations_of_domain(
    settings: "Settings", lake: "Lake", name: str, assistants: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the deviations of a domain, `points` being the number of points that concern it.

    Under the profile `paper` the reference is the paper where it specifies a point; elsewhere and otherwise it is the
    published code. Raises BadInput for a benchmark without points, and for an assistant without a stored run where
    others have one.
    """
    from memflow.benchmarks import registry
    from memflow.resources.settings.protocol_values import points_of

    domain = settings.domain(name)
    protocol = registry.protocol(domain.benchmark)
    if not protocol.points:
        raise BadInput(
            f"the benchmark {domain.benchmark} of the domain {name} declares no protocol points, so there is nothing "
            "to compare. Choose a domain of another benchmark."
        )
    values, is_run = _values(settings, lake, domain, assistants)
    points: dict[str, tuple[ProtocolPoint, dict[str, Any]]] = {}
    for assistant, of_assistant in values.items():
        for point in points_of(settings, domain, assistant):
            points.setdefault(point.name, (point, {}))[1][assistant] = of_assistant.get(point.name)
    return {
        "domain": name,
        "profile": domain.profile,
        "values": "run" if is_run else "settings",
        "code": protocol.code,
        "points": len(points),
        "assistants": list(values),
        "deviations": [row for point, of_point in points.values() for row in _rows(point, of_point, domain)],
    }


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


def _rows(point: "ProtocolPoint", values: Mapping[str, Any], domain: "Domain") -> list[dict[str, Any]]:
    """Return a row for each value of a point that differs from its reference, with its assistants."""
    from memflow.benchmarks.protocol_settings import Fixed, PromptText

    profile = domain.profile
    pairs: list[tuple[Any, list[str]]] = []  # a value may be a list, which has no hash
    for assistant, value in values.items():
        is_text = isinstance(point.setting, Fixed | PromptText)
        if (value is None and not isinstance(point.setting, Fixed)) or not point.deviates(value, profile):
            continue
        shown = point.memflow if is_text else value
        assistants = next((names for other, names in pairs if other == shown), None)
        if assistants is None:
            pairs.append((shown, [assistant]))
        else:
            assistants.append(assistant)
    code = (
        "published code" if point.paper else "paper or published code"
    )  # a memory's points do not tell them apart
    return [
        {
            "point": point.name,
            "topic": point.topic,
            "published": point.reference(),
            "reference": point.reference(profile),
            "reference_is": "paper" if point.is_of_paper(profile) else code,
            "value": value,
            "assistants": assistants,
            "paper": point.paper,
            "source": point.source,
            "changes_scores": point.changes_scores,
            "set_by": point.setting.set_by.format(**vars(point.setting)) or None,
            "prompts": [*point.setting.names(domain.benchmark)]
            if isinstance(point.setting, PromptText)
            else [],
        }
        for value, assistants in pairs
    ]
