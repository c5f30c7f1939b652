"""The command of a started vLLM server, and contradictory settings."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memflow.resources.settings.chat_models import Model
from memflow.resources.vllm_servers.arguments import serve_command


def words_of(**settings: Any) -> list[str | None]:
    return serve_command(Model(kind="vllm", **{"model": "a/b", **settings}))


def test_command_has_the_settings_the_arguments_and_then_the_address() -> None:
    words = words_of(
        executable="python my_vllm.py",
        max_model_len=32768,
        dtype="bfloat16",
        quantization="fp8",
        revision="abc",
        arguments=("--max-num-seqs", "512"),
    )
    assert words[:4] == ["python", "my_vllm.py", "serve", "a/b"]
    assert words[words.index("--revision") :] == [
        *("--revision", "abc", "--max-model-len", "32768", "--dtype", "bfloat16", "--quantization", "fp8"),
        *("--max-num-seqs", "512", "--host", "127.0.0.1", "--port", None),
    ]


def test_command_passes_a_revision_of_a_repository_and_not_of_a_folder(tmp_path: Path) -> None:
    assert "--revision" in words_of(revision="main")
    assert "--revision" not in words_of(model=str(tmp_path), revision="main")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"arguments": ["--api-key=abc"]},
            "no secrets. Remove it, and set the environment variable VLLM_API_KEY",
        ),
        ({"gpus": "0 1"}, "gpus"),
        ({"url": "http://x/v1", "gpus": 0}, "an address and `gpus`: the server at an address runs already"),
        ({"url": "http://x/v1", "arguments": ["--enforce-eager"]}, "an address and `arguments`"),
        ({"kind": "endpoint", "url": "http://x/v1", "startup": 2}, "`startup` but not kind"),
    ],
)
def test_contradictory_settings_are_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Model(**{"kind": "vllm", "model": "a/b", **settings})


def test_settings_that_fit_together_are_accepted() -> None:
    Model(kind="vllm", model="a", gpus="0, 1", arguments=["--max-num-seqs", "-1"])
    Model(kind="vllm", model="a", url="http://x/v1", dtype="float16", executable="my-vllm")


def test_settings_of_speed_leave_the_fingerprint_and_those_of_the_weights_change_it() -> None:
    former = Model(kind="vllm", model="m").fingerprint()
    assert former == "c08273d81b4c4c5c216a456640c45960"  # of version 0.2.0
    speed = {"gpus": "0,1", "max_model_len": 1, "startup": 1, "arguments": ["--max-num-seqs", "8"]}
    assert Model(kind="vllm", model="m", **speed).fingerprint() == former
    assert Model(kind="vllm", model="m", url="http://x/v1").fingerprint() == former
    forms = [
        Model(kind="vllm", model="m", **{name: "fp8"}).fingerprint() for name in ("dtype", "quantization")
    ]
    assert len({former, *forms}) == 3
