"""Published values of the paper: tables that repeat others are equal to them, and the errors are noted."""

from memflow.papers.files import find_table


def cells(table):
    return {(cell.row, cell.column): cell.published for row in find_table(table).cells for cell in row}


def test_table_4_repeats_the_preferences_of_table_10() -> None:
    levels, kinds = cells("membench:table4"), cells("membench:table10")
    for scene, column in (("PS", "PS accuracy 10k"), ("OS", "OS accuracy 1k")):
        of_level = {row: value.value for (row, name), value in levels.items() if name == column}
        assert of_level == {
            row: value.value for (row, name), value in kinds.items() if name == f"{scene} preference"
        }


def test_the_accuracies_of_retrieval_memory_in_table_3_are_noted_as_those_of_table_4() -> None:
    factual, reflective = cells("membench:table3"), cells("membench:table4")
    copied = [
        ("RetrievalMemory", name) for name in ("PS accuracy 10k", "PS accuracy 100k", "OS accuracy 100k")
    ]
    assert [factual[key].value for key in copied] == [reflective[key].value for key in copied]
    assert all(factual[key].note.startswith("D1: ") for key in copied)
