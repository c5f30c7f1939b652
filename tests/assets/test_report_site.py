"""The asset `report/site`: its files and metadata, and its place in the graph."""

from pathlib import Path

import dagster as dg
import pytest
from report_home import read_data, written_home

from assets import report_site
from assets.jobs import build
from memflow.pipeline import JOBS


def test_asset_writes_the_report_and_states_page_and_size(tmp_path: Path) -> None:
    with written_home(tmp_path / "home") as home:
        result = dg.materialize(
            [report_site.build(home.settings)], resources={"lake": home.lake, "ledger": home.ledger}
        )
        [event] = result.asset_materializations_for_node("report__site")
        page = home.settings.home / "report/index.html"
        metadata = {name: each.value for name, each in event.metadata.items()}
        assert metadata["page"] == str(page) and metadata["link"] == page.as_uri() and page.is_file()
        assert metadata["files"] == len(read_data(page.parent, "site")["files"])
        assert metadata["bytes"] > 0 and metadata["written"] == metadata["files"] + 1


@pytest.mark.parametrize("table", ["score/leaderboard", "score/comparisons"])
def test_report_depends_on_the_tables_of_scores(table: str, tmp_path: Path) -> None:
    with written_home(tmp_path / "home") as home:
        [spec] = report_site.build(home.settings).specs
    assert table in {dep.asset_key.to_user_string() for dep in spec.deps}


def test_report_has_a_job_that_no_run_of_the_pipeline_executes() -> None:
    assert report_site.JOB in {job.name for job in build()}
    assert report_site.JOB not in {name for name, _ in JOBS.values()}
