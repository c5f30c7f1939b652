"""`memflow show judges`: the scores of several judges, their agreement, and the stability of the assistants' ranks."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from memflow.cli.options import AnyDomainArgument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.labels import score_label
from memflow.rendering.evidence import label_note, metric_name
from memflow.rendering.tables import Columns, table_of
from memflow.rendering.texts import heading, interval_text, note

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.resources.lake.lake import Lake
    from memflow.scoring.judge_agreement import JudgeAgreement, JudgedItem

JUDGED = {
    "score.verdicts": ("probe_id", "episode_id", "metric", "variant", "value"),
    "score.claims": ("claim_id", "episode_id", "variant", "value"),
}
"""The tables with verdicts of judges, and the columns of a `JudgedItem`."""
COLUMNS: Columns = {
    "metric": lambda row: metric_name(row.metric, row.variant),
    "judges": lambda row: len(row.judges),
    "items": "items",
    "agree": lambda row: row.agreement.value,
    "AC1": lambda row: row.ac1.value,
    "kappa": "kappa",
    "alpha": lambda row: row.alpha.value,
    "95 % interval": lambda row: interval_text(row.alpha.low, row.alpha.high, ".2f", row.alpha.reason),
    "tau": "tau",
}


def judges(ctx: typer.Context, domain: AnyDomainArgument = None, form: FormatOption = Format.table) -> None:
    """Show how far several judges agree, for each judged metric: on replies, and on the ranks of the assistants.

    The band of an assistant is from its lowest to its highest judge's score. docs/how-to/judges.md explains the
    columns.
    """
    from memflow.scoring.judge_agreement import judge_agreements

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    scores = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    names = [domain] if domain else list(dict.fromkeys(score.domain for score in scores))
    agreements = [
        agreement
        for of in map(settings.domain, names)
        for agreement in judge_agreements(of.name, _items(lake, of), scores, of.seed)
    ]
    if not agreements:
        raise BadInput(
            f'{domain or "the lake"} has no verdicts of several judges. Set judge = ["a", "b"] in [roles] or '
            "[judges] of memflow.toml, then rerun a domain with a judged metric."
        )
    domains = {agreement.domain for agreement in agreements}
    label = score_label(score for score in scores if score.domain in domains)
    print_result(
        form,
        {"label": label, "judges": [_data(agreement) for agreement in agreements]},
        *_parts(agreements),
        *label_note(label, "these verdicts are of a rule, and say nothing of any model."),
    )


def _items(lake: "Lake", domain: "Domain") -> Iterator["JudgedItem"]:
    """Yield the judges' verdicts on every assistant in a domain."""
    from memflow.benchmarks import registry
    from memflow.scoring.judge_agreement import JudgedItem

    claimed = registry.benchmark(domain.benchmark).claim_metric
    for name, columns in JUDGED.items():
        for partition in lake.partitions(name):
            if partition.partition("/")[0] != domain.name:
                continue
            for item, episode, *rest in lake.columns(name, partition, columns):
                metric, variant, value = rest if len(rest) > 2 else (claimed, *rest)
                yield JudgedItem(f"{partition} {item}", episode, metric, variant, value)


def _data(agreement: "JudgeAgreement") -> dict[str, Any]:
    intervals = {name: getattr(agreement, name)._asdict() for name in ("agreement", "ac1", "alpha")}
    return {**asdict(agreement), **intervals}


def _parts(agreements: "list[JudgeAgreement]") -> Iterator[RenderableType]:
    for domain in dict.fromkeys(agreement.domain for agreement in agreements):
        of_domain = [agreement for agreement in agreements if agreement.domain == domain]
        yield heading(domain)
        yield table_of(of_domain, COLUMNS)
        for agreement in of_domain:
            name = metric_name(agreement.metric, agreement.variant)
            yield note(f"\n{name}: mean over judges, and the score of each judge")
            bands = []
            for band in agreement.assistants:
                by_judge = dict(zip(agreement.judges, band.by_judge, strict=True))
                known = [value for value in band.by_judge if value is not None]
                ends = (min(known), max(known)) if len(known) == len(by_judge) else (None, None)
                values = {"mean": band.mean, "lowest": ends[0], "highest": ends[1], **by_judge}
                bands.append({"assistant": band.assistant, **values})
            yield table_of(bands)
