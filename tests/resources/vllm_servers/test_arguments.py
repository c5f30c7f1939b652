"""The command of a started vLLM server, the devices of its replicas, and contradictory settings."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memflow.errors import BadSettings
from resources.settings.chat_models import Model
from resources.vllm_servers.arguments import Adapter, serve_command
from resources.vllm_servers.devices import gpu_facts, replica_devices, visible_devices


def words_of(**settings: Any) -> list[str | None]:
    return serve_command(Model(kind="vllm", **{"model": "a/b", **settings}))


def test_command_has_the_settings_and_then_the_arguments() -> None:
    words = words_of(
        executable="python my_vllm.py",
        tensor_parallel=2,
        data_parallel=4,
        gpu_memory=0.45,
        max_model_len=32768,
        prefix_caching=False,
        dtype="bfloat16",
        quantization="fp8",
        revision="abc",
        arguments=("--max-num-seqs", "512"),
    )
    assert words[:8] == ["python", "my_vllm.py", "serve", "a/b", "--host", "127.0.0.1", "--port", None]
    assert words[words.index("--revision") :] == [
        *("--revision", "abc", "--tensor-parallel-size", "2", "--data-parallel-size", "4"),
        *("--gpu-memory-utilization", "0.45", "--max-model-len", "32768", "--dtype", "bfloat16"),
        *("--quantization", "fp8", "--no-enable-prefix-caching", "--max-num-seqs", "512"),
    ]


def test_command_passes_a_revision_of_a_repository_and_not_of_a_folder(tmp_path: Path) -> None:
    assert "--revision" in words_of(revision="main")
    assert "--revision" not in words_of(model=str(tmp_path), revision="main")
    assert words_of(revision="main", arguments=("--revision=v2",)).count("--revision") == 0


def test_adapter_is_served_by_the_name_of_its_folder_and_a_rank_that_vllm_accepts(tmp_path: Path) -> None:
    adapter = Adapter(tmp_path / "liked", 12)
    assert adapter.arguments() == [
        *("--enable-lora", "--max-lora-rank", "16", "--lora-modules", f"liked={tmp_path}/liked")
    ]
    with pytest.raises(BadSettings, match="has rank 513, but vLLM supports at most 512"):
        Adapter(tmp_path, 513).arguments()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arguments": ["--port", "8000"]}, "--port in `arguments`, which memflow sets itself"),
        ({"arguments": ["--served-model-name=x"]}, "--served-model-name in `arguments`"),
        ({"arguments": ["--seed", "1", "--seed=2"]}, "--seed twice"),
        (
            {"arguments": ["--api-key", "abc"]},
            "no secrets. Remove it, and set the environment variable VLLM_API_KEY",
        ),
        ({"arguments": ["--max_model_len", "1"], "max_model_len": 2}, "`max_model_len` and --max-model-len"),
        ({"arguments": ["-tp", "2"], "tensor_parallel": 2}, "`tensor_parallel` and -tp"),
        (
            {"arguments": ["--no-enable-prefix-caching"], "prefix_caching": True},
            "`prefix_caching` and --no-enable",
        ),
        ({"arguments": ["-tp", "2"], "replicas": 2}, "Set `tensor_parallel` instead"),
        ({"gpus": ["0", "1"]}, "1 replicas and 2 lists of `gpus`"),
        ({"gpus": ["0,1", "2"], "replicas": 2, "tensor_parallel": 2}, "devices 2, and it needs 2 different"),
        ({"gpus": ["0,0"], "tensor_parallel": 2}, "devices 0,0, and it needs 2 different"),
        ({"gpus": [0, 0], "replicas": 2}, "device 0 to 2 replicas.*`gpu_memory` to at most 0.50"),
        ({"gpus": ["0 1"]}, "gpus"),
        (
            {"url": "http://x/v1", "replicas": 2},
            "`url` and `replicas`: the server at an address runs already",
        ),
        ({"kind": "endpoint", "url": "http://x/v1", "replicas": 2}, "`replicas` but not kind"),
        ({"replicas": 0}, "greater than or equal to 1"),
        ({"gpu_memory": 1.5}, "less than or equal to 1"),
    ],
)
def test_contradictory_settings_are_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Model(**{"kind": "vllm", "model": "a/b", **settings})


def test_settings_that_fit_together_are_accepted() -> None:
    Model(kind="vllm", model="a", replicas=2, gpus=["0", "0"], gpu_memory=0.45)
    Model(
        kind="vllm", model="a", arguments=["--middleware", "x", "--middleware", "y", "--max-num-seqs", "-1"]
    )
    Model(
        kind="vllm", model="a", url="http://x/v1", max_model_len=8192, dtype="float16", executable="my-vllm"
    )


def test_settings_of_speed_leave_the_fingerprint_and_those_of_the_weights_change_it() -> None:
    former = Model(kind="vllm", model="m").fingerprint()
    assert former == "c08273d81b4c4c5c216a456640c45960"  # of version 0.2.0
    speed = {
        "replicas": 2,
        "gpus": ["0,1", "2,3"],
        "tensor_parallel": 2,
        "gpu_memory": 0.5,
        "max_model_len": 1,
        "prefix_caching": False,
        "startup": 1,
        "idle": 0,
    }
    assert Model(kind="vllm", model="m", **speed).fingerprint() == former
    assert Model(kind="vllm", model="m", url="http://x/v1").fingerprint() == former
    forms = [
        Model(kind="vllm", model="m", **{name: "fp8"}).fingerprint() for name in ("dtype", "quantization")
    ]
    assert len({former, *forms}) == 3


def test_devices_are_consecutive_groups_of_the_visible_ones() -> None:
    assert replica_devices(1, 4, (), None) == [()]
    assert replica_devices(2, 2, (), None) == [("0", "1"), ("2", "3")]
    assert replica_devices(2, 1, (), ["5", "7", "9"]) == [("5",), ("7",)]
    assert replica_devices(2, 1, ("7", "5"), ["5", "7"]) == [("7",), ("5",)]
    for replicas, devices, gpus in ((2, 2, ()), (1, 4, ()), (1, 1, ("3",))):
        with pytest.raises(BadSettings, match="visible are 0, 1, 2"):
            replica_devices(replicas, devices, gpus, ["0", "1", "2"])


def test_visible_devices_come_from_the_environment_and_then_from_nvidia_smi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\nfor n in 0 1; do echo "$n, NVIDIA H100 80GB HBM3, 81559 MiB, 580.1"; done\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    gpu_facts.cache_clear()
    try:
        assert visible_devices() == ("0", "1")
        assert json.loads(json.dumps(gpu_facts()))[1] == {
            "index": "1",
            "name": "NVIDIA H100 80GB HBM3",
            "memory": "81559 MiB",
            "driver": "580.1",
        }
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
        assert visible_devices() == ("3",)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        assert visible_devices() == ()
    finally:
        gpu_facts.cache_clear()
