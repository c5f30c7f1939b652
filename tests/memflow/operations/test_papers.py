import pytest

from memflow.errors import BadInput, BadSettings
from memflow.operations.front import Front
from memflow.operations.papers import paper_plan
from memflow.operations.selection import select

TABLE = "amemgym:figure7b"


def selected(**options):
    return select(Front(), **{"paper": TABLE, "model": "scripted", **options})


def test_a_table_selects_its_domains_assistants_profile_and_repeats():
    selection = selected(paper="amemgym:table8", limit=2)
    assert selection.domains == ("amemgym_base.published~2",)
    assert selection.assistants == (
        *("oracle", "full"),
        *(f"{name}~run{number}" for number in range(2, 6) for name in ("oracle", "full")),
    )
    lines = paper_plan(selection.settings, selection.paper, selection.domains, selection.assistants)
    assert lines[0].startswith(
        "amemgym:table8 (arXiv 2603.01966, Table 8): Stability over five runs, profile published"
    )
    assert "  assistants: oracle, full, 5 evaluations of each (run)" in lines
    assert any(line.startswith("  model: scripted; the paper's: gpt-4o-mini") for line in lines)
    assert any(line.startswith("  missing: amemgym_v1_base. ") for line in lines)


def test_domain_and_memory_select_a_part_of_a_table():
    selection = selected(paper="amemgym:table2", domains=["amemgym_base"], memories=["awi_2_4"])
    assert (selection.domains, selection.assistants) == (("amemgym_base.published",), ("awi_2_4",))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"domains": ["membench_demo"]}, f"--paper {TABLE} has no domain 'membench_demo'"),
        (
            {"memories": ["awe_2_4_31"]},
            f"--paper {TABLE} has no assistant 'awe_2_4_31'. Did you mean awe_2_4_30",
        ),
        ({"assistants": ["rag@scripted"]}, f"--paper {TABLE} has no assistant 'rag'"),
        ({"demo": True}, "--paper and --demo select different runs. Remove one"),
        ({"retrieval_only": True}, "--paper and --retrieval-only select different runs"),
        (
            {"model": None},
            "needs a chat model, and memflow.toml names none. Add --model NAME, such as the paper's gpt-4.1",
        ),
        ({"paper": "amemgym:table1"}, "amemgym:table1 cannot be run: it compares other benchmarks"),
        ({"paper": "amemgym:tabel2"}, "the paper of amemgym has no table 'tabel2'. Did you mean table2"),
    ],
)
def test_a_table_that_cannot_be_run_is_a_sentence(options, message):
    with pytest.raises(BadInput) as error:
        selected(**options)
    assert message in str(error.value)


def test_a_model_of_an_assistant_is_enough():
    with pytest.raises(BadSettings, match="there is no model 'own'"):
        selected(model=None, assistants=["awe_2_4_30@own"])
