"""Stage `report`: the report of all results as static files, below the home.

It is materialized by its own job, since a report is not needed after every run. resources/report/ writes the files.
"""

from collections.abc import Iterator

import dagster as dg

from memflow.assets.metadata import OWNERS
from memflow.assets.step_assets import StepAssets, with_reason
from memflow.pipeline import tables_of
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.report.export import export_report
from memflow.resources.report.source import ReportSource

KEY = ["report", "site"]
JOB = "publish_report"
FOLDER = "report"
"""The folder of the report, below the home."""


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the asset report/site."""
    settings = factory.settings

    @dg.asset(
        key=KEY,
        deps=[table.split(".") for table in tables_of("all")],
        group_name="report",
        kinds={"html"},
        owners=OWNERS,
        config_schema={},
        description="The results as a folder of static files, which a browser opens without a server: `memflow view`. "
        "Files whose results did not change are kept.",
    )
    @with_reason
    def report_site(
        lake: dg.ResourceParam[Lake], ledger: dg.ResourceParam[SqlLedger]
    ) -> Iterator[dg.MaterializeResult]:
        written = export_report(ReportSource(settings, lake, ledger), settings.home / FOLDER)
        yield dg.MaterializeResult(
            metadata={
                "page": dg.MetadataValue.path(str(written.page.absolute())),
                "link": dg.MetadataValue.url(written.page.absolute().as_uri()),
                "pages": dg.MetadataValue.md("\n".join(f"* `{name}`" for name in written.domains)),
                "files": len(written.files),
                "written": len(written.written),
                "removed": len(written.removed),
                "bytes": written.bytes,
                **({"warnings": "\n".join(written.warnings)} if written.warnings else {}),
            },
            data_version=dg.DataVersion(written.version),
        )

    return [report_site]
