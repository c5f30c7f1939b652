"""The asset `report/site`: its files and metadata, and its place in the graph."""

from pathlib import Path

import dagster as dg
from report_home import read_data, written_home

from memflow.assets import report
from memflow.assets.fingerprints import Fingerprints
from memflow.assets.partitions import Partitions
from memflow.assets.step_assets import StepAssets


def test_asset_writes_the_report_and_states_page_and_size(tmp_path: Path) -> None:
    with written_home(tmp_path / "home") as home:
        settings = home.settings
        factory = StepAssets(settings, Partitions.of(settings), Fingerprints.of(settings))
        result = dg.materialize(report.build(factory), resources={"lake": home.lake, "ledger": home.ledger})
        [event] = result.asset_materializations_for_node("report__site")
        page = home.settings.home / "report/index.html"
        metadata = {name: each.value for name, each in event.metadata.items()}
        assert metadata["page"] == str(page) and metadata["link"] == page.as_uri() and page.is_file()
        assert metadata["files"] == len(read_data(page.parent, "site")["files"])
        assert metadata["bytes"] > 0 and metadata["written"] == metadata["files"] + 1
