"""What a run ends with: the leaderboard, the usage, what failed or is missing, and where the database is."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.chat.scripted import LABEL
from memflow.cli.evidence import evidence, told_by_evidence
from memflow.cli.made import made_of, share_made
from memflow.cli.output import heading, table
from memflow.cli.pipeline import Outcome
from memflow.cli.selection import Selection
from memflow.metrics.ranges import TOKENS, range_of
from memflow.records import EFFICIENCY, Score

MEANING = "Its figures show that the chain works; they say nothing of any model."


@dataclass(frozen=True)
class Summary:
    """The end of a run."""

    figures: list[Score]
    headlines: list[Score]
    """Those that stand in the table; the others are left to `memflow show leaderboard`."""
    usage: list[dict[str, Any]]
    failed: list[tuple[str, str]]
    missing: dict[str, list[Dataset]]
    ran: int
    up_to_date: int
    skipped: list[str]
    duckdb: str
    made: list[dict[str, Any]]
    """The tables of its domains' users, where something in them is quarantined."""

    @classmethod
    def of(cls, selection: Selection, outcome: Outcome) -> "Summary":
        """The summary of what was selected: its own figures, and the usage of its own runs."""
        figures = [
            figure
            for figure in outcome.figures
            if figure.domain in selection.domains and figure.assistant in selection.assistants
        ]
        failed = [(run.name, reason) for run, reason in outcome.failed]
        path = str(selection.settings.warehouse_path)
        benchmarks = {
            name: registry.benchmark(selection.settings.domain(name).benchmark) for name in selection.domains
        }
        return cls(
            figures,
            [
                figure
                for figure in figures
                if figure.metric not in EFFICIENCY and benchmarks[figure.domain].headline(figure.metric)
            ],
            outcome.usage,
            failed,
            outcome.missing,
            len(outcome.ran),
            len(outcome.up_to_date),
            [run.name for run in outcome.skipped],
            path,
            [
                row
                for row in share_made(selection.settings)
                if row["domain"] in selection.domains and (row["quarantined"] or row["left_out"])
            ],
        )

    @property
    def scripted(self) -> bool:
        """Whether a scripted chat stood where a language model does."""
        return any(figure.scripted for figure in self.figures)

    def data(self) -> dict[str, Any]:
        """It as plain data."""
        return {
            "label": LABEL if self.scripted else None,
            "leaderboard": [asdict(figure) for figure in self.figures],
            "usage": self.usage,
            "quarantined": self.made,
            "runs": {
                "done": self.ran,
                "up_to_date": self.up_to_date,
                "failed": self.failed,
                "skipped": self.skipped,
            },
            "missing": {name: [each.name for each in lacking] for name, lacking in self.missing.items()},
            "duckdb": self.duckdb,
        }

    def shown(self) -> list[RenderableType]:
        """What a person is shown of it."""
        shown: list[RenderableType] = []
        for domain in dict.fromkeys(figure.domain for figure in self.figures):
            of_domain = [figure for figure in self.figures if figure.domain == domain]
            headlines = [figure for figure in self.headlines if figure.domain == domain]
            shown += [heading(domain), board(headlines), *evidence(of_domain)]
        for domain in dict.fromkeys(row["domain"] for row in self.made):
            shown += made_of(domain, self.made)
        if self.usage:
            shown += [heading("usage of this run"), _usage(self.usage)]
        for domain, lacking in self.missing.items():
            shown.append(heading(f"{domain} was not measured whole; it lacks"))
            shown += [Text(f"  {each.name}: {_why(each)}") for each in lacking]
        shown += [Text(f"failed: {name}: {reason}", style="red") for name, reason in self.failed]
        if self.scripted:
            shown.append(Text(f"\nThe chat here was {LABEL}. {MEANING}", style="bold yellow"))
        done = f"\n{self.ran} runs done, {self.up_to_date} up to date, {len(self.failed)} failed."
        if self.skipped:
            done += f" {len(self.skipped)} skipped, because their inputs failed."
        return [*shown, Text(f"{done} All tables: {self.duckdb} (memflow sql, or any DuckDB)")]


def board(figures: Sequence[Score]) -> Table:
    """The figures over all: an assistant a row, a metric a column, with the interval of the main ones."""
    whole = [
        figure
        for figure in figures
        if (figure.slice, figure.variant) == ("all", "standard") and not told_by_evidence(figure)
    ]
    metrics = list(dict.fromkeys(figure.metric for figure in whole))
    by_assistant: dict[str, dict[str, Score]] = {}
    for figure in whole:
        by_assistant.setdefault(figure.assistant, {})[figure.metric] = figure
    ranked = sorted(by_assistant.items(), key=lambda item: _rank(item[1].get(metrics[0])))
    names = [metric.replace("_", "\n") for metric in metrics]
    rows = [
        [assistant, *(cell(row.get(metric)) for metric in metrics), *_counted(row)]
        for assistant, row in ranked
    ]
    return table("", ["assistant", *names, "n", "covered"], rows, right=[*names, "n", "covered"])


def _counted(row: Mapping[str, Score]) -> tuple[str, str]:
    counted = dict.fromkeys(str(figure.n) for figure in row.values())
    return "/".join(counted), f"{min(figure.coverage for figure in row.values()):.0%}"


def _why(each: Dataset) -> str:
    return each.how if each.readable else f"memflow has no reader for it yet. {each.how}"


def cell(figure: Score | None) -> str:
    """`0.43` and its interval, or whole tokens; a figure that may not be shown says so."""
    if figure is None:
        return "-"
    if figure.value is None:
        return "none"
    value, ends = (",.0f", ",.0f") if range_of(figure.metric) == TOKENS else (".3f", ".2f")
    floor = figure.metric in ("random", "constant", "guess")
    helper = floor or figure.metric == "upper_bound" or figure.metric.endswith("_failure")
    if helper or figure.low is None or figure.high is None:
        return f"{figure.value:{value}}"
    return f"{figure.value:{value}} [{figure.low:{ends}} {figure.high:{ends}}]"


def _rank(figure: Score | None) -> float:
    return float("inf") if figure is None or figure.value is None else -figure.value


def _usage(rows: Sequence[dict[str, Any]]) -> Table:
    names = ("requests", "cache_hits", "failed", "prompt_tokens", "completion_tokens", "seconds")
    shown = [
        [row["stage"], row["role"], *(f"{row[name]:,}" for name in names[:-1]), f"{row['latency_s']:,.1f}"]
        for row in rows
    ]
    titles = [name.replace("_", " ") for name in names]
    return table("", ["stage", "role", *titles], shown, right=titles)
