"""`show keys`, `plan` with annotation costs, and the choice of annotator models."""

import pytest
from generated import generate

from memflow.run.recording import SCRIPTED

DOMAIN = "comem_demo_annotated"
TWO = """
[roles]
annotator = "one"
verifier = "{}"
[models.one]
url = "http://127.0.0.1:9/v1"
model = "a/one"
price_in = 10.0
price_out = 20.0
[models.two]
url = "http://127.0.0.1:9/v1"
model = "a/two"
[models.again]
url = "http://127.0.0.1:9/v1"
model = "a/one"
"""


@pytest.fixture
def annotated(empty):
    """Return a home with the demo's gold labels, made by the scripted chat."""
    demo = generate(DOMAIN)
    [sample] = demo.domain.datasets
    empty.write("raw.records", sample, demo.rows("raw.records"))
    empty.write("question.keys", DOMAIN, demo.rows("question.keys"), **{SCRIPTED: "yes"})
    return empty


def test_show_keys_as_json_counts_questions_and_agreement(annotated):
    told = annotated.json("show", "keys", DOMAIN)
    assert told["made_by"] == ["annotator", "verifier"] and "scripted" in told["label"]
    whole = told["surveys"][0]
    assert (whole["questions"], whole["kept"], whole["dropped"], whole["failed"]) == (22, 18, 4, 0)
    assert [at["agreed"] for at in whole["checkpoints"]] == [19, 18, 19, 22]
    assert {each["slice"] for each in told["surveys"]} == {
        "all", "category changing", "category lasting", "category music", "category people", "category work",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("domain", "says"),
    [
        ("amemgym_demo", "amemgym_demo belongs to amemgym"),
        (DOMAIN, f"`memflow run --domain {DOMAIN}`"),
        ("nowhere", "there is no domain 'nowhere'"),
    ],
)
def test_show_keys_reports_why_a_domain_has_no_labels(empty, domain: str, says: str):
    assert says in empty.error("show", "keys", domain)


def test_plan_command_shows_annotation_calls_and_costs(empty, tmp_path):
    (tmp_path / "memflow.toml").write_text(TWO.format("two"), encoding="utf-8")
    arguments = ("plan", "--domain", DOMAIN, "--memory", "none")
    told = empty.json(*arguments)
    assert told["annotated"] == {DOMAIN: {"questions": 22, "checkpoints": 4}}
    rows = {row["role"]: row for row in told["stages"] if row["stage"] == "question"}
    assert {role: (row["model"], row["calls"]) for role, row in rows.items()} == {
        "annotator": ("one", 88),
        "verifier": ("two", 88),
    }
    paid = rows["annotator"]["prompt_tokens"] * 10 + rows["annotator"]["completion_tokens"] * 20
    assert rows["annotator"]["cost"] == paid / 1e6 > 0 and rows["verifier"]["cost"] is None  # no price is set
    assert "22 questions x 4 checkpoints = 88 labels" in empty(*arguments).stdout


@pytest.mark.parametrize("verifier", ["one", "again"])
def test_plan_command_rejects_the_same_model_as_annotator_and_verifier(empty, tmp_path, verifier: str):
    (tmp_path / "memflow.toml").write_text(TWO.format(verifier), encoding="utf-8")
    wrong = empty.error("plan", "--domain", DOMAIN, "--memory", "none")
    assert "annotator and verifier are the same model" in wrong
