"""What a run ends with: the leaderboard, the accounts, what failed or is missing, and where the database is."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from memflow.chat.scripted import LABEL
from memflow.cli.progress import name_of
from memflow.cli.selection import Selection
from memflow.cli.walk import Outcome, duckdb_path
from memflow.datasets import Dataset
from memflow.records import Figure

SIDE = ("state_match",)
"""Metrics that the end of a run leaves to `memflow show leaderboard`."""


@dataclass(frozen=True)
class Summary:
    """The end of a run."""

    figures: list[Figure]
    accounts: list[dict[str, Any]]
    failed: list[tuple[str, str]]
    missing: dict[str, list[Dataset]]
    ran: int
    kept: int
    duckdb: str

    @classmethod
    def of(cls, selection: Selection, outcome: Outcome) -> "Summary":
        """The summary of what was selected: its own figures, and the accounts of its own runs."""
        figures = [
            figure
            for figure in outcome.figures
            if figure.domain in selection.domains and figure.assistant in selection.assistants
        ]
        failed = [(name_of(leg), reason) for leg, reason in outcome.failed]
        path = str(duckdb_path(selection.settings))
        return cls(
            figures, outcome.accounts, failed, outcome.missing, len(outcome.ran), len(outcome.kept), path
        )

    @property
    def scripted(self) -> bool:
        """Whether a scripted chat stood where a language model does."""
        return any(figure.scripted for figure in self.figures)

    def as_json(self) -> str:
        """One JSON object."""
        return json.dumps(
            {
                "label": LABEL if self.scripted else None,
                "leaderboard": [asdict(figure) for figure in self.figures],
                "accounts": self.accounts,
                "runs": {"done": self.ran, "up_to_date": self.kept, "failed": self.failed},
                "missing": {name: [each.name for each in lacking] for name, lacking in self.missing.items()},
                "duckdb": self.duckdb,
            },
            ensure_ascii=False,
            indent=2,
        )

    def show(self, console: Console) -> None:
        """Print it for a person."""
        for domain in dict.fromkeys(figure.domain for figure in self.figures):
            console.print(leaderboard([figure for figure in self.figures if figure.domain == domain], domain))
        if self.accounts:
            console.print(_accounts(self.accounts))
        for domain, lacking in self.missing.items():
            console.print(f"\n[yellow]{domain}: not measured, for want of data or of a reader:[/yellow]")
            for each in lacking:
                console.print(f"  {each.name}: {each.how}", highlight=False)
        for name, reason in self.failed:
            console.print(f"[red]failed[/red]  {name}: {reason}", highlight=False)
        if self.scripted:
            console.print(
                f"\n[bold yellow]The chat here was {LABEL}.[/bold yellow] "
                "Its figures show that the chain works; they say nothing of any model."
            )
        console.print(
            f"\n{self.ran} runs done, {self.kept} up to date, {len(self.failed)} failed.", highlight=False
        )
        console.print(
            f"All tables: {self.duckdb}   (memflow sql, or any DuckDB)", highlight=False, soft_wrap=True
        )


def leaderboard(figures: Sequence[Figure], title: str) -> Table:
    """The figures over all slices `all`: an assistant a row, a metric a column, with the interval of the main ones."""
    shown = [
        figure
        for figure in figures
        if (figure.slice, figure.variant) == ("all", "standard") and figure.metric not in SIDE
    ]
    metrics = list(dict.fromkeys(figure.metric for figure in shown))
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False)
    table.add_column("assistant", no_wrap=True)
    for metric in metrics:
        table.add_column(metric.replace("_", "\n"), justify="right", no_wrap=True)
    table.add_column("n", justify="right")
    by_assistant: dict[str, dict[str, Figure]] = {}
    for figure in shown:
        by_assistant.setdefault(figure.assistant, {})[figure.metric] = figure
    for assistant, row in sorted(by_assistant.items(), key=lambda item: _rank(item[1].get(metrics[0]))):
        counted = "/".join(dict.fromkeys(str(row[metric].n) for metric in metrics if metric in row))
        table.add_row(assistant, *(cell(row.get(metric)) for metric in metrics), counted)
    return table


def cell(figure: Figure | None) -> str:
    """`0.43` and its interval; a figure that may not be shown says so."""
    if figure is None:
        return "-"
    if figure.value is None:
        return f"none ({figure.coverage:.0%} covered)" if figure.coverage < 1 else "none"
    helper = figure.metric in ("random", "upper_bound") or figure.metric.endswith("_failure")
    if helper or figure.low is None or figure.high is None:
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f} [{figure.low:.2f} {figure.high:.2f}]"


def _rank(figure: Figure | None) -> float:
    return float("inf") if figure is None or figure.value is None else -figure.value


def _accounts(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(title="accounts of this run", title_justify="left", title_style="bold", show_edge=False)
    table.add_column("stage")
    table.add_column("role")
    names = ("asked", "kept", "failed", "prompt_tokens", "completion_tokens")
    for name in (*names, "seconds"):
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(
            row["stage"], row["role"], *(f"{row[name]:,}" for name in names), f"{row['latency_s']:,.1f}"
        )
    return table
