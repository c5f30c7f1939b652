"""`memflow finetune`: counting examples, training with a fake program, and the settings of the trained model."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from generated import generate
from training_program import LEARNS

from memflow.resources.settings.settings import load
from memflow.resources.training.adapter import read_manifest

DOMAIN = "memorybench_demo"


@pytest.fixture
def home(empty: Any) -> Any:
    """Return a home with the demo's feedback, in which three first answers have a like."""
    demo = generate(DOMAIN)
    firsts = [row.case_id for row in demo.feedback if row.round == 0][:3]
    rows = [
        replace(row, liked=row.round == 0 and row.case_id in firsts, copied=False) for row in demo.feedback
    ]
    empty.write("question.probes", DOMAIN, demo.probes)
    empty.write("feedback.sessions", DOMAIN, rows)
    return empty


@pytest.fixture
def finetune_settings(tmp_path: Path) -> None:
    """Write a memflow.toml with a trainable model and a fake training program."""
    (tmp_path / "learns.py").write_text(LEARNS, encoding="utf-8")
    Path("memflow.toml").write_text(
        f'[training]\npython = "{sys.executable} {tmp_path / "learns.py"}"\n'
        '[models.small]\nkind = "vllm"\nmodel = "/weights/small"\nexecutable = "my-vllm"\n'
        'arguments = ["--dtype", "bfloat16"]\ntemperature = 0.1\ntop_p = 0.9\n',
        encoding="utf-8",
    )


def test_finetune_count_option_needs_no_training_environment(home: Any) -> None:
    said = json.loads(home("finetune", DOMAIN, "--model", "scripted", "--count", "--format", "json").stdout)
    assert said["action"] == "like" and said["left_out"] == []
    assert sum(row["examples"] for row in said["counts"]) == 3
    assert sum(row["first_answers"] for row in said["counts"]) > 3


@pytest.mark.usefixtures("finetune_settings")
def test_finetune_trains_an_adapter_and_prints_valid_model_settings(home: Any) -> None:
    result = home("finetune", DOMAIN, "--model", "small", "--epochs", "2", "--format", "json")
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)
    folder = home.folder / "adapters" / f"{DOMAIN}_like_small"
    assert said["folder"] == str(folder) and "step 1 of 2: loss 2.0000" in result.stderr
    manifest = read_manifest(folder)
    assert len(manifest.cases) == 3 and manifest.scripted
    assert manifest.base == "/weights/small" and manifest.parameters["epochs"] == 2
    assert manifest.parameters["learning_rate"] == 1e-4 and manifest.parameters["targets"] == "all-linear"
    with Path("memflow.toml").open("a", encoding="utf-8") as file:
        file.write("\n".join(["", *said["lines"], ""]))
    model, base = (load().model(name) for name in (f"{DOMAIN}_like_small", "small"))
    assert (model.served_as, model.revision) == (folder.name, manifest.revision)
    assert model.sampling() == base.sampling() and model.executable == "my-vllm"
    assert model.arguments == base.arguments and model.fingerprint() != base.fingerprint()


@pytest.mark.usefixtures("finetune_settings")
def test_finetune_skips_equal_training_and_overwrites_only_with_force(home: Any) -> None:
    command = ("finetune", DOMAIN, "--model", "small", "--out", "liked")
    assert home(*command).exit_code == 0
    before = Path("liked/manifest.json").read_bytes()
    again = home(*command)
    assert again.exit_code == 0 and "already contains an adapter trained with these inputs" in again.stderr
    assert "First answers with a like" in again.stdout and "--assistant none@liked" in again.stdout
    assert "scripted chat, which is not a language model" in again.stdout
    assert "contains an adapter trained with other data" in home.error(*command, "--rank", "16")
    assert Path("liked/manifest.json").read_bytes() == before
    assert home(*command, "--rank", "16", "--force").exit_code == 0
    assert read_manifest(Path("liked")).parameters["rank"] == 16


@pytest.mark.usefixtures("finetune_settings")
@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            ("--model", "small", "--action", "copy"),
            "usable first answers, none has a copy. List the reasons with --count",
        ),
        (("--model", "scripted"), "the model scripted has no weights that can be trained"),
        (("--model", "nobody"), "there is no model 'nobody'"),
    ],
)
def test_finetune_rejects_a_model_or_action_that_cannot_be_trained(
    home: Any, arguments: tuple[str, ...], match: str
) -> None:
    assert match in home.error("finetune", DOMAIN, *arguments)
    wrong = home.error("finetune", "amemgym_demo", "--model", "scripted")
    assert "whose users never like an answer" in wrong
    Path("memflow.toml").write_text('[models.small]\nkind = "vllm"\nmodel = "small"\n', encoding="utf-8")
    wrong = home.error("finetune", DOMAIN, "--model", "small")
    assert "Set `python` under [training] in memflow.toml" in wrong
