"""The verification and repair of a ledger by its URL, for `memflow repair` and `memflow doctor`.

verification.py verifies the rows of an open ledger, recovery.py rescues those of a damaged SQLite file.
"""

from dataclasses import dataclass, field

from memflow.errors import MemflowError
from resources.files.sqlite_urls import sqlite_path
from resources.ledger.recovery import Recovery, recover
from resources.ledger.sql_ledger import SqlLedger
from resources.ledger.verification import PAGE, LedgerProblem, LedgerRepair, problems, repair


@dataclass
class LedgerCheck:
    """The result of the verification or repair of a ledger."""

    problems: list[LedgerProblem] = field(default_factory=list)
    error: str = ""
    """Why the ledger cannot be used, and the next step; "" if it can be used."""
    repair: LedgerRepair | None = None
    recovery: Recovery | None = None

    @property
    def valid(self) -> bool:
        """Whether the ledger can be used and has no problem."""
        return not self.error and not self.problems


def verify_ledger(url: str) -> LedgerCheck:
    """Return the problems of the ledger at a URL. A missing SQLite file has none; it is not created."""
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        return LedgerCheck()
    try:
        with SqlLedger(url) as ledger, ledger.connect(transaction=True) as connection:
            return LedgerCheck(problems(connection))
    except MemflowError as error:
        return LedgerCheck(error=str(error))


def repair_ledger(url: str) -> LedgerCheck:
    """Repair the ledger at a URL without asking a model. Return the problems that remain, and what was repaired.

    Rows of a SQLite file with damaged pages are recovered into a new file; other processes must not use the ledger.
    """
    before = verify_ledger(url)
    if before.valid:
        return before
    recovery = None
    try:
        if sqlite_path(url) is not None and (
            before.error or any(each.name == PAGE for each in before.problems)
        ):
            recovery = recover(url)
        with SqlLedger(url) as ledger, ledger.connect(transaction=True) as connection:
            repaired = repair(connection)
    except MemflowError as error:
        return LedgerCheck(before.problems, str(error), recovery=recovery)
    after = verify_ledger(url)
    after.repair, after.recovery = repaired, recovery
    return after
