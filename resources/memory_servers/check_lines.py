"""The lines of `memflow memories check`: what each looks for, its verdict, and what to do about a fault."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.errors import ChatError, MemflowError

Verdict = Literal["ok", "wrong", "note", "skipped"]
"""`note`: no fault, but worth knowing; `skipped`: not declared, or a former line failed."""


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

    If a check that is `needed` fails, the checks after it are skipped.
    """

    name: str
    work: Callable[[], Awaitable[str]]
    fix: str
    needed: bool = False


async def run_checks(checks: Sequence[Check]) -> list[CheckLine]:
    """Run checks in order. Return one line per check."""
    lines: list[CheckLine] = []
    stopped = ""
    for check in checks:
        if stopped:
            lines.append(CheckLine(check.name, "skipped", f"because {stopped} failed"))
            continue
        line = await _line(check)
        lines.append(line)
        if line.verdict == "wrong" and check.needed:
            stopped = check.name
    return lines


async def _line(check: Check) -> CheckLine:
    try:
        return CheckLine(check.name, "ok", await check.work())
    except CheckSkipped as skipped:
        return CheckLine(check.name, "skipped", str(skipped))
    except CheckNote as note:
        return CheckLine(check.name, "note", str(note), check.fix)
    except (CheckFailed, MemflowError, ChatError) as failed:
        return CheckLine(check.name, "wrong", str(failed), check.fix)
    except Exception as error:  # noqa: BLE001  (a user's memory may raise anything)
        return CheckLine(check.name, "wrong", f"{type(error).__name__}: {error}", check.fix)
