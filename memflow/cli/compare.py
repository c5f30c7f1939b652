"""`memflow compare`: paired differences between assistants, models, embedders, judges, profiles, samples or moments.

operands.py reads what is compared; memflow/scoring computes the differences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.options import DomainFilter
from memflow.cli.output import Sheet, SheetOption, Text, answer_rows
from memflow.errors import BadInput
from memflow.labels import caveat_of, meta_label
from memflow.records import Comparison
from memflow.scoring.judges import STANDARD
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.cli.comparison_text import DomainComparison
    from memflow.cli.operands import Operand
    from memflow.records import Score
    from resources.lake.lake import Lake
    from resources.settings.settings import Settings

ALL = "all"


def compare(
    ctx: typer.Context,
    operands: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...",
            help="Two or more of [DOMAIN/]ASSISTANT[:VARIANT][=TIME]. A is compared with each of the others.",
        ),
    ],
    domain: DomainFilter = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME", help="By slice under this metric; may be repeated."),
    ] = None,
    slices: Annotated[
        list[str] | None, typer.Option("--slice", metavar="NAME", help="Only this slice; may be repeated.")
    ] = None,
    form: SheetOption = Sheet.text,
) -> None:
    """Compare assistants by the probes that both have a value of.

    A difference is A minus B, with a 95 % interval over episodes. The adjusted p is that of a sign-flip test over
    episodes, by Holm's method over the comparisons shown: over all probes the pairs under a metric, and by slice all
    slices and pairs under it. docs/explanation/comparison.md explains both.

    Examples: `memflow compare rag_2_4_30 full`, `memflow compare full@large full@small`,
    `memflow compare full:judge_x full:judge_y`, `memflow compare full full=2026-11-20`. TIME has the forms of
    `--as-of`, which is the moment of operands without one.
    """
    from memflow.cli.comparison_text import comparison_parts
    from memflow.cli.operands import domains_of, parse_operand

    front = front_of(ctx)
    settings, lake = front.load(), front.lake()
    parsed = [parse_operand(each) for each in operands]
    if len(parsed) < 2 or len(set(parsed)) < len(parsed):
        raise BadInput(
            "compare needs at least two different operands, such as `memflow compare bm25_message full`."
        )
    found = [_compared(settings, lake, parsed, places) for places in domains_of(lake, parsed, domain)]
    chosen = [replace(each, rows=_chosen(each.rows, metric, slices)) for each in found]
    label = meta_label(stored.source.meta for each in found for stored in each.operands)
    shown = [part for each in chosen for part in comparison_parts(each, metric)]
    if label:
        caveat = caveat_of(label, "these differences show that the pipeline works; they measure no model.")
        shown.append(Text(f"\n{label}: {caveat}", "yellow"))
    rows = [asdict(row) for each in chosen for row in each.rows]
    answer_rows(form, {"label": label, "domains": [_plain(each) for each in chosen]}, rows, *shown)


def _compared(
    settings: "Settings",
    lake: "Lake",
    operands: "Sequence[Operand]",
    places: Mapping[int, str],
) -> "DomainComparison":
    """Return the comparison of the first operand with each of the others in one domain."""
    from memflow.benchmarks import registry
    from memflow.cli.comparison_text import DomainComparison
    from memflow.cli.operands import read_operand, same_probes, with_others
    from memflow.scoring.comparisons import DomainContext
    from memflow.scoring.comparisons import compare as compare_pairs
    from memflow.scoring.noise import with_difference_noise
    from memflow.scoring.published_health import with_pair_health
    from memflow.scoring.scripted import SCRIPTED_JUDGE
    from resources.publishing.comparisons import verdict_values

    stored = [read_operand(lake, each, places[at]) for at, each in enumerate(operands)]
    domains = [settings.domain(each.source.domain) for each in stored]
    if len({each.benchmark for each in domains}) > 1:
        given = ", ".join(f"{each.name} ({each.benchmark})" for each in domains)
        raise BadInput(f"these domains are of different benchmarks: {given}. Compare within one benchmark.")
    benchmark = registry.benchmark(domains[0].benchmark)
    probes, changed = same_probes(stored)
    names, sources, oracles = with_others(stored, everyone=benchmark.aggregates_in_sql)
    values = verdict_values(names, sources, oracles, probes)
    scripted = [each.source.meta.get("scripted") == "yes" for each in stored]
    health = {each.operand.label: each.source.health for each in stored if each.source.health is not None}
    title = " and ".join(dict.fromkeys(each.name for each in domains))
    judged = [each.source.meta.get(SCRIPTED_JUDGE) == "yes" for each in stored]
    context = DomainContext(title, names, scripted, domains[0].seed, judged, benchmark.judged_metrics)
    measures = [*benchmark.measures(domains[0], values)]
    pairs = [(0, other) for other in range(1, len(stored))]
    rows = [
        replace(row, variant=stored[0].operand.variant) if row.variant == STANDARD else row
        for row in with_pair_health(compare_pairs(context, measures, pairs), health)
    ]
    rows = with_difference_noise(_adjusted(rows), published_noise(lake, domains[0].name))
    return DomainComparison(title, stored, rows, changed)


def published_noise(lake: "Lake", domain: str) -> "list[Score]":
    """Return the scores of a domain that the leaderboard has with repeats."""
    if lake.facts("score.leaderboard", ALL) is None:
        return []
    scores = lake.read("score.leaderboard", ALL)
    return [score for score in scores if score.domain == domain and score.noise is not None]


def _adjusted(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return the rows with adjusted p values: over the pairs in the slice `all`, and over all other slices."""
    from memflow.scoring.comparisons import adjust_family

    families: dict[tuple[str, bool], list[int]] = {}
    for at, row in enumerate(rows):
        families.setdefault((row.metric, row.slice == ALL), []).append(at)
    found = list(rows)
    for members in families.values():
        for at, row in zip(members, adjust_family([rows[at] for at in members]), strict=True):
            found[at] = row
    return found


def _chosen(
    rows: Sequence[Comparison], metrics: Sequence[str] | None, slices: Sequence[str] | None
) -> list[Comparison]:
    """Return the rows of the chosen metrics and slices. Raises BadInput with similar names for an unknown one."""
    for kind, wanted, known in (
        ("compared metric", metrics, {row.metric for row in rows}),
        ("slice", slices, {row.slice for row in rows}),
    ):
        for name in wanted or ():
            if name not in known:
                raise BadInput(unknown_name(kind, name, known))
    return [
        row for row in rows if (not metrics or row.metric in metrics) and (not slices or row.slice in slices)
    ]


def _plain(found: "DomainComparison") -> dict[str, Any]:
    from memflow.cli.operands import differing_settings

    return {
        "domain": found.title,
        "operands": [
            asdict(each.operand)
            | {
                "label": each.operand.label,
                "health": None if each.source.health is None else asdict(each.source.health),
            }
            for each in found.operands
        ],
        "comparisons": [asdict(row) for row in found.rows],
        "differing_settings": differing_settings(found.operands),
        "changed_probes": found.changed,
    }
