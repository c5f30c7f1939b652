"""`memflow compare`: paired differences between assistants, models, embedders, judges, profiles, samples or moments.

memflow/operations reads what is compared; memflow/scoring computes the differences; comparison_text.py writes the text.
"""

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from memflow.cli.options import DomainFilter, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.labels import meta_label
from memflow.operations.stored_names import check_names
from memflow.rendering.evidence import label_note


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
    checkpoint: Annotated[
        int | None,
        typer.Option("--checkpoint", metavar="N", help="By the questions of this checkpoint alone."),
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
    from memflow.operations.comparison import compare_domain
    from memflow.operations.operands import differing_settings, parse_operands, read_operands

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    compared = []
    for stored in read_operands(lake, parse_operands(operands), domain):
        of_domain = compare_domain(settings, lake, stored, checkpoint)
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
            "withheld": of_domain.withheld,
        }
        for of_domain in compared
    ]
    sheet = [row for of_domain in data for row in of_domain["comparisons"]]
    print_result(
        form,
        {"label": label, "domains": data},
        *(part for of_domain in compared for part in comparison_parts(of_domain, metric)),
        *label_note(label, "these differences show that the pipeline works; they measure no model."),
        rows=sheet,
    )
