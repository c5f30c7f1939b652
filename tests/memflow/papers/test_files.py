import pytest

from memflow.benchmarks import registry
from memflow.errors import BadInput
from memflow.papers.files import find_table, papers, published_values, tables_of
from memflow.papers.names import problems
from memflow.papers.schema import CellFields, PaperTable

BENCHMARKS = [spec.name for spec in registry.specs() if spec.paper]


def test_a_cell_has_the_fields_of_its_row_and_column_and_the_published_value():
    table = find_table("amemgym:table2")
    cell = table.cells[0][1]
    assert (cell.row, cell.column) == ("AWE-(2,4,30)", "Off-policy")
    assert (cell.fields.domain, cell.fields.assistant) == ("amemgym_base_offpolicy", "awe_2_4_30")
    assert cell.published is not None
    assert (cell.published.number, cell.published.source) == (0.253, "arXiv 2603.01966, Table 2")
    assert table.domains == ("amemgym_base.published", "amemgym_base_offpolicy.published")
    assert table.assistants[:2] == ("oracle", "awe_2_4_30")


def test_a_row_of_a_model_has_the_values_of_that_model():
    cells = {row[0].row: row[0].published for row in find_table("amemgym:table2").cells}
    assert cells["LLM"].value == cells["gpt-4.1-mini"].value == "0.203"
    assert cells["gpt-4.1"].value == "0.244"


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_name_in_a_paper_exists_and_every_value_is_shown(benchmark):
    tables = tables_of(benchmark)
    assert [fault for table in tables for fault in problems(table)] == []
    shown = {cell.published for table in tables for row in table.cells for cell in row}
    assert [str(value) for value in published_values(benchmark) if value not in shown] == []


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("amemgim:table2", "there is no paper 'amemgim'. Did you mean amemgym?"),
        ("amemgym:tabel2", "the paper of amemgym has no table 'tabel2'. Did you mean table2"),
        ("amemgym", "the paper of amemgym has no table ''"),
    ],
)
def test_an_unknown_table_is_refused_with_similar_names(reference, message):
    with pytest.raises(BadInput, match="memflow papers") as error:
        find_table(reference)
    assert message in str(error.value)


@pytest.fixture
def paper_with(monkeypatch):
    """Return a function that adds a table to AMemGym's paper."""

    def add(**fields):
        paper = papers()["amemgym"]
        own = paper.model_copy(update={"tables": {"own": PaperTable(title="Own", **fields)}})
        monkeypatch.setattr("memflow.papers.files.papers", lambda: {"amemgym": own})
        from memflow.papers import files

        files._table.cache_clear()
        return find_table("amemgym:own")

    yield add
    from memflow.papers import files

    files._table.cache_clear()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"assistant": "rga_2_4_30"}, "there is no memory 'rga_2_4_30'. Did you mean rag_2_4_30"),
        ({"domain": "amemgym_bas"}, "there is no domain 'amemgym_bas'. Did you mean amemgym_base"),
        ({"metric": "capacity"}, "the domain amemgym_base has no metric 'capacity'"),
        ({"variant": "pooled"}, "the metric memory_score has no variant 'pooled'"),
        ({"metric": None}, "metric is missing"),
    ],
)
def test_a_wrong_name_in_a_paper_is_a_sentence(paper_with, fields, message):
    cell = {"domain": "amemgym_base", "assistant": "full", "metric": "memory_score"} | fields
    table = paper_with(rows={"LLM": CellFields(**cell)}, columns={"Memory": CellFields()})
    (fault,) = problems(table)
    assert fault.startswith("amemgym:own, row 'LLM', column 'Memory': ") and message in fault


def test_a_column_without_any_published_value_is_a_sentence(paper_with):
    cell = CellFields(domain="amemgym_base", assistant="full", metric="memory_score")
    rows, columns = {"LLM": cell}, {"Memory": CellFields(published={"slice": "on"})}
    table = paper_with(name="Table 2", rows=rows, columns=columns)
    assert any("column 'Memory': paper.csv has none of its values" in fault for fault in problems(table))


def test_several_fitting_published_values_are_refused(paper_with):
    cell = CellFields(domain="amemgym_base", assistant="full", metric="memory_score")
    with pytest.raises(BadInput, match="2 published values fit, which differ in slice"):
        paper_with(name="Table 2", rows={"LLM": cell}, columns={"Memory": CellFields()})
