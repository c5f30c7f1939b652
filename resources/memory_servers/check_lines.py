"""The lines of `memflow memories check`: what each looks for, its verdict, and what to do about a fault."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from memflow.errors import ChatError, MemflowError, ReportedError, ServerFailed

Verdict = Literal["ok", "wrong", "note", "skipped"]
"""`note`: no fault, but worth knowing; `skipped`: not declared, or a former line failed."""
ANSWERS = "answers"
"""The line of a server that does not answer a request of a check by the protocol."""
ANSWER_FIX = "Answer every request with an object of the protocol; the server's log may have the reason."


Work = TypeVar("Work", bound=Callable[[Any], Awaitable[str]])
_MARKED: dict[str, tuple[str, bool, tuple[str, ...]]] = {}


@dataclass(frozen=True)
class CheckLine:
    """The result of one check of a memory."""

    name: str
    verdict: Verdict
    found: str
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the line for JSON output."""
        return {"check": self.name, "verdict": self.verdict, "found": self.found, "fix": self.fix}


class CheckFailed(Exception):
    """The exception of a check that found a fault."""


class CheckNote(Exception):
    """The exception of a check that found no fault, but something worth knowing."""


class CheckSkipped(Exception):
    """The exception of a check that does not apply."""


@dataclass(frozen=True)
class Check:
    """A check: its work returns what it found, or raises one of the exceptions above. `fix` is for a fault.

    If a check that is `needed` fails, all checks after it are skipped, and if one of `after` fails, this one is: its
    result would only show the consequences.
    """

    name: str
    work: Callable[[], Awaitable[str]]
    fix: str
    needed: bool = False
    after: tuple[str, ...] = ()


def check(fix: str, *, needed: bool = False, after: tuple[str, ...] = ()) -> Callable[[Work], Work]:
    """Return a decorator that registers a method as the check of a memory server with the method's name.

    `fix` says how to repair a fault. If a `needed` check fails, all later checks are skipped. If one of `after` fails,
    this check is skipped.
    """

    def mark(work: Work) -> Work:
        _MARKED[work.__qualname__] = (fix, needed, after)
        return work

    return mark


def checks_of(*groups: object) -> list[Check]:
    """Return the checks among the methods of objects, in the order of their definition."""
    return [
        Check(name, getattr(group, name), *_MARKED[work.__qualname__])
        for group in groups
        for name, work in vars(type(group)).items()
        if getattr(work, "__qualname__", "") in _MARKED
    ]


async def run_checks(checks: Sequence[Check]) -> list[CheckLine]:
    """Run checks in order. Return one line per check, and one for requests that the server did not answer."""
    lines: list[CheckLine] = []
    failed: dict[str, str] = {}
    """The checks that failed, or were skipped because another did, and that check."""
    stopped = ""
    for check in checks:
        cause = stopped or next((failed[name] for name in check.after if name in failed), "")
        line = CheckLine(check.name, "skipped", f"because {cause} failed") if cause else await _line(check)
        if line.name == ANSWERS:
            if ANSWERS not in failed.values():
                lines.append(line)
            line, cause = CheckLine(check.name, "skipped", f"because {ANSWERS} failed"), ANSWERS
        lines.append(line)
        if cause or line.verdict == "wrong":
            failed[check.name] = cause or check.name
            stopped = stopped or (failed[check.name] if check.needed else "")
    return lines


async def _line(check: Check) -> CheckLine:
    try:
        return CheckLine(check.name, "ok", await check.work())
    except CheckSkipped as skipped:
        return CheckLine(check.name, "skipped", str(skipped))
    except CheckNote as note:
        return CheckLine(check.name, "note", str(note), check.fix)
    except ServerFailed as failed:
        # An error that the server reports belongs to the check; other answers would fail any check.
        is_of_check = check.needed or isinstance(failed, ReportedError)
        name = check.name if is_of_check else ANSWERS
        return CheckLine(name, "wrong", str(failed), check.fix if is_of_check else ANSWER_FIX)
    except (CheckFailed, MemflowError, ChatError) as failed:
        return CheckLine(check.name, "wrong", str(failed), check.fix)
    except Exception as error:  # noqa: BLE001  (a user's memory may raise anything)
        return CheckLine(check.name, "wrong", f"the memory raised {type(error).__name__}: {error}", check.fix)
