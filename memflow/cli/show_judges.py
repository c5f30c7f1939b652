"""`memflow show judges`: the scores of several judges, their agreement, and the stability of the assistants' ranks."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, heading, note, table
from memflow.errors import BadInput
from memflow.labels import caveat_of, score_label

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.scoring.judge_agreement import JudgeAgreement, JudgedItem
    from resources.lake.lake import Lake

JUDGED = {
    "score.verdicts": ("probe_id", "episode_id", "metric", "variant", "value"),
    "score.claims": ("claim_id", "episode_id", "variant", "value"),
}
"""The tables with verdicts of judges, and the columns of a `JudgedItem`."""

DomainArgument = Annotated[
    str | None, typer.Argument(metavar="DOMAIN", help="Of this domain. [all with several judges]")
]


def judges(ctx: typer.Context, domain: DomainArgument = None, form: FormatOption = Format.text) -> None:
    """Show how far several judges agree, for each judged metric: on replies, and on the ranks of the assistants.

    The band of an assistant is from its lowest to its highest judge's score. docs/how-to/judges.md explains the
    columns.
    """
    from memflow.scoring.judge_agreement import judge_agreements

    settings = front_of(ctx).load()
    lake = front_of(ctx).lake()
    scores = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    names = [domain] if domain else list(dict.fromkeys(score.domain for score in scores))
    found = [
        each
        for name in names
        for each in judge_agreements(
            name, _items(lake, settings.domain(name)), scores, settings.domain(name).seed
        )
    ]
    if not found:
        raise BadInput(
            f'{domain or "the lake"} has no verdicts of several judges. Set judge = ["a", "b"] in [roles] or '
            "[judges] of memflow.toml, then rerun a domain with a judged metric."
        )
    label = score_label(score for score in scores if score.domain in {each.domain for each in found})
    caveat = caveat_of(label or "", "these verdicts are of a rule, and say nothing of any model.")
    answer(
        form,
        {"label": label, "judges": [_data(each) for each in found]},
        *_shown(found),
        *([Text(f"\n{label}: {caveat}", "yellow")] if label else []),
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


def _data(each: "JudgeAgreement") -> dict[str, Any]:
    intervals = {name: getattr(each, name)._asdict() for name in ("agreement", "ac1", "alpha")}
    return {**asdict(each), **intervals}


def _shown(found: list["JudgeAgreement"]) -> Iterator[RenderableType]:
    numbers = ("judges", "items", "agree", "AC1", "kappa", "alpha", "95 % interval", "tau")
    for domain in dict.fromkeys(each.domain for each in found):
        of_domain = [each for each in found if each.domain == domain]
        yield heading(domain)
        yield table(
            "",
            ("metric", *numbers),
            [_row(each) for each in of_domain],
            right=numbers,
            optional=("95 % interval", "agree", "judges"),
        )
        for each in of_domain:
            yield note(f"\n{_name(each)}: mean over judges, and the score of each judge")
            rows = [
                (band.assistant, *map(_number, (band.mean, *_ends(band.by_judge), *band.by_judge)))
                for band in each.assistants
            ]
            columns = ("mean", "lowest", "highest", *each.judges)
            yield table("", ("assistant", *columns), rows, right=columns)


def _row(each: "JudgeAgreement") -> tuple[str | int | None, ...]:
    low, high = each.alpha.low, each.alpha.high
    interval = f"none: {each.alpha.reason}" if each.alpha.reason else None
    if low is not None and high is not None:
        interval = f"{low:.2f} – {high:.2f}"
    values = (each.agreement.value, each.ac1.value, each.kappa, each.alpha.value)
    return (_name(each), len(each.judges), each.items, *map(_number, values), interval, _number(each.tau))


def _name(each: "JudgeAgreement") -> str:
    return each.metric if each.variant == "standard" else f"{each.metric} ({each.variant})"


def _ends(values: tuple[float | None, ...]) -> tuple[float | None, float | None]:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if len(known) == len(values) else (None, None)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
