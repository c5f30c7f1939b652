from types import SimpleNamespace

import factories
from report_home import DOMAIN, ReportHome, read_data

from memflow.benchmarks import registry
from memflow.resources.report.papers import papers_file
from memflow.resources.report.redaction import Redaction

SCORE = factories.score(
    domain="amemgym_base.published", metric="write_failure", value=0.31, low=0.3, high=0.32, scripted=False
)


def source(*scores):
    lake = SimpleNamespace(
        current_partitions=lambda table: ["all"],
        partitions=lambda table: [],
        read_all=lambda table, partitions: [*scores],
    )
    return SimpleNamespace(
        lake=lake,
        assistants={SCORE.domain: ["full"]},
        domain=lambda name: registry.find_domain("amemgym_base"),
        settings=None,
        redaction=Redaction.of_environment([]),
    )


def test_a_table_with_results_has_cells_and_another_its_command():
    tables = {table["table"]: table for table in papers_file(source(SCORE))}
    (row, *_) = tables["amemgym:figure7a"]["rows"]
    write = row["cells"][0]
    assert (row["label"], write["published"], write["value"], write["verdict"]) == (
        "LLM",
        "0.301",
        0.31,
        "within",
    )
    assert tables["amemgym:table2"]["rows"] == []
    assert tables["amemgym:table2"]["command"].startswith("memflow run --paper amemgym:table2")
    assert not any(name.startswith("membench:") for name in tables)


def test_assistants_that_the_report_leaves_out_are_in_no_table():
    hidden = factories.score(
        domain=SCORE.domain, assistant="awi_2_4", memory="awi_2_4", metric="write_failure"
    )
    assert all(table["rows"] == [] for table in papers_file(source(hidden)))


def test_cells_of_a_view_have_the_records_of_the_report_alone(monkeypatch):
    domain = "mab_test_time_learning"
    mean = {"domain": domain, "source": "mean of sources", "percent": 27.5, "model": "m", "scripted": False}
    records = [{**mean, "assistant": name} for name in ("mem0_100", "mem_gpt")]
    monkeypatch.setattr("memflow.resources.report.papers.view_records", lambda reader, view: records)
    shown = source()
    shown.assistants = {domain: ["mem0_100"]}
    shown.domain = registry.find_domain
    [table] = [table for table in papers_file(shown) if table["table"] == "memoryagentbench:overall"]
    values = {row["label"]: [cell["value"] for cell in row["cells"]] for row in table["rows"]}
    assert values["Mem0"] == [None, 27.5, None, None, None]
    assert values["MemGPT"] == [None] * 5


def test_the_report_has_the_file(home: ReportHome, tmp_path):
    home.export(tmp_path / "report")
    assert {table["table"] for table in read_data(tmp_path / "report", "papers")} >= {"amemgym:table2"}
    assert DOMAIN in home.settings.domains
