"""`memflow gate`: whether an assistant is worse than a baseline, as an exit code for CI, text, JSON and JUnit XML.

memflow/scoring/gate.py decides; memflow/operations/gate_operands.py reads what is compared.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer
from rich.console import RenderableType

from memflow.cli.options import DomainArgument, argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.control_characters import visible
from memflow.errors import BadInput
from memflow.rendering.evidence import label_note
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import interval_text, note, p_text
from memflow.scoring.decisions import CANNOT_TELL, MARGIN, REGRESSION, GateDecision, GateOptions, GateReport

COLORS = {REGRESSION: "bold red", CANNOT_TELL: "bold yellow"}
COLUMNS: Columns = {
    "score": "name",
    "decision": "state",
    "new": "value",
    "old": "baseline",
    "new - old": lambda decision: None if decision.difference is None else f"{decision.difference:+.3f}",
    "95 % interval": lambda decision: interval_text(decision.low, decision.high, "+.3f"),
    "p": lambda decision: "" if decision.p_adjusted is None else p_text(decision.p_adjusted),
    "pairs": "n",
}
NOT_XML = re.compile("[\ufffe\uffff]")
"""Characters that XML forbids and that `visible` leaves; it replaces the others."""
SETTINGS_CASE = "comparable"


def gate(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: Annotated[
        str, argument("ASSISTANT", "The assistant that was run, [:VARIANT] as in `memflow compare`.")
    ],
    baseline: Annotated[
        str,
        option(
            "--baseline",
            "An assistant; a moment of one, as ASSISTANT=TIME, or =TIME for the same assistant; or a file of "
            "`memflow export verdicts` (.jsonl) or `export bundle` (.zip).",
            metavar="BASELINE",
        ),
    ],
    margin: Annotated[
        float,
        option("--margin", "The loss that is accepted, as a share of the metric's range.", metavar="SHARE"),
    ] = MARGIN,
    metric: Annotated[
        list[str] | None,
        option(
            "--metric",
            "Require this metric, and compare only such metrics; may be repeated. [compare the quality metrics, "
            "and require those of at least 6 episodes]",
        ),
    ] = None,
    slices: Annotated[
        list[str] | None,
        option(
            "--slice",
            "Require this slice, and compare only such slices; may be repeated; `all` stands for all probes. "
            "[require all probes, and report a regression in any slice]",
        ),
    ] = None,
    junit: Annotated[
        Path | None, option("--junit", "Write a JUnit XML file, replacing it.", metavar="FILE")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Decide whether an assistant is worse than a baseline, for CI.

    Exit code 0: no regression, a loss of the margin is excluded. 1: regression, the 95 % interval of new - old is on
    the worse side of 0, and the adjusted p value is below 0.05. 2: cannot tell: too few episodes, a faulty memory, or
    other probes, data or judges. 3: nothing was compared, because the command line or a file is wrong.

    Examples of baselines: `--baseline bm25_message`, `--baseline =2026-11-20`, `--baseline baseline.jsonl`.
    """
    from memflow.operations.gate_operands import gated

    if not 0 < margin <= 1:
        raise BadInput(
            f"--margin {margin:g} is no share of a metric's range. Use a number above 0 and up to 1, such as {MARGIN}."
        )
    front = front_of(ctx)
    options = GateOptions(margin, tuple(metric or ()), frozenset(slices or ()))
    decided = gated(front.load(), front.lake(), GateReport(domain, assistant, baseline, options))
    if junit is not None:
        write(junit, _junit(decided), force=True)
    result = decided.result
    data = {
        "label": decided.label,
        "state": result.state,
        "exit_code": result.exit_code,
        "domain": domain,
        "assistant": assistant,
        "baseline": baseline,
        "margin": margin,
        **asdict(result),
    }
    print_result(form, data, *_parts(decided), rows=data["decisions"])
    if code := result.exit_code:
        raise typer.Exit(code)


def _parts(gated: GateReport) -> Iterator[RenderableType]:
    """Yield the result as text: the decision, the required and the worse scores, and what was adjusted over."""
    result = gated.result
    title = f"{gated.assistant} against {gated.baseline} in {gated.domain}"
    yield Text(f"{title}: {result.state}", style=COLORS.get(result.state, "bold green"))
    for fault in result.faults:
        yield Text(f"Cannot tell: {fault}.", style="yellow")
    shown = [decision for decision in result.decisions if decision.required or decision.state == REGRESSION]
    if shown:
        yield table_of(shown, COLUMNS)
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


def _junit(gated: GateReport) -> str:
    """Return the result as JUnit XML: a test case for the settings, and one for each metric and slice.

    A regression is a failure. An undecided metric is an error if it is required, and skipped otherwise. So the file
    reports a problem if and only if the exit code is not 0.
    """
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


def _sentence(decision: GateDecision) -> str:
    """Return a decision in words, such as `accuracy, all: regression: new - old is -0.100 [...]`."""
    parts = [f"{decision.name}: {decision.state}"]
    if decision.difference is not None:
        interval = "" if decision.low is None else f" [{decision.low:+.3f}, {decision.high:+.3f}]"
        p = "" if decision.p_adjusted is None else f", p {p_text(decision.p_adjusted)}"
        parts.append(f"new - old is {decision.difference:+.3f}{interval}{p}, {decision.n:,} pairs")
    return ": ".join([*parts, *([decision.reason] if decision.reason else [])])
