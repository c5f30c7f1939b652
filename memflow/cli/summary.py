"""The summary at the end of `memflow run`: leaderboard, usage, failures, missing data, path of the database."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import RenderableType

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domain_names import DomainName
from memflow.benchmarks.protocol_settings import STANDARD
from memflow.chat.scripted import LABEL
from memflow.cli.evidence import (
    count,
    evidence,
    state_probe_failures,
    warnings,
)
from memflow.cli.made import made_of, share_made
from memflow.cli.output import FittedTable, Text, heading, note, table
from memflow.cli.planned_runs import Outcome
from memflow.cli.profiles import variant_chooser
from memflow.cli.required_checks import unchecked
from memflow.cli.selection import Selection
from memflow.cli.shortened import best_assistants, first_lines
from memflow.labels import caveat_of, interval_notes, score_label
from memflow.records import Score
from memflow.scoring.catalog import find_metric
from memflow.scoring.drift_summary import DomainDrift, grouped
from memflow.scoring.noise_labels import noise_notes, noise_text
from memflow.scoring.primary import primary_scores, ranked_assistants
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, HealthAlarm, flagged, health_alarms
from resources.lake.lake import Lake

MEANING = "Its scores show that the pipeline works; they measure no model."


@dataclass(frozen=True)
class Summary:
    """The summary that `memflow run` prints at its end."""

    outcome: Outcome
    scores: list[Score]
    """The scores of the domains and assistants of this run, without those of former runs."""
    primary: list[Score]
    """The scores of the primary metrics; `memflow show leaderboard` has the others."""
    duckdb: str = ""
    made: list[dict[str, Any]] = field(default_factory=list)
    """The tables of its domains' users, where something in them is quarantined."""
    unchecked: list[str] = field(default_factory=list)
    """Memory servers that ran without a check."""
    drifts: list[DomainDrift] = field(default_factory=list)
    """The changes of inputs that this run was the first to publish, of its domains."""

    @classmethod
    def of(cls, selection: Selection, outcome: Outcome) -> "Summary":
        """Return the summary of the domains and assistants of this run, without scores of former runs."""
        settings = selection.settings
        evaluated = outcome.evaluated  # computed once: it is a set over all runs
        scores = [score for score in outcome.scores if (score.domain, score.assistant) in evaluated]
        benchmarks = {name: settings.domain(name).benchmark for name in selection.domains}
        made = share_made(settings, Lake(settings.lake_root))
        return cls(
            outcome,
            scores,
            primary_scores(scores, benchmarks.__getitem__, variant_chooser(settings)),
            str(settings.warehouse_path),
            [
                row
                for row in made
                if row["domain"] in selection.domains and (row["quarantined"] or row["left_out"])
            ],
            unchecked(settings, selection.assistants),
            [drift for drift in grouped(outcome.drift) if drift.domain in selection.domains],
        )

    @property
    def label(self) -> str | None:
        """The label of scores of the scripted chat or the hashing embedder; None for other scores."""
        return score_label(self.scores)

    @property
    def faulty(self) -> list[HealthAlarm]:
        """The memories that are not measured, because they are faulty."""
        return [alarm for alarm in health_alarms(self.scores) if alarm.state == FAULTY]

    def data(self) -> dict[str, Any]:
        """Return the summary as plain data for JSON output."""
        return {
            "label": self.label,
            "leaderboard": [asdict(score) for score in self.scores],
            "health": [asdict(alarm) for alarm in health_alarms(self.scores)],
            "usage": self.outcome.usage,
            "quarantined": self.made,
            "runs": {
                "done": len(self.outcome.ran),
                "up_to_date": len(self.outcome.up_to_date),
                "failed": [(run.name, reason) for run, reason in self.outcome.failed],
                "skipped": [run.name for run in self.outcome.skipped],
            },
            "failed_requests": self.outcome.failed_requests,
            "unchecked": self.unchecked,
            "drift": {drift.domain: drift.sentence() for drift in self.drifts},
            "missing": {
                domain: [dataset.name for dataset in datasets]
                for domain, datasets in self.outcome.missing.items()
            },
            "damaged": {
                "rebuilt": self.outcome.rebuilt,
                "left_out": self.outcome.left_out,
                "restored": self.outcome.restored,
            },
            "duckdb": self.duckdb,
        }

    def shown(self) -> list[RenderableType]:
        """Return the summary as parts to print. Lists and tables of large runs are shortened, except failures."""
        shown = self._leaderboards()
        shown += warnings(self.scores)
        shown += map(note, noise_notes(self.primary))
        if self.unchecked:
            servers = ", ".join(self.unchecked)
            shown.append(
                Text(
                    f"\n{servers}: unchecked. Run `memflow memories check`: faults may be in the scores.",
                    style="yellow",
                )
            )
        shown += [
            Text(f"\n{each.domain}: {each.sentence()} `memflow show drift` shows all.", style="yellow")
            for each in self.drifts
            if each.moved
        ]
        for domain in dict.fromkeys(row["domain"] for row in self.made):
            shown += made_of(domain, self.made)
        if usage := self.outcome.usage:
            shown += [heading("usage of this run"), _usage(usage), *_cut_answers(usage)]
        for domain, datasets in self.outcome.missing.items():
            shown.append(heading(f"{domain} was not measured whole; it lacks"))
            shown += [Text(f"  {dataset.name}: {_why(dataset)}") for dataset in datasets]
        shown += self._problems()
        if self.label == LABEL:
            shown.append(Text(f"\nThe chat here was {LABEL}. {MEANING}", style="bold yellow"))
        elif self.label:
            caveat = caveat_of(self.label, MEANING)
            shown.append(Text(f"\n{self.label}. {caveat[0].upper()}{caveat[1:]}", style="bold yellow"))
        outcome = self.outcome
        ran, same, failed = len(outcome.ran), len(outcome.up_to_date), len(outcome.failed)
        done = f"\n{ran} runs done, {same} up to date, {failed} failed."
        if self.faulty:
            done += f" {len(self.faulty)} faulty, so not measured."
        if self.outcome.skipped:
            done += f" {len(self.outcome.skipped)} skipped, because their inputs failed."
        return [*shown, Text(f"{done} All tables: {self.duckdb} (memflow sql, or any DuckDB)")]

    def _leaderboards(self) -> list[RenderableType]:
        """Return the leaderboard and evidence of each domain."""
        by_domain: dict[str, list[Score]] = {}
        for score in self.scores:
            by_domain.setdefault(score.domain, []).append(score)
        labels = {domain: " · ".join(_labels(domain, scores)) for domain, scores in by_domain.items()}
        shown: list[RenderableType] = []
        for domain, of_domain in by_domain.items():
            primary = [score for score in self.primary if score.domain == domain]
            best, others = best_assistants(domain, primary)
            shown += [
                heading(" · ".join(filter(None, (domain, labels[domain])))),
                leaderboard_table([score for score in primary if score.assistant in best]),
                *map(note, interval_notes(primary)),
                *evidence([score for score in of_domain if score.assistant in best]),
                *state_probe_failures([score for score in of_domain if score.assistant in best]),
                *others,
            ]
        return shown

    def _problems(self) -> list[RenderableType]:
        """Return damaged and missing files, failed requests and failed runs, and what to do."""
        lists = {
            "rebuilt, because files were damaged; the damaged files are in .damaged of the lake": [
                f"{name}: {', '.join(tables)}" for name, tables in self.outcome.rebuilt.items()
            ],
            "not in the leaderboard, because a file is damaged; see `memflow doctor`": self.outcome.left_out,
            "restored from the lake, because it was missing or damaged": self.outcome.restored,
            "failed requests; rerun the command to send them again, and only them": [
                f"{name}: {number:,}" for name, number in self.outcome.failed_requests.items()
            ],
        }
        shown: list[RenderableType] = []
        for title, lines in lists.items():
            if lines:
                shown += [heading(title), *first_lines(lines)]
        if self.outcome.failed:
            shown += [
                heading("failed; nothing above is a result of these runs"),
                *(Text(f"  {run.name}: {reason}", style="red") for run, reason in self.outcome.failed),
                Text(
                    "Fix the cause, then rerun the command: it continues, and sends no answered request again. "
                    "`memflow show leaderboard` shows the results of earlier runs."
                ),
            ]
        return shown


def _labels(domain: str, scores: Sequence[Score]) -> list[str]:
    """Return the labels of a domain's scores: scripted or hashed, sample, incomplete."""
    limit = DomainName.parse(domain).limit
    labels = [score_label(scores), f"sample of {limit}" if limit else None]
    labels.append("incomplete" if any(score.incomplete for score in scores) else None)
    return [label for label in labels if label]


def leaderboard_table(scores: Sequence[Score]) -> FittedTable:
    """Return the primary scores of a domain as a table: one row per assistant, best first, and one column per metric.

    The head of a column with another variant than `standard` contains the variant.
    """
    named = {score.metric: score.variant for score in scores if score.variant != STANDARD}
    metrics = list(dict.fromkeys(score.metric for score in scores))
    names = [_column(metric, named.get(metric)) for metric in metrics]
    rows = [
        [flagged(assistant, row.values()), *_cells(row, metrics), *_counts(row)]
        for assistant, row in ranked_assistants(scores)
    ]
    return table(
        "",
        ["assistant", *names, "n", "covered"],
        rows,
        right=[*names, "n", "covered"],
        optional=("n", "covered"),
    )


def _cells(row: Mapping[str, Score], metrics: Sequence[str]) -> list[str]:
    """Return the scores of an assistant as text; a faulty one is stated once, in the first column."""
    if any(score.health == FAULTY for score in row.values()):
        return [NOT_MEASURED, *("" for _ in metrics[1:])]
    return [cell(row.get(metric)) for metric in metrics]


def _column(metric: str, variant: str | None) -> str:
    """Return the name of a metric's column, one word per line."""
    return (f"{metric}_({variant})" if variant else metric).replace("_", "\n")


def _counts(row: Mapping[str, Score]) -> tuple[str, str]:
    """Return the numbers of values behind the measured scores of an assistant, and the smallest coverage.

    A metric of which nothing was measured shows `none` in its column and has no part in these numbers.
    """
    scores = [score for score in row.values() if find_metric(score.metric).group != "bound"]
    measured = [score for score in scores if score.n] or scores or [*row.values()]
    counts = dict.fromkeys(count(score) for score in measured)
    return "/".join(counts), f"{min(score.coverage for score in measured):.0%}"


def _why(dataset: Dataset) -> str:
    return dataset.advice if dataset.readable else f"memflow has no reader for it yet. {dataset.advice}"


def cell(score: Score | None) -> str:
    """Return a score as text: the value with its interval, or `none` without a value. Tokens are whole numbers.

    `interval_notes` has the reason of a missing interval.

    Metrics of the groups `bound` and `failure` are shown without intervals.
    """
    if score is None:
        return "-"
    if score.value is None:
        return "none"
    metric = find_metric(score.metric)
    value, ends = (",.0f", ",.0f") if metric.unit == "tokens" else (".3f", ".2f")
    if metric.group in ("bound", "failure"):
        return f"{score.value:{value}}"
    if score.low is None or score.high is None:
        interval = "(no interval)" if score.interval_reason else ""
    else:
        interval = f"[{score.low:{ends}} {score.high:{ends}}]"
    return " ".join(filter(None, (f"{score.value:{value}}", interval, noise_text(score))))


def _usage(rows: Sequence[dict[str, Any]]) -> FittedTable:
    counts = ("requests", "cache_hits", "failed", "cut")
    tokens = ("prompt_tokens", "cached_tokens", "completion_tokens")
    shown = [
        [
            *(row["stage"], row["role"], *(f"{row[name]:,}" for name in counts)),
            *(f"{row[name]:,}" if row[name] or name != "cached_tokens" else "" for name in tokens),
            f"{row['latency_s']:,.1f}",
        ]
        for row in rows
    ]
    titles = [name.replace("_", " ") for name in (*counts, *tokens, "seconds")]
    optional = ("failed", "cut", "cached tokens")
    return table("", ["stage", "role", *titles], shown, right=titles, optional=optional)


def _cut_answers(rows: Sequence[dict[str, Any]]) -> list[Text]:
    """Return a line per role with answers that the token limit cut: their share, and the setting of the limit."""
    found = []
    for role in dict.fromkeys(row["role"] for row in rows if row["cut"]):
        of_role = [row for row in rows if row["role"] == role]
        cut = sum(row["cut"] for row in of_role)
        share = cut / sum(row["requests"] + row["cache_hits"] for row in of_role)
        found.append(
            Text(
                f"{cut:,} answers ({share:.1%}) of the role {role} were cut at the token limit. Raise `output` or "
                f"`thinking` in [bounds.{role}] of memflow.toml, then rerun. If the server was at fault, request them "
                "again: `memflow ledger forget --kind cut`, then `memflow run --force`.",
                style="red",
            )
        )
    return found
