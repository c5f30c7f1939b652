"""`memflow show retrieval`: recall, precision, nDCG and MRR of memories that were read without a chat model."""

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from memflow.cli.options import AnyAssistantArgument, AnyDomainArgument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.stored_names import check_names
from memflow.rendering.retrieval import retrieval_tables

RankingMetric = Literal["recall", "precision", "ndcg", "mrr"]
SliceKind = Literal["all", "type", "language", "position"]
"""What the probes of a slice have in common."""


def retrieval(
    ctx: typer.Context,
    domain: AnyDomainArgument = None,
    assistant: AnyAssistantArgument = None,
    metric: Annotated[
        RankingMetric, typer.Option("--metric", help="The metric that is shown at each cutoff.")
    ] = "recall",
    by: Annotated[
        SliceKind, typer.Option("--by", help="By type of question, language, or position of the evidence.")
    ] = "all",
    form: FormatOption = Format.table,
) -> None:
    """Show what memories retrieve without a chat model: recall, precision, nDCG and MRR at 1 to 50 entries.

    `memflow run --retrieval-only` measures it. JSON, CSV and other formats have every metric, cutoff and slice.
    """
    from memflow.resources.publishing.rankings import stored_retrieval

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    results = stored_retrieval(settings, lake)
    if not results:
        raise BadInput("no retrieval is measured yet. Measure some with `memflow run --demo`.")
    for name, value in (("domain", domain), ("assistant", assistant)):
        check_names(
            "the measured retrieval",
            name,
            [value] if value else None,
            {getattr(row, name) for row in results},
        )
    results = [row for row in results if domain in (None, row.domain) and assistant in (None, row.assistant)]
    print_result(
        form,
        [asdict(row) for row in results],
        *retrieval_tables(results, metric, by),
        rows=[
            {"domain": row.domain, "assistant": row.assistant, "embedder": row.embedder, **asdict(score)}
            for row in results
            for score in row.scores
        ],
    )
