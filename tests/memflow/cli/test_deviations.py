"""`memflow show deviations`: points of a domain that differ from the published protocol."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.models import Models
from memflow.resources.settings.protocol_values import protocol_meta
from memflow.resources.settings.settings import load
from tests.memflow.cli.conftest import Home, measure_with

DOMAIN = "amemgym_base"
OPENAI = """
assistants = ["none", "rag_2_4_30@small"]
embedder = { kind = "endpoint", url = "http://127.0.0.1:1/v1", model = "text-embedding-3-small" }
[models.small]
kind = "endpoint"
url = "http://127.0.0.1:1/v1"
model = "gpt-4.1-mini"
"""

PROFILES = ("", ".published", ".memflow")
PLAYED = {
    f"{demo}{profile}~1": assistants
    for profile in PROFILES
    for demo, assistants in {
        "amemgym_demo": ("oracle", "awi_complete", "mem0_graph"),
        "comem_demo": ("oracle", "memp"),
        "membench_demo": ("oracle", "memory_bank"),
        "memorybench_demo": ("none", "a_mem"),
        "locomo_demo": ("none",),
        "longmemeval_sample": ("longmemeval_bm25_facts",),
    }.items()
}
"""The assistants of each played domain."""


def points(data) -> dict[str, dict]:
    return {each["point"]: each for each in data["deviations"]}


def test_show_deviations_without_a_run_compares_the_settings(empty) -> None:
    data = empty.json("show", "deviations", DOMAIN)
    assert (data["domain"], data["profile"], data["values"]) == (DOMAIN, "paper", "settings")
    found = points(data)
    assert (found["state_probes"]["reference"], found["state_probes"]["value"]) == ("variable", "question")
    assert found["state_probes"]["set_by"] == "parameters.state_probes"
    assert found["coverage"]["set_by"] is None
    assert found["embedder"]["assistants"] == ["embed_message", "embed_session", "rag_2_4_30"]


def test_show_deviations_omits_points_that_the_published_profile_sets(empty) -> None:
    ours, published = (
        points(empty.json("show", "deviations", f"{DOMAIN}.{profile}"))
        for profile in ("memflow", "published")
    )
    gone = {*ours} - {*published}
    assert gone == {
        *(
            "memory_score",
            "unparsable_answer",
            "user_model",
            "user_date",
            "user_temperature",
            "option_tokens",
        ),
        *("dates_in_notes", "prompts_follow_up"),
    }
    assert {*published} - {*ours} == {"prompts_follow_up_published"}


def test_show_deviations_omits_model_and_embedder_equal_to_the_published_ones(empty, tmp_path: Path) -> None:
    Path("memflow.toml").write_text(OPENAI, encoding="utf-8")
    found = points(empty.json("show", "deviations", DOMAIN, "--assistant", "rag_2_4_30@small"))
    assert "embedder" not in found and "assistant_model" not in found
    assert found["user_model_name"]["value"] == "scripted"


def test_show_deviations_uses_the_values_stored_with_a_run(empty) -> None:
    settings = load(
        over={
            "home": empty.folder,
            "roles": {"simulator": "small"},
            "models": {"small": {"kind": "endpoint", "url": "http://127.0.0.1:1/v1", "model": "gpt-4.1"}},
        }
    )
    meta = protocol_meta("score.verdicts", settings, settings.domain(DOMAIN), "full")
    empty.write("score.verdicts", f"{DOMAIN}/full", [], **meta)
    empty.write("question.probes", DOMAIN, [], incomplete="sample of 2 of 20 users")
    data = empty.json("show", "deviations", DOMAIN)
    assert (data["values"], data["assistants"]) == ("run", ["full"])
    assert "user_model_name" not in points(data)
    assert points(data)["assistant_model"]["value"] == "scripted"
    assert points(data)["sample"]["value"] == "sample of 2 of 20 users"


def test_show_deviations_lists_points_without_effect_on_scores_in_json_only(empty) -> None:
    shown, found = (
        empty("show", "deviations", f"{DOMAIN}.memflow").stdout,
        points(empty.json("show", "deviations", f"{DOMAIN}.memflow")),
    )
    assert "temperature of the user model" in shown and "costs" not in shown
    assert "costs" in {deviation["topic"] for deviation in found.values()}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home in which a sample of every demo was played under every profile."""
    home = Home(tmp_path_factory.mktemp("played"))
    settings = load(over={"home": home.folder, "embedder": {"kind": "hashing"}})
    models = Models(settings, SqlLedger(settings.ledger_url))
    try:
        for domain, assistants in PLAYED.items():
            measure_with(settings, models, home.lake, domain, assistants)
    finally:
        models.close()
    return home


@pytest.mark.pipeline
@pytest.mark.parametrize("domain", PLAYED)
def test_every_prompt_in_the_ledger_of_a_demo_has_a_point_of_its_assistant(played: Home, domain: str) -> None:
    with closing(sqlite3.connect(played.folder / "ledger.sqlite")) as ledger:
        uses = ledger.execute(
            "SELECT DISTINCT assistant, prompt FROM uses WHERE domain = ?", [domain]
        ).fetchall()
    data = played.json("show", "deviations", domain)
    assert data["values"] == "run" and {*data["assistants"]} == {*PLAYED[domain]}
    prompts = {
        assistant: {
            prompt
            for row in data["deviations"]
            if assistant in row["assistants"]
            for prompt in row["prompts"]
        }
        for assistant in data["assistants"]
    }
    every = set.union(*prompts.values())
    assert uses and [use for use in uses if use[1] not in (prompts[use[0]] if use[0] else every)] == []


def test_show_deviations_of_the_paper_compares_with_the_paper_where_it_is_not_silent(empty) -> None:
    of_paper, of_code = (
        points(empty.json("show", "deviations", domain)) for domain in (DOMAIN, f"{DOMAIN}.memflow")
    )
    assert "user_model" not in of_paper and of_code["user_model"]["reference"] == "published_code"
    assert (of_paper["state_probes"]["reference"], of_paper["state_probes"]["published"]) == (
        "variable",
        "question",
    )
    assert of_paper["unparsable_answer"]["reference_is"] == "published code"  # the paper does not mention it
    assert "state_probes" not in of_code
    table = empty("show", "deviations", DOMAIN).stdout
    assert "differences from the paper" in table and "chance_for_unparsed (published code)" in table


def test_show_deviations_names_only_the_assistants_that_a_point_concerns(empty) -> None:
    rows = points(
        empty.json("show", "deviations", DOMAIN, "--assistant", "rag_2_4_30", "--assistant", "lib_awe")
    )
    assert rows["lib_mem0: version, date"]["assistants"] == ["lib_awe"]
    assert rows["rag: role of a message"]["assistants"] == ["rag_2_4_30"]
    assert not {"awe_library", "awi: update of the dictionary", "mem0: extraction"} & {*rows}
    awi = points(
        empty.json("show", "deviations", DOMAIN, "--assistant", "awi", "--assistant", "awi_complete")
    )
    assert awi["awi: update of the dictionary"]["prompts"] == ["awi/update"]
    assert awi["awi: self-evolution of the kinds"]["assistants"] == ["awi_complete"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "domain", ["comem_demo", "comem_personamem_32k", "membench_demo", "memorybench_demo"]
)
def test_deviations_of_every_benchmark_have_different_published_and_own_values(
    empty, domain: str, profile: str
) -> None:
    found = empty.json("show", "deviations", f"{domain}{profile}")["deviations"]
    assert found and all(each["reference"] != each["value"] for each in found)
