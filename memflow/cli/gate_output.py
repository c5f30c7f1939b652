"""The result of `memflow gate` as text, JSON, JUnit XML and Markdown.

In JUnit a regression is a failure, an open decision that exit code 0 depends on is an error, and any other open
decision is skipped: the file is red exactly where the exit code is not 0.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from rich.console import RenderableType

from memflow.cli.comparison_text import p_text
from memflow.cli.gate_operands import Gated
from memflow.cli.output import Text, cell, note, table
from memflow.control_characters import visible
from memflow.labels import caveat_of
from memflow.scoring.decisions import CANNOT_TELL, REGRESSION, GateDecision
from memflow.scoring.markdown import escape

COLORS = {REGRESSION: "bold red", CANNOT_TELL: "bold yellow"}
NUMBERS = ("new", "old", "new - old", "95 % interval", "p", "pairs")
HEAD = ("score", "decision", *NUMBERS)
NOT_XML = re.compile("[\ufffe\uffff]")
"""Characters that XML forbids and that `visible` leaves; it replaces the others."""
CAVEAT = "this decision shows that the gate works; it measures no model."
SETTINGS_CASE = "comparable"


def gate_data(gated: Gated) -> dict[str, Any]:
    """Return the result as plain values."""
    request, result = gated.request, gated.result
    return {
        "label": gated.label,
        "state": result.state,
        "exit_code": result.exit_code,
        "domain": request.domain,
        "assistant": request.assistant,
        "baseline": request.baseline,
        "margin": request.options.margin,
        "families": list(result.families),
        "faults": list(result.faults),
        "notices": list(result.notices),
        "decisions": [asdict(decision) for decision in result.decisions],
    }


def gate_parts(gated: Gated) -> Iterator[RenderableType]:
    """Yield the result as text: the decision, the required and the worse scores, and what was adjusted over."""
    result = gated.result
    yield Text(f"{_title(gated)}: {result.state}", style=COLORS.get(result.state, "bold green"))
    for fault in result.faults:
        yield Text(f"Cannot tell: {fault}.", style="yellow")
    shown, rest = _shown(result.decisions)
    if shown:
        yield table("", HEAD, [_cells(decision) for decision in shown], right=NUMBERS)
    for decision in shown:
        if decision.reason:
            yield note(f"{decision.name}: {decision.reason}.")
    if rest:
        yield note(_rest(rest))
    for text in (*_tests(gated), *result.notices):
        yield note(f"{text}.")
    if gated.label:
        yield Text(f"\n{gated.label}: {caveat_of(gated.label, CAVEAT)}", style="yellow")


def gate_markdown(gated: Gated) -> str:
    """Return the result as Markdown, such as for the summary of a CI job."""
    result = gated.result
    lines = [f"### {escape(_title(gated))}: {result.state}", ""]
    lines += [f"Cannot tell: {escape(fault)}.\n" for fault in result.faults]
    shown, rest = _shown(result.decisions)
    if shown:
        lines += [f"| {' | '.join(HEAD)} |", f"|---|---|{'--:|' * len(NUMBERS)}"]
    for decision in shown:
        cells = [escape(cell(value)) for value in _cells(decision)]
        cells[1] = f"**{cells[1]}**" if decision.state == REGRESSION else cells[1]
        lines.append(f"| {' | '.join(cells)} |")
    reasons = [f"{decision.name}: {decision.reason}." for decision in shown if decision.reason]
    notes = [
        *reasons,
        *([_rest(rest)] if rest else []),
        *(f"{text}." for text in (*_tests(gated), *result.notices)),
    ]
    if gated.label:
        notes.append(f"{gated.label}: {caveat_of(gated.label, CAVEAT)}")
    return "\n".join([*lines, "", *(f"* {escape(text)}" for text in notes), ""])


def gate_junit(gated: Gated) -> str:
    """Return the result as JUnit XML: a test case for the settings, and one for each metric and slice."""
    request, result = gated.request, gated.result
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name=_xml(f"memflow gate {request.domain}"))
    classname = _xml(f"{request.domain}.{request.assistant}")
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=SETTINGS_CASE, time="0")
    if result.faults:
        ElementTree.SubElement(case, "error", message=_xml("; ".join(result.faults)), type=CANNOT_TELL)
    for decision in result.decisions:
        case = ElementTree.SubElement(
            suite, "testcase", classname=classname, name=_xml(decision.name), time="0"
        )
        kind = _junit_kind(decision)
        if kind is not None:
            outcome = ElementTree.SubElement(case, kind, message=_xml(_sentence(decision)))
            if kind != "skipped":
                outcome.set("type", decision.state)
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(_sentence(decision))
    for name, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        count = str(sum(1 for _ in suite.iter(tag)))
        suite.set(name, count)
        suites.set(name, count)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _junit_kind(decision: GateDecision) -> str | None:
    if decision.state == REGRESSION:
        return "failure"
    if decision.state == CANNOT_TELL:
        return "error" if decision.required else "skipped"
    return None


def _xml(text: str) -> str:
    return NOT_XML.sub("\ufffd", visible(text))


def _title(gated: Gated) -> str:
    request = gated.request
    return f"{request.assistant} against {request.baseline} in {request.domain}"


def _shown(decisions: Sequence[GateDecision]) -> tuple[list[GateDecision], list[GateDecision]]:
    """Return the decisions that the exit code depends on, and the others."""
    shown = [each for each in decisions if each.required or each.state == REGRESSION]
    return shown, [each for each in decisions if each not in shown]


def _rest(decisions: Sequence[GateDecision]) -> str:
    undecided = sum(decision.state == CANNOT_TELL for decision in decisions)
    return (
        f"{len(decisions):,} more that are not required: no regression in {len(decisions) - undecided:,}, cannot "
        f"tell in {undecided:,}. Require a metric or slice with `--metric` or `--slice`; `--format json` lists all."
    )


def _tests(gated: Gated) -> Iterator[str]:
    if gated.result.families:
        yield f"Margin: {gated.request.options.margin:g} of the metric's range"
    yield from gated.result.families


def _cells(decision: GateDecision) -> list[Any]:
    """Return the values of HEAD."""
    return [
        decision.name,
        decision.state,
        decision.value,
        decision.baseline,
        None if decision.difference is None else f"{decision.difference:+.3f}",
        "" if decision.low is None else f"{decision.low:+.3f} – {decision.high:+.3f}",
        "" if decision.p_adjusted is None else p_text(decision.p_adjusted),
        decision.n,
    ]


def _sentence(decision: GateDecision) -> str:
    """Return a decision in words, such as `accuracy, all: regression: new - old is -0.100 [...]`."""
    parts = [f"{decision.name}: {decision.state}"]
    if decision.difference is not None:
        interval = "" if decision.low is None else f" [{decision.low:+.3f}, {decision.high:+.3f}]"
        p = "" if decision.p_adjusted is None else f", p {p_text(decision.p_adjusted)}"
        parts.append(f"new - old is {decision.difference:+.3f}{interval}{p}, {decision.n:,} pairs")
    return ": ".join([*parts, *([decision.reason] if decision.reason else [])])
