"""The summary at the end of `memflow run`: leaderboard, usage, failures, missing data, path of the database."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import RenderableType

from memflow.chat.scripted import LABEL
from memflow.cli.made import made_of, share_made
from memflow.cli.selection import Selection
from memflow.labels import caveat_of, sample_label, score_label, score_notes
from memflow.operations.planned_runs import Outcome
from memflow.operations.required_checks import unchecked
from memflow.operations.run import AFTER_FAILURE
from memflow.operations.stored_names import variant_chooser
from memflow.records import Score
from memflow.rendering.evidence import evidence, state_probe_failures, warnings
from memflow.rendering.retrieval import retrieval_tables
from memflow.rendering.scores import leaderboard_table
from memflow.rendering.tables import Text, table_of
from memflow.rendering.texts import first_lines, heading, note
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.rankings import stored_retrieval
from memflow.scoring.drift_summary import DomainDrift, grouped
from memflow.scoring.noise_labels import noise_notes
from memflow.scoring.primary import primary_scores, ranked_assistants
from memflow.scoring.published_health import FAULTY, HealthAlarm, health_alarms
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
        """Return the summary as plain data for JSON output, by part, such as `leaderboard`, `usage` and `runs`."""
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
