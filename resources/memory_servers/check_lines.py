"""The lines of `memflow memories check`: what each looks for, its verdict, and what to do about a fault."""

import tomllib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from memflow.errors import MemflowError, ReportedError, ServerFailed

Verdict = Literal["ok", "wrong", "note", "skipped"]
"""`note`: no fault, but worth knowing; `skipped`: not declared, or a former line failed."""
_TABLE = tomllib.loads(files(__package__).joinpath("check_table.toml").read_text(encoding="utf-8"))
ANSWERS = "answers"
"""The line of a server that does not answer a request of a check by the protocol."""
ANSWER_FIX = "Answer every request with an object of the protocol; the server's log may have the reason."


@dataclass(frozen=True)
class CheckLine:
    """The result of one check of a memory: its name, what was `found`, and how to fix a fault."""

    check: str
    verdict: Verdict
    found: str
    fix: str = ""


class Finding(Exception):
    """The exception of a check that found a fault or, with another verdict, a note, or the reason to skip it."""

    def __init__(self, found: str, verdict: Verdict = "wrong") -> None:
        super().__init__(found)
        self.verdict = verdict


Checks = Mapping[str, Callable[[Any], Awaitable[str]]]
"""Checks by name. A check returns what it found, or raises a Finding."""


async def run_checks(groups: Iterable[str], checks: Checks, memory: Any) -> list[CheckLine]:
    """Run the checks of groups of check_table.toml in order.

    Return one line per check, and one for requests without an answer.
    """
    lines, needed = list[CheckLine](), list[str]()
    causes: dict[str, str] = {}
    """By check that failed or was skipped: the line with the reason."""
    for name, declared in (pair for group in groups for pair in _TABLE[group].items()):
        cause = next(
            (causes[other] for other in (*needed, *declared.get("after", ())) if other in causes), ""
        )
        line = None if cause else await _line(name, checks[name], declared, memory)
        if line is not None and line.check == ANSWERS:
            lines += [] if ANSWERS in causes.values() else [line]
            line, cause = None, ANSWERS
        lines.append(line or CheckLine(name, "skipped", f"because {cause} failed"))
        if cause or lines[-1].verdict == "wrong":
            causes[name] = cause or name
        needed += [name] if declared.get("needed") else []
    return lines


async def _line(
    name: str, check: Callable[[Any], Awaitable[str]], declared: Mapping[str, Any], memory: Any
) -> CheckLine:
    for requirement in declared.get("requires", ()):
        if not memory.meets(requirement):
            return CheckLine(name, "skipped", _TABLE["requirements"][requirement])
    try:
        return CheckLine(name, "ok", await check(memory))
    except Finding as found:
        return CheckLine(
            name, found.verdict, str(found), "" if found.verdict == "skipped" else declared["fix"]
        )
    except MemflowError as failed:
        # An error that the server reports belongs to the check; other invalid answers would fail any check.
        if isinstance(failed, ServerFailed) and not (
            declared.get("needed") or isinstance(failed, ReportedError)
        ):
            return CheckLine(ANSWERS, "wrong", str(failed), ANSWER_FIX)
        return CheckLine(name, "wrong", str(failed), declared["fix"])
    except Exception as error:  # noqa: BLE001  (a user's memory may raise anything)
        return CheckLine(name, "wrong", f"the memory raised {type(error).__name__}: {error}", declared["fix"])
