"""`memflow budget` and the options of `memflow run` that name a shared budget."""

from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memflow.cli import app
from memflow.errors import BadInput, BadSettings, BudgetSpent
from resources.endpoints.limits import Budget, Spending
from resources.settings.sections import BudgetLimits
from resources.settings.settings import load
from resources.shared_limits.budget import SharedBudget
from resources.shared_limits.opening import limits_with, open_budget
from resources.shared_limits.store import LimitStore


@pytest.fixture
def home(tmp_path: Path):
    """Return a function that runs a command with a new home, whose settings name a budget of 100 calls."""
    (tmp_path / "memflow.toml").write_text(f'home = "{tmp_path}"\n[budget]\nname = "october"\ncalls = 100\n')

    def run(*arguments: str):
        return CliRunner().invoke(app, ["--settings", str(tmp_path / "memflow.toml"), *arguments])

    return run


def spend(home_folder: Path, calls: int, *, end: bool = True) -> None:
    """Spend calls of the budget as one process, which ends or is killed."""
    store = LimitStore(load(over={"home": home_folder}).ledger_url)
    budget = SharedBudget("october", store, calls=100, threaded=False)
    for _ in range(calls):
        while not budget.reserve(Spending(1)):
            budget.report()
        budget.settle(Spending(1), Spending(1))
    if end:
        budget.close()
    store.close()


def test_list_shows_what_is_spent_and_the_limit_of_the_settings(home, tmp_path: Path) -> None:
    assert "no shared budgets" in home("budget", "list").stdout
    spend(tmp_path, 7)
    spend(tmp_path, 5)
    shown = home("budget", "list").stdout
    assert "october" in shown and "12" in shown and "100" in shown


def test_reset_and_release_change_what_is_spent(
    home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tmp_path, 7)
    assert "begins again" in home("budget", "reset", "october").stdout
    assert "no shared budgets" in home("budget", "list").stdout
    spend(tmp_path, 3, end=False)
    assert "Leases of killed processes" in home("budget", "release", "october").stdout


def test_unknown_budget_is_named_with_the_known_ones(home, tmp_path: Path) -> None:
    spend(tmp_path, 1)
    result = home("budget", "reset", "oktober")
    assert result.exit_code == 1
    assert "october" in result.stderr


def test_options_override_the_limits_of_the_settings() -> None:
    limits = BudgetLimits(name="october", calls=100, cost=5.0)
    assert limits_with(limits) == limits
    assert limits_with(limits, calls=0, tokens=7) == BudgetLimits(name="october", tokens=7, cost=5.0)
    assert limits_with(limits, name="").name == ""
    with pytest.raises(BadInput, match="'a b' is invalid"):
        limits_with(limits, name="a b")


def test_budget_without_a_name_is_of_the_command_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite"
    with open_budget(BudgetLimits(calls=5), url) as budget:
        assert type(budget) is Budget and budget.calls == 5
    assert not (tmp_path / "ledger.sqlite").exists()


def test_shared_budget_needs_a_limit(tmp_path: Path) -> None:
    with (
        pytest.raises(BadSettings, match="october has no limit"),
        open_budget(BudgetLimits(name="october"), "sqlite:///x"),
    ):
        pass


async def test_thread_of_a_shared_budget_serves_waiting_requests(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite"
    with open_budget(BudgetLimits(name="october", calls=40), url) as budget:
        for _ in range(40):
            async with budget.admit(Spending(1)) as took:
                took.append(Spending(1))
        with pytest.raises(BudgetSpent):
            async with budget.admit(Spending(1)):
                pass
    with closing(LimitStore(url)) as store, store.transaction("") as (connection, _):
        rows = connection.exec_driver_sql(
            "SELECT holder, spent_calls, leased_calls FROM budget_spending"
        ).all()
    assert rows == [("", 40.0, 0.0)]


def test_run_that_shares_a_spent_budget_sends_no_request(home, tmp_path: Path) -> None:
    from stub import stub_process

    spend(tmp_path, 100)
    with stub_process() as url:
        model = ("--url", url, "--model", "stub", "--embedder", "hashing")
        result = home("run", "--domain", "amemgym_demo~1", "--memory", "none", *model)
    assert result.exit_code == 1
    assert "the budget of 100 calls that processes share as october is used up" in " ".join(
        result.output.split()
    )
