"""`show policies`: what off-policy evaluation changes, from the lake. What may be compared, and how, is
benchmarks/amemgym/policies.py."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.amemgym.policies import Compared, Side
    from memflow.benchmarks.domains import Domain
    from memflow.metrics.intervals import Interval
    from memflow.run.recording import Header
    from resources.lake import Lake


def policies(
    ctx: typer.Context,
    on: Annotated[str, typer.Argument(metavar="ON", help="The domain that was played on-policy.")],
    off: Annotated[str, typer.Argument(metavar="OFF", help="The domain that was played off-policy.")],
    assistant: Annotated[
        list[str] | None, typer.Option("--assistant", metavar="NAME", help="This assistant; may be repeated.")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Compare AMemGym on-policy with off-policy: figures, their difference, and the change of rank.

    The difference is off-policy minus on-policy, its 95 % interval a bootstrap over users, each drawn with their
    answers under both. Ranks are among the assistants that are shown; none and oracle take none.
    """
    from memflow.benchmarks.amemgym.policies import compare
    from memflow.chat.scripted import LABEL
    from resources.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    domains = [settings.domain(name) for name in (on, off)]
    measured = [_measured(lake, domain) for domain in domains]
    sides = [_side(lake, *each, assistant) for each in zip(domains, measured, strict=True)]
    rows = compare(*sides)
    run = _run(lake, sides[1].domain)
    only = {
        side.domain.name: sorted(side.answered.keys() - other.answered.keys())
        for side, other in (sides, sides[::-1])
    }
    scripted = any(
        _facts(lake, side.domain.name, row.assistant).get("scripted") == "yes"
        for side in sides
        for row in rows
    )
    label = Text(
        f"\n{LABEL}: these figures show that the chain works, and say nothing of any model.", "yellow"
    )
    told = {
        "label": LABEL if scripted else None,
        "on": on,
        "off": off,
        "run": None if run is None else run.model_dump(),
        "only": only,
        "rows": [row.as_dict() for row in rows],
    }
    answer(form, told, *_shown(rows, run, only), *([label] if scripted else []))


def _measured(lake: "Lake", domain: "Domain") -> list[str]:
    """The assistants that a domain was measured with. Raises BadInput where there is nothing to compare."""
    if domain.benchmark != "amemgym":
        raise BadInput(
            f"{domain.name} is of {domain.benchmark}: only amemgym is played on-policy and off-policy"
        )
    there = [name for name in lake.partitions("score.verdicts") if name.partition("/")[0] == domain.name]
    if not there:
        raise BadInput(
            f"{domain.name} was not measured yet: `memflow run --domain {domain.name}` measures it"
        )
    return [name.partition("/")[2] for name in there]


def _side(
    lake: "Lake", domain: "Domain", measured: Sequence[str], assistants: Sequence[str] | None
) -> "Side":
    """What was answered in a domain, on the probes that it has now. Raises BadInput where it was on others."""
    from memflow.benchmarks.amemgym.policies import Answered, Side

    asked = lake.facts("question.probes", domain.name)
    for name in assistants or ():
        if name not in measured:
            raise BadInput(f"{domain.name} was not measured with {name!r}; it was with {', '.join(measured)}")
    wanted = assistants or measured
    bounds = [f"oracle{''.join(name.partition('@')[1:])}" for name in wanted]
    answered = {}
    for name in dict.fromkeys([*wanted, *(bound for bound in bounds if bound in measured)]):
        if asked is None or _facts(lake, domain.name, name).get("probes") != asked.digest:
            raise BadInput(
                f"{domain.name}/{name} was measured on probes that have been made anew since: "
                f"`memflow run --domain {domain.name} --assistant {name}` measures it on these"
            )
        partition = f"{domain.name}/{name}"
        answered[name] = Answered(
            lake.read("answer.replies", partition), lake.read("score.verdicts", partition)
        )
    probes = [probe for probe in lake.read("question.probes", domain.name) if probe.split == "test"]
    return Side(domain, probes, answered)


def _facts(lake: "Lake", domain: str, assistant: str) -> dict[str, str]:
    facts = lake.facts("score.verdicts", f"{domain}/{assistant}")
    return {} if facts is None else dict(facts.meta)


def _run(lake: "Lake", domain: "Domain") -> "Header | None":
    """The header of the recorded run that an off-policy domain gives; None where it has none."""
    from memflow.run.recording import header_of

    for name in domain.datasets:
        if lake.facts("raw.records", name) is not None:
            header = header_of(lake.read("raw.records", name))
            if header is not None:
                return header
    return None


def _shown(
    rows: Sequence["Compared"], run: "Header | None", only: dict[str, list[str]]
) -> Iterator[RenderableType]:
    columns = ["assistant", "on-policy", "95 % interval", "off-policy", "95 % interval ", "difference"]
    columns += ["95 % interval  ", "rank on", "rank off", "change", "n", "users"]
    for metric in dict.fromkeys(row.metric for row in rows):
        yield heading(metric)
        of_metric = [row for row in rows if row.metric == metric]
        yield table("", columns, [_row(row) for row in of_metric], right=columns[1:])
        for reason in dict.fromkeys(row.reason for row in of_metric if row.reason):
            names = ", ".join(row.assistant for row in of_metric if row.reason == reason)
            yield note(f"No figure for {names}: {reason}.")
    if run is not None:
        yield note(f"\nOff-policy are the dialogues of {run.assistant} in {run.domain} (model {run.model}).")
    yield note("Differences are off-policy minus on-policy, with users drawn in pairs.")
    for domain, alone in only.items():
        if alone:
            yield note(f"Measured in {domain} alone: {', '.join(alone)}.")


def _row(row: "Compared") -> list[Any]:
    change = "" if row.rise is None else "–" if not row.rise else f"{'▲▼'[row.rise < 0]}{abs(row.rise)}"
    figures = [part for each in (row.on, row.off, row.difference) for part in (each.value, _ends(each))]
    return [row.assistant, *figures, row.rank_on, row.rank_off, change, row.n, row.n_users]


def _ends(interval: "Interval") -> str:
    known = interval.low is not None and interval.high is not None
    return f"{interval.low:.3f} – {interval.high:.3f}" if known else ""
