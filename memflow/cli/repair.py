"""`memflow repair`: verify the home folder, and rebuild what the lake or the ledger can rebuild, without requests.

resources/repair/ finds damages and repairs those that need no run of the pipeline. Damaged partitions are rebuilt by
the pipeline with a budget of no requests: what would need one stays as it is, with the command that rebuilds it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress as ProgressDisplay

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, message, note, table, terminal_console
from memflow.errors import MemflowError

if TYPE_CHECKING:
    from resources.lake.lake import Lake
    from resources.repair.damages import Damage, Progress
    from resources.settings.settings import Settings

LEFT = "left"
REPAIRED = "repaired"


@dataclass(frozen=True)
class RepairResult:
    """What became of a damage: whether it is repaired, and if not, why and what to do."""

    damage: "Damage"
    is_repaired: bool
    advice: str = ""


def repair(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what is damaged.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Verify lake, replaced versions, ledger, search indexes and memflow.duckdb, and rebuild what is damaged.

    No request is sent: damaged partitions are rebuilt from answers in the ledger. Damaged files of the lake are kept
    in its folder `.damaged`. The exit code is 1 if a damage remains.
    """
    from resources.lake.lake import Lake
    from resources.repair.verification import find_damages
    from resources.runs.added_partitions import with_added_partitions

    settings = with_added_partitions(front_of(ctx).load())
    lake = Lake(settings.lake_root)
    with _progress() as show:
        found = find_damages(settings, lake, show)
    if not found:
        answer(form, {"damages": [], "repaired": 0}, note("Everything is intact."))
        return
    if dry_run:
        _show(
            form, [RepairResult(each, is_repaired=False, advice=each.advice) for each in found], dry_run=True
        )
        raise typer.Exit(1)
    message(f"memflow: {len(found):,} {'damage' if len(found) == 1 else 'damages'} found:")
    for each in found:
        message(f"  {each.what}: {each.repair.value}")
    if not yes and not typer.confirm("Repair them?", err=True):
        raise typer.Exit(1)
    results = _repair(settings, lake, found)
    _show(form, results)
    if not all(result.is_repaired for result in results):
        raise typer.Exit(1)


def _repair(settings: "Settings", lake: "Lake", found: "Sequence[Damage]") -> list[RepairResult]:
    """Repair damages in the order of their dependencies: ledger, files, partitions, then what is copied from them."""
    from resources.repair.actions import apply_repair, repair_ledger
    from resources.repair.damages import Repair

    problems: dict[int, str] = {}
    try:
        repair_ledger(settings, found)
    except MemflowError as wrong:
        problems.update({id(each): str(wrong) for each in found if each.repair is Repair.ledger})
    order = (Repair.copy, Repair.set_aside, Repair.delete, Repair.rerun, Repair.search_index, Repair.database)
    for kind in order:
        chosen = [each for each in found if each.repair is kind]
        if kind is Repair.rerun:
            problems.update(_rebuild(settings, lake, chosen))
            continue
        for each in chosen:
            try:
                apply_repair(settings, lake, each)
            except (MemflowError, OSError) as wrong:
                problems[id(each)] = str(wrong)
    problems.update({id(each): each.advice for each in found if each.repair is Repair.none})
    return [
        RepairResult(each, id(each) not in problems, problems.get(id(each), each.advice)) for each in found
    ]


def _rebuild(settings: "Settings", lake: "Lake", damages: "Sequence[Damage]") -> dict[int, str]:
    """Rebuild damaged partitions without requests. Return the advice for each damage that remains, by its id()."""
    from memflow.pipeline import WRITERS
    from resources.lake.lake import rebuild_command

    failures: dict[str, str] = {}
    by_domain: dict[str, dict[str, None]] = {}
    for each in damages:
        if WRITERS[each.table].scope in ("domain", "domain x assistant"):
            domain, _, assistant = each.partition.partition("/")
            by_domain.setdefault(domain, {}).update({assistant: None} if assistant else {})
    if damages and not by_domain:  # only data sets, or the tables of the leaderboard
        by_domain = {name: {} for name in settings.domains if name in lake.partitions("question.probes")}
    for domain, assistants in by_domain.items():
        failures[domain] = _run_without_requests(settings, domain, list(assistants))
    remaining = {}
    for each in damages:
        if lake.verify(each.table, each.partition) and lake.state(each.table, each.partition) is not None:
            continue
        domain = each.partition.partition("/")[0]
        why = failures.get(domain) or "; ".join(filter(None, failures.values())) or "no run rebuilds it"
        remaining[id(each)] = (
            f"It cannot be rebuilt without requests ({why}). Run "
            f"{rebuild_command(each.table, each.partition)} with the options of the run that wrote it."
        )
    return remaining


def _run_without_requests(settings: "Settings", domain: str, assistants: Sequence[str]) -> str:
    """Run the pipeline for a domain and some of its assistants with a budget of no requests. Return why it failed."""
    from memflow.chat.budget import Budget
    from memflow.cli.pipeline import run_pipeline
    from memflow.cli.planned_runs import RunRequest
    from memflow.cli.progress import ProgressWatcher
    from resources.settings.prompt_folders import activate_prompts

    try:
        chosen = settings.model_copy(
            update={
                "domains": tuple(dict.fromkeys((*settings.domains, domain))),
                "assistants": tuple(dict.fromkeys((*settings.assistants, *assistants))),
                "processes": 1,  # the limits of workers are at least one call
            }
        )
        activate_prompts(chosen)
        request = RunRequest([domain], assistants, parallel=1, only_damaged=True)
        with ProgressWatcher() as watcher:
            outcome = run_pipeline(chosen, request, watcher, Budget(calls=0, covers_scripted=True))
    except MemflowError as wrong:
        return str(wrong)
    return "; ".join(f"{run.name}: {reason}" for run, reason in outcome.failed)


def _show(form: Format, results: Sequence[RepairResult], *, dry_run: bool = False) -> None:
    """Print a row per damage, and the advice for those that remain."""
    state = {True: Text(REPAIRED, "green"), False: Text("damaged" if dry_run else LEFT, "red")}
    rows = [
        (state[each.is_repaired], each.damage.kind, each.damage.what, each.damage.repair.value)
        for each in results
    ]
    repaired = sum(each.is_repaired for each in results)
    data: dict[str, Any] = {
        "dry_run": dry_run,
        "damages": [
            {**each.damage.as_dict(), "repaired": each.is_repaired, "advice": each.advice} for each in results
        ],
        "repaired": repaired,
    }
    advice = [note(f"\n{each.damage.what}: {each.advice}") for each in results if each.advice]
    reasons = [note(f"{each.damage.what}: {each.damage.reason}") for each in results if dry_run]
    last = f"\n{repaired:,} of {len(results):,} repaired, with 0 requests." if not dry_run else ""
    answer(form, data, table("", ("", "kind", "what", "repair"), rows), *reasons, *advice, note(last))


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Yield a callback that shows how much is verified, on a terminal."""
    console = terminal_console(stderr=True)
    with ProgressDisplay(console=console, disable=not console.is_terminal, transient=True) as display:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = display.add_task(what, total=total)
            display.update(tasks[what], completed=done + 1)

        yield show
