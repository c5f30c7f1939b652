"""`memflow show deviations`: points of a domain that differ from the published protocol."""

from pathlib import Path

import pytest

from memflow.resources.settings.protocol_values import protocol_meta
from memflow.resources.settings.settings import load

DOMAIN = "amemgym_base"
OPENAI = """
assistants = ["none", "rag_2_4_30@small"]
embedder = { kind = "endpoint", url = "http://127.0.0.1:1/v1", model = "text-embedding-3-small" }
[models.small]
kind = "endpoint"
url = "http://127.0.0.1:1/v1"
model = "gpt-4.1-mini"
"""


def points(data) -> dict[str, dict]:
    return {each["point"]: each for each in data["deviations"]}


def test_show_deviations_without_a_run_compares_the_settings(empty) -> None:
    data = empty.json("show", "deviations", DOMAIN)
    assert (data["domain"], data["profile"], data["values"]) == (DOMAIN, "paper", "settings")
    found = points(data)
    assert (found["user_model"]["published"], found["user_model"]["value"]) == ("published_code", "paper")
    assert found["user_model"]["set_by"] == "parameters.user_model"
    assert found["coverage"]["set_by"] is None
    assert found["embedder"]["assistants"] == ["embed_message", "embed_session", "rag_2_4_30"]


def test_show_deviations_omits_points_that_the_published_profile_sets(empty) -> None:
    paper, published = (
        points(empty.json("show", "deviations", domain)) for domain in (DOMAIN, f"{DOMAIN}.published")
    )
    gone = {*paper} - {*published}
    assert gone == {
        *("memory_score", "unparsable_answer", "user_model", "user_date", "user_temperature", "option_tokens")
    }
    assert {*published} < {*paper}


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
        empty("show", "deviations", DOMAIN).stdout,
        points(empty.json("show", "deviations", DOMAIN)),
    )
    assert "temperature of the user model" in shown and "costs" not in shown
    assert "costs" in {deviation["topic"] for deviation in found.values()}


@pytest.mark.parametrize("profile", [".published", "", ".memflow"])
@pytest.mark.parametrize(
    "domain", ["comem_demo", "comem_personamem_32k", "membench_demo", "memorybench_demo"]
)
def test_deviations_of_every_benchmark_have_different_published_and_own_values(
    empty, domain: str, profile: str
) -> None:
    found = empty.json("show", "deviations", f"{domain}{profile}")["deviations"]
    assert found and all(each["published"] != each["value"] for each in found)
