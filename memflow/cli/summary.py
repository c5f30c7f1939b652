"""The summary at the end of `memflow run`: leaderboard, usage, failures, missing data, path of the database."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import RenderableType

from memflow.benchmarks.protocol_settings import STANDARD
from memflow.chat.scripted import LABEL
from memflow.cli.evidence import count, evidence, label_note, state_probe_failures, warnings
from memflow.cli.made import made_of, share_made
from memflow.cli.output import FittedTable, Text, first_lines, heading, note, table, table_of
from memflow.cli.selection import Selection
from memflow.cli.show_retrieval import retrieval_tables
from memflow.labels import caveat_of, sample_label, score_label, score_notes
from memflow.operations.planned_runs import Outcome
from memflow.operations.required_checks import unchecked
from memflow.operations.stored_names import variant_chooser
from memflow.records import Comparison, Score
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.rankings import stored_retrieval
from memflow.resources.settings.settings import Settings
from memflow.scoring.catalog import find_metric
from memflow.scoring.drift_summary import DomainDrift, grouped
from memflow.scoring.noise_labels import noise_notes, noise_text
from memflow.scoring.primary import primary_scores, ranked_assistants
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, HealthAlarm, flagged, health_alarms
from memflow.scoring.rankings import AssistantRetrieval

MOST_ASSISTANTS = 20
"""How many assistants of a domain are shown. The demo has 11."""
USAGE = {
    **{name.replace("_", " "): name for name in ("stage", "role", "requests", "cache_hits", "failed", "cut")},
    "prompt tokens": "prompt_tokens",
    "cached tokens": lambda row: row["cached_tokens"] or None,
    "completion tokens": "completion_tokens",
    "seconds": lambda row: f"{row['latency_s']:,.1f}",
}
AFTER_FAILURE = "Fix the cause, then rerun: the run continues, and sends no answered request again."
MEANING = "Its scores show that the pipeline works; they measure no model."
CAVEAT = "these scores show that the pipeline works; they measure no model."


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
    retrieval: list[AssistantRetrieval] = field(default_factory=list)
    """What was retrieved without a chat model."""
    drifts: list[DomainDrift] = field(default_factory=list)
    """The changes of inputs that this run was the first to publish, of its domains."""

    @classmethod
    def of(cls, selection: Selection, outcome: Outcome) -> "Summary":
        """Return the summary of the domains and assistants of this run, without scores of former runs."""
        settings = selection.settings
        evaluated = outcome.evaluated  # computed once: it is a set over all runs
        scores = [score for score in outcome.scores if (score.domain, score.assistant) in evaluated]
        benchmarks = {name: settings.domain(name).benchmark for name in selection.domains}
        lake = Lake(settings.lake_root)
        made = share_made(settings, lake)
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
            stored_retrieval(settings, lake, outcome.retrieved, slices=False) if outcome.retrieved else [],
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
            "retrieval": [asdict(row) for row in self.retrieval],
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
        outcome = self.outcome
        shown = [
            part
            for domain in dict.fromkeys(score.domain for score in self.scores)
            for part in self._domain(domain)
        ]
        shown += warnings(self.scores)
        shown += map(note, noise_notes(self.primary))
        if self.unchecked:
            servers = ", ".join(self.unchecked)
            faults = "unchecked. Run `memflow memories check`: faults may be in the scores."
            shown.append(Text(f"\n{servers}: {faults}", style="yellow"))
        shown += [
            Text(f"\n{drift.domain}: {drift.sentence()} `memflow show drift` shows all.", style="yellow")
            for drift in self.drifts
            if drift.moved
        ]
        for domain in dict.fromkeys(row["domain"] for row in self.made):
            shown += made_of(domain, self.made)
        if outcome.usage:
            shown += [
                heading("usage of this run"),
                table_of(outcome.usage, USAGE),
                *_cut_answers(outcome.usage),
            ]
        for domain, datasets in outcome.missing.items():
            shown.append(heading(f"{domain} was not measured whole; it lacks"))
            shown += [Text(f"  {dataset.name}: {dataset.advice}") for dataset in datasets]
        shown += self._problems()
        if self.label:
            subject = f"The chat here was {LABEL}" if self.label == LABEL else self.label
            caveat = MEANING if self.label == LABEL else caveat_of(self.label, MEANING)
            shown.append(Text(f"\n{subject}. {caveat[0].upper()}{caveat[1:]}", style="bold yellow"))
        if self.retrieval:
            shown += retrieval_tables(self.retrieval)
        done = f"\n{len(outcome.ran)} runs done, {len(outcome.up_to_date)} up to date, {len(outcome.failed)} failed."
        if self.faulty:
            done += f" {len(self.faulty)} faulty, so not measured."
        if outcome.skipped:
            done += f" {len(outcome.skipped)} skipped, because their inputs failed."
        return [*shown, Text(f"{done} All tables: {self.duckdb} (memflow sql, or any DuckDB)")]

    def _domain(self, domain: str) -> list[RenderableType]:
        """Return the leaderboard of a domain, and its failures by evidence and by state probes."""
        primary = [score for score in self.primary if score.domain == domain]
        ranked = [assistant for assistant, _ in ranked_assistants(primary)]
        best = {*ranked[:MOST_ASSISTANTS]}
        scores = [score for score in self.scores if score.domain == domain]
        of_best = [score for score in scores if score.assistant in best]
        labels = [domain, score_label(scores), *sample_label(domain)]
        labels += ["incomplete"] if any(score.incomplete for score in scores) else []
        more = (
            f"The best {MOST_ASSISTANTS} of {len(ranked):,} assistants are shown. `memflow show leaderboard --domain "
            f"{domain} --limit 0` shows all."
        )
        return [
            heading(" · ".join(filter(None, labels))),
            leaderboard_table([score for score in primary if score.assistant in best]),
            *map(note, score_notes(primary)),
            *evidence(of_best),
            *state_probe_failures(of_best),
            *([note(more)] if len(ranked) > MOST_ASSISTANTS else []),
        ]

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
            shown.append(heading("failed; nothing above is a result of these runs"))
            shown += [Text(f"  {run.name}: {reason}", style="red") for run, reason in self.outcome.failed]
            shown.append(
                Text(f"{AFTER_FAILURE} `memflow show leaderboard` shows the results of earlier runs.")
            )
        return shown


def leaderboard_table(scores: Sequence[Score], winners: Mapping[str, str] | None = None) -> FittedTable:
    """Return the primary scores of a domain as a table: one row per assistant, best first, and one column per metric.

    The head of a column with another variant than `standard` contains the variant. `winners` has the assistant whose
    value is bold, by metric.
    """
    variants = {score.metric: f"_({score.variant})" for score in scores if score.variant != STANDARD}
    metrics = list(dict.fromkeys(score.metric for score in scores))
    names = [(metric + variants.get(metric, "")).replace("_", "\n") for metric in metrics]
    rows = []
    for assistant, row in ranked_assistants(scores):
        if any(score.health == FAULTY for score in row.values()):
            cells = [Text(NOT_MEASURED), *(Text() for _ in metrics[1:])]
        else:
            cells = [
                Text(cell(row.get(metric)), "bold" if (winners or {}).get(metric) == assistant else "")
                for metric in metrics
            ]
        rows.append([flagged(assistant, row.values()), *cells, *_counts(row)])
    return table(["assistant", *names, "n", "covered"], rows)


def leaderboard_parts(
    settings: Settings,
    scores: Sequence[Score],
    compared: Iterable[Comparison] = (),
    *,
    is_chosen: bool = False,
) -> Iterator[RenderableType]:
    """Yield the table of each domain, with what qualifies its scores: the primary ones, or all if they were chosen.

    With the comparisons in `compared`, the value of a clear winner is bold.
    """
    benchmarks = {score.domain: settings.domain(score.domain).benchmark for score in scores}
    shown = scores if is_chosen else primary_scores(scores, benchmarks.__getitem__, variant_chooser(settings))
    for domain in dict.fromkeys(score.domain for score in shown):
        of_domain = [score for score in shown if score.domain == domain]
        yield heading(" · ".join([domain, *sample_label(domain)]))
        yield leaderboard_table(of_domain, winners(of_domain, compared))
        yield from map(note, score_notes(of_domain))
        differing = [
            f"{row.assistant} ({row.differing_settings})" for row in of_domain if row.differing_settings
        ]
        yield from [note(f"Settings that differ: {', '.join(dict.fromkeys(differing))}")] * bool(differing)
        yield from warnings([score for score in scores if score.domain == domain])
        yield from label_note(score_label(of_domain), CAVEAT)


def winners(scores: Iterable[Score], compared: Iterable[Comparison]) -> dict[str, str]:
    """Return the clear winner of one domain by metric: better than each other assistant, and not by noise alone.

    The memories `oracle` and `previous`, which read the gold, have no part.
    """
    better = {
        (row.domain, row.metric, row.variant, *((row.a, row.b) if row.better == "a" else (row.b, row.a)))
        for row in compared
        if row.slice == "all" and row.better is not None and not row.within_noise
    }
    rivals: dict[tuple[str, str, str], list[str]] = {}
    for score in scores:
        if score.value is not None and score.assistant.partition("@")[0] not in ("oracle", "previous"):
            rivals.setdefault((score.domain, score.metric, score.variant), []).append(score.assistant)
    return {
        key[1]: name
        for key, names in rivals.items()
        for name in names
        if len(names) > 1 and all((*key, name, other) in better for other in names if other != name)
    }


def _counts(row: Mapping[str, Score]) -> tuple[str, str]:
    """Return the numbers of values behind the measured scores of an assistant, and the smallest coverage.

    A metric of which nothing was measured shows `none` in its column and has no part in these numbers.
    """
    scores = [score for score in row.values() if find_metric(score.metric).group != "bound"]
    measured = [score for score in scores if score.n] or scores or [*row.values()]
    counts = dict.fromkeys(count(score) for score in measured)
    return "/".join(counts), f"{min(score.coverage for score in measured):.0%}"


def cell(score: Score | None) -> str:
    """Return a score as text: the value with its interval, or `none` without a value. Tokens are whole numbers.

    `score_notes` has the reason of a missing interval.

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


def _cut_answers(rows: Sequence[dict[str, Any]]) -> list[Text]:
    """Return a line per role with answers that the token limit cut: their share, and the setting of the limit."""
    cut, answers = Counter[str](), Counter[str]()
    for row in rows:
        cut[row["role"]] += row["cut"]
        answers[row["role"]] += row["requests"] + row["cache_hits"]
    return [
        Text(
            f"{number:,} answers ({number / answers[role]:.1%}) of the role {role} were cut at the token limit. Those "
            "that `memflow ledger stats` counts with the end `loop` repeat themselves: use another model. For the "
            f"others, raise `output` or `thinking` in [token_limits.{role}] of memflow.toml, then rerun. If the server "
            "was at fault, request them again: `memflow ledger forget --kind cut`, then `memflow run --force`.",
            style="red",
        )
        for role, number in cut.items()
        if number
    ]
