"""The lines of `memflow memories check`: what each looks for, its verdict, and what to do about a fault."""

import tomllib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from memflow.errors import MemflowError, ReportedError, ServerFailed

Verdict = Literal["ok", "wrong", "note", "skipped"]
"""`note`: no fault, but worth knowing; `skipped`: not declared, or a former line failed."""
Work = Callable[[Any], Awaitable[str]]
_TABLE = tomllib.loads(files(__package__).joinpath("check_table.toml").read_text(encoding="utf-8"))
ANSWERS = "answers"
"""The line of a server that does not answer a request of a check by the protocol."""
ANSWER_FIX = "Answer every request with an object of the protocol; the server's log may have the reason."


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
    """A check of a memory: its work returns what it found, or raises one of the exceptions above.

    check_table.toml declares the rest.
    """

    name: str
    work: Work
    fix: str
    needed: bool = False
    after: Sequence[str] = ()


def checks_of(group: str, functions: Mapping[str, Any]) -> list[Check]:
    """Return the checks of a group of check_table.toml: each is the function with its name."""
    return [Check(name, functions[name], **declared) for name, declared in _TABLE[group].items()]


async def run_checks(checks: Iterable[Check], memory: Any) -> list[CheckLine]:
    """Run checks of a memory in order. Return one line per check, and one for requests without an answer."""
    lines: list[CheckLine] = []
    failed: dict[str, str] = {}
    """The checks that failed, or were skipped because another did, and that check."""
    stopped = ""
    for check in checks:
        cause = stopped or next((failed[name] for name in check.after if name in failed), "")
        line = None if cause else await _line(check, memory)
        if line is not None and line.name == ANSWERS:
            if ANSWERS not in failed.values():
                lines.append(line)
            line, cause = None, ANSWERS
        lines.append(line or CheckLine(check.name, "skipped", f"because {cause} failed"))
        if cause or lines[-1].verdict == "wrong":
            failed[check.name] = cause or check.name
            stopped = stopped or (failed[check.name] if check.needed else "")
    return lines


async def _line(check: Check, memory: Any) -> CheckLine:
    try:
        return CheckLine(check.name, "ok", await check.work(memory))
    except CheckSkipped as skipped:
        return CheckLine(check.name, "skipped", str(skipped))
    except CheckNote as note:
        return CheckLine(check.name, "note", str(note), check.fix)
    except (CheckFailed, MemflowError) as failed:
        # An error that the server reports belongs to the check; other invalid answers would fail any check.
        if isinstance(failed, ServerFailed) and not (check.needed or isinstance(failed, ReportedError)):
            return CheckLine(ANSWERS, "wrong", str(failed), ANSWER_FIX)
        return CheckLine(check.name, "wrong", str(failed), check.fix)
    except Exception as error:  # noqa: BLE001  (a user's memory may raise anything)
        return CheckLine(check.name, "wrong", f"the memory raised {type(error).__name__}: {error}", check.fix)
