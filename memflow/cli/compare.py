"""`memflow compare`: paired differences between assistants, models, embedders, judges, profiles, samples or moments.

operands.py reads what is compared; memflow/scoring computes the differences; comparison_text.py writes the text.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.evidence import label_note
from memflow.cli.front import front_of
from memflow.cli.options import DomainFilter
from memflow.cli.output import Format, FormatOption, answer
from memflow.cli.stored_names import check_names
from memflow.errors import BadInput
from memflow.labels import meta_label
from memflow.scoring.judges import STANDARD

if TYPE_CHECKING:
    from memflow.cli.comparison_text import DomainComparison
    from memflow.cli.operands import Stored
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

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
    form: FormatOption = Format.table,
) -> None:
    """Compare assistants by the probes that both have a value of.

    A difference is A minus B, with a 95 % interval over episodes. The adjusted p is that of a sign-flip test over
    episodes, by Holm's method over the comparisons shown: over all probes the pairs under a metric, and by slice all
    slices and pairs under it. docs/explanation/trust.md explains both.

    Examples: `memflow compare rag_2_4_30 full`, `memflow compare full@large full@small`,
    `memflow compare full:judge_x full:judge_y`, `memflow compare full full=2026-11-20`. TIME has the forms of
    `--as-of`, which is the moment of operands without one.
    """
    from memflow.cli.comparison_text import comparison_parts
    from memflow.cli.operands import differing_settings, parse_operand, read_operands

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    parsed = [parse_operand(text) for text in operands]
    if len(parsed) < 2 or len(set(parsed)) < len(parsed):
        raise BadInput(
            "compare needs at least two different operands, such as `memflow compare bm25_message full`."
        )
    compared = []
    for stored in read_operands(lake, parsed, domain):
        of_domain = compare_domain(settings, lake, stored)
        check_names("", "compared metric", metric, {row.metric for row in of_domain.rows})
        rows = [row for row in of_domain.rows if row.metric in (metric or [row.metric])]
        compared.append(replace(of_domain, rows=rows))
    label = meta_label(source.meta for of_domain in compared for _, source, _ in of_domain.operands)
    data: list[dict[str, Any]] = [
        {
            "domain": of_domain.title,
            "operands": [
                {
                    **asdict(operand),
                    "label": operand.label,
                    "health": None if source.health is None else asdict(source.health),
                }
                for operand, source, _ in of_domain.operands
            ],
            "comparisons": [asdict(row) for row in of_domain.rows],
            "differing_settings": differing_settings(of_domain.operands),
            "changed_probes": of_domain.changed,
        }
        for of_domain in compared
    ]
    sheet = [row for of_domain in data for row in of_domain["comparisons"]]
    answer(
        form,
        {"label": label, "domains": data},
        *(part for of_domain in compared for part in comparison_parts(of_domain, metric)),
        *label_note(label, "these differences show that the pipeline works; they measure no model."),
        rows=sheet,
    )


def compare_domain(settings: "Settings", lake: "Lake", stored: "Sequence[Stored]") -> "DomainComparison":
    """Return the comparison of the first operand with each of the others in one domain."""
    from memflow.benchmarks import registry
    from memflow.cli.comparison_text import DomainComparison
    from memflow.cli.operands import same_probes, values_of
    from memflow.scoring import comparisons
    from memflow.scoring.noise import with_difference_noise
    from memflow.scoring.published_health import with_pair_health
    from memflow.scoring.scripted import SCRIPTED_JUDGE

    sources = [source for _, source, _ in stored]
    domains = [settings.domain(source.domain) for source in sources]
    if len({of.benchmark for of in domains}) > 1:
        names = ", ".join(f"{of.name} ({of.benchmark})" for of in domains)
        raise BadInput(f"these domains are of different benchmarks: {names}. Compare within one benchmark.")
    benchmark = registry.benchmark(domains[0].benchmark)
    probes, changed = same_probes(stored)
    values = values_of(stored, benchmark, probes)
    title = " and ".join(dict.fromkeys(of.name for of in domains))
    context = comparisons.DomainContext(
        title,
        values.assistants,
        [source.meta.get("scripted") == "yes" for source in sources],
        domains[0].seed,
        [source.meta.get(SCRIPTED_JUDGE) == "yes" for source in sources],
        benchmark.judged_metrics,
    )
    pairs = comparisons.compare(
        context, [*benchmark.measures(domains[0], values)], [(0, other) for other in range(1, len(stored))]
    )
    health = {operand.label: source.health for operand, source, _ in stored if source.health is not None}
    variant = stored[0].operand.variant
    rows = [
        replace(row, variant=variant) if row.variant == STANDARD else row
        for row in with_pair_health(pairs, health)
    ]
    # P values are adjusted over the pairs in the slice `all`, and over all other slices.
    rows = comparisons.adjust_families(rows, lambda row: (row.metric, row.slice == ALL))
    scores = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    return DomainComparison(title, stored, with_difference_noise(rows, scores), changed)
