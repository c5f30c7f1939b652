"""`bench/gpu.sh`: a sentence without a GPU, checked wheels, and all of its steps with a fake vLLM."""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from fake_vllm import fake_vllm, is_alive, starts, workers

ROOT = Path(__file__).parents[2]
BENCH = """\
[ "$1" = bench ] && exec {python} -c '
import json, sys
of = lambda name: sys.argv[sys.argv.index(name) + 1]
rows = [json.loads(line) for line in open(of("--dataset-path"))]
figures = {{"completed": len(rows), "failed": 0, "request_throughput": float(len(rows)), "mean_ttft_ms": 9.0}}
json.dump(figures, open(of("--result-dir") + "/result.json", "w"))
' "$@"
model=$2
"""


def run_script(folder: Path, *options: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "TMPDIR": str(folder), "PATH": path or os.environ["PATH"]}
    command = ["bash", str(ROOT / "bench" / "gpu.sh"), "--python", sys.executable, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


def programs_without_gpu(folder: Path) -> str:
    """Return a PATH with the programs that the script needs, and no nvidia-smi."""
    folder.mkdir()
    for name in ("bash", "dirname", "date", "mktemp", "rm"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return str(folder)


def test_script_says_that_there_is_no_gpu(tmp_path: Path) -> None:
    done = run_script(tmp_path, path=programs_without_gpu(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["run"] is False and "no NVIDIA GPU" in result["reason"] and "Not run: " in done.stderr
    assert run_script(tmp_path, "--unknown").returncode == 1


def test_script_runs_all_steps_and_ends_the_server(tmp_path: Path) -> None:
    program = fake_vllm(
        tmp_path / "fake",
        BENCH.format(python=sys.executable),
        model="$model",
        options="--version 0.32.0 --max-model-len 16384",
    )
    done = run_script(tmp_path, "--cpu", "--vllm", program, "--setting", "short", "--setting", "uncached")
    assert done.returncode == 0, done.stderr
    every_row = [json.loads(line) for line in done.stdout.splitlines()]
    settings = [number for number, row in enumerate(every_row) if "setting" in row]
    assert [every_row[number]["setting"] for number in settings] == ["short", "uncached"]
    rows = every_row[: settings[1]]
    assert "a dry run of the script" in rows[0]["hardware"] and rows[1]["run"] is True
    phases = {row["phase"]: row for row in rows if "phase" in row}
    assert list(phases) == ["warm-up", "prefix order", "shuffled", "one message", "vllm bench serve"]
    assert all(phases[name]["requests"] == 16 for name in list(phases)[:4])
    ratio = phases["one message"]["requests_per_s"] / phases["vllm bench serve"]["request_throughput"]
    assert phases["vllm bench serve"]["ratio"] == round(ratio, 3)
    cached, uncached = (words for words in starts(tmp_path / "fake") if words[2] == "serve")
    assert cached[cached.index("--load-format") + 1] == "dummy" and "--enable-prefix-caching" in cached
    assert "--no-enable-prefix-caching" in uncached
    assert str(tmp_path / "memflow-gpu-model" / "tiny") in cached and str(tmp_path) in uncached[3]
    until = time.monotonic() + 20
    while any(map(is_alive, workers(tmp_path / "fake"))):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert list(tmp_path.glob("memflow-gpu.*")) == []


def test_script_shows_the_log_of_a_server_that_does_not_start(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo CUDA is out of memory; exit 1")
    done = run_script(tmp_path, "--cpu", "--vllm", program)
    assert done.returncode == 1 and "phase" not in done.stdout and "CUDA is out of memory" in done.stderr


def test_script_joins_and_verifies_wheels(tmp_path: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        pytest.skip("this environment has no pip")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel = tmp_path / "carried-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("carried.py", "print('here')\n")
        archive.writestr(
            "carried-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: carried\nVersion: 1.0\n"
        )
        archive.writestr(
            "carried-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("carried-1.0.dist-info/RECORD", "carried.py,,\n")
    content = wheel.read_bytes()
    (wheels / "SHA256SUMS").write_text(f"{hashlib.sha256(content).hexdigest()}  ./{wheel.name}\n")
    for number, start in enumerate(range(0, len(content), 100)):
        (wheels / f"{wheel.name}.part{number:03}").write_bytes(content[start : start + 100])
    done = run_script(tmp_path, "--cpu", "--wheels", str(wheels), "--vllm", "no-such-vllm")
    assert done.returncode == 0, done.stderr
    assert "no-such-vllm was not found" in json.loads(done.stdout)["reason"]
    (wheels / f"{wheel.name}.part001").write_bytes(b"x" * 100)
    done = run_script(tmp_path, "--cpu", "--wheels", str(wheels), "--vllm", "no-such-vllm")
    assert done.returncode == 1 and "FAILED" in done.stdout + done.stderr


def test_tokenizer_of_the_gpu_model_is_complete(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "bench" / "gpu_model.py"), str(tmp_path), "qwen3_8b"], check=True
    )
    config = json.loads((tmp_path / "config.json").read_text())
    model = json.loads((tmp_path / "tokenizer.json").read_text())["model"]
    vocabulary = model["vocab"]
    assert sorted(vocabulary.values()) == list(range(config["vocab_size"])) and config["vocab_size"] == 151936
    assert (vocabulary["<|endoftext|>"], vocabulary["<|im_end|>"]) == (151643, 151645)
    assert config["eos_token_id"] == 151645
    assert all(
        left in vocabulary and right in vocabulary and left + right in vocabulary
        for left, right in model["merges"]
    )
