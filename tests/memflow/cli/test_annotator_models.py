"""`plan` with annotation costs, and the choice of annotator models."""

import pytest

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


def test_plan_command_shows_annotation_calls_and_costs(empty, tmp_path):
    (tmp_path / "memflow.toml").write_text(TWO.format("two"), encoding="utf-8")
    arguments = ("plan", "--domain", DOMAIN, "--memory", "none")
    told = empty.json(*arguments)
    rows = {row["role"]: row for row in told["stages"] if row["stage"] == "question"}
    assert {role: (row["model"], row["calls"]) for role, row in rows.items()} == {
        "annotator": ("one", 88),
        "verifier": ("two", 88),
    }
    paid = rows["annotator"]["prompt_tokens"] * 10 + rows["annotator"]["completion_tokens"] * 20
    assert rows["annotator"]["cost"] == paid / 1e6 > 0 and rows["verifier"]["cost"] is None  # no price is set


@pytest.mark.parametrize("verifier", ["one", "again"])
def test_plan_command_rejects_the_same_model_as_annotator_and_verifier(empty, tmp_path, verifier: str):
    (tmp_path / "memflow.toml").write_text(TWO.format(verifier), encoding="utf-8")
    wrong = empty.error("plan", "--domain", DOMAIN, "--memory", "none")
    assert "annotator and verifier are the same model" in wrong
