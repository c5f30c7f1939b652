"""The result of `memflow gate` as text, JSON and JUnit XML.

In JUnit a regression is a failure, an open decision that exit code 0 depends on is an error, and any other open
decision is skipped: the file is red exactly where the exit code is not 0.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from rich.console import RenderableType

from memflow.cli.comparison_text import p_text
from memflow.cli.evidence import label_note
from memflow.cli.gate_operands import Gated
from memflow.cli.output import Text, interval_text, note, records_table
from memflow.control_characters import visible
from memflow.scoring.decisions import CANNOT_TELL, REGRESSION, GateDecision

COLORS = {REGRESSION: "bold red", CANNOT_TELL: "bold yellow"}
NUMBERS = ("new", "old", "new - old", "95 % interval", "p", "pairs")
NOT_XML = re.compile("[\ufffe\uffff]")
"""Characters that XML forbids and that `visible` leaves; it replaces the others."""
SETTINGS_CASE = "comparable"


def gate_data(gated: Gated) -> dict[str, Any]:
    """Return the result as plain values."""
    result = gated.result
    return {
        "label": gated.label,
        "state": result.state,
        "exit_code": result.exit_code,
        "domain": gated.domain,
        "assistant": gated.assistant,
        "baseline": gated.baseline,
        "margin": gated.options.margin,
        **asdict(result),
    }


def gate_parts(gated: Gated) -> Iterator[RenderableType]:
    """Yield the result as text: the decision, the required and the worse scores, and what was adjusted over."""
    result = gated.result
    title = f"{gated.assistant} against {gated.baseline} in {gated.domain}"
    yield Text(f"{title}: {result.state}", style=COLORS.get(result.state, "bold green"))
    for fault in result.faults:
        yield Text(f"Cannot tell: {fault}.", style="yellow")
    shown = [decision for decision in result.decisions if decision.required or decision.state == REGRESSION]
    if shown:
        yield records_table([_cells(decision) for decision in shown], right=NUMBERS)
    for decision in shown:
        if decision.reason:
            yield note(f"{decision.name}: {decision.reason}.")
    others = [decision for decision in result.decisions if decision not in shown]
    if others:
        undecided = sum(decision.state == CANNOT_TELL for decision in others)
        yield note(
            f"{len(others):,} more that are not required: no regression in {len(others) - undecided:,}, cannot tell in "
            f"{undecided:,}. Require a metric or slice with `--metric` or `--slice`; `--format json` lists all."
        )
    margin = [f"Margin: {gated.options.margin:g} of the metric's range"] if result.families else []
    for text in (*margin, *result.families, *result.notices):
        yield note(f"{text}.")
    yield from label_note(gated.label, "this decision shows that the gate works; it measures no model.")


def gate_junit(gated: Gated) -> str:
    """Return the result as JUnit XML: a test case for the settings, and one for each metric and slice."""
    result, classname = gated.result, _xml(f"{gated.domain}.{gated.assistant}")
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name=_xml(f"memflow gate {gated.domain}"))

    def case(name: str, kind: str | None, text: str, state: str) -> None:
        element = ElementTree.SubElement(suite, "testcase", classname=classname, name=_xml(name), time="0")
        if kind is not None:
            outcome = ElementTree.SubElement(element, kind, message=_xml(text))
            if kind != "skipped":
                outcome.set("type", state)
        elif text:
            ElementTree.SubElement(element, "system-out").text = _xml(text)

    case(SETTINGS_CASE, "error" if result.faults else None, "; ".join(result.faults), CANNOT_TELL)
    for decision in result.decisions:
        undecided = "error" if decision.required else "skipped"
        kind = {REGRESSION: "failure", CANNOT_TELL: undecided}.get(decision.state)
        case(decision.name, kind, _sentence(decision), decision.state)
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for element in (suite, suites):
        element.attrib.update({name: str(sum(1 for _ in suite.iter(tag))) for name, tag in tags.items()})
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    return NOT_XML.sub("\ufffd", visible(text))


def _cells(decision: GateDecision) -> dict[str, Any]:
    return {
        "score": decision.name,
        "decision": decision.state,
        "new": decision.value,
        "old": decision.baseline,
        "new - old": None if decision.difference is None else f"{decision.difference:+.3f}",
        "95 % interval": interval_text(decision.low, decision.high, "+.3f"),
        "p": "" if decision.p_adjusted is None else p_text(decision.p_adjusted),
        "pairs": decision.n,
    }


def _sentence(decision: GateDecision) -> str:
    """Return a decision in words, such as `accuracy, all: regression: new - old is -0.100 [...]`."""
    parts = [f"{decision.name}: {decision.state}"]
    if decision.difference is not None:
        interval = "" if decision.low is None else f" [{decision.low:+.3f}, {decision.high:+.3f}]"
        p = "" if decision.p_adjusted is None else f", p {p_text(decision.p_adjusted)}"
        parts.append(f"new - old is {decision.difference:+.3f}{interval}{p}, {decision.n:,} pairs")
    return ": ".join([*parts, *([decision.reason] if decision.reason else [])])
