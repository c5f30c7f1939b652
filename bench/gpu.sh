#!/usr/bin/env bash
# The throughput of memflow's requests at vLLM on a GPU, beside `vllm bench serve`: prints JSON lines (bench/model.py),
# each as its phase ends.
#
#   bench/gpu.sh [--cpu] [--vllm PROGRAM] [--python PYTHON] [--wheels FOLDER] [--model-folder FOLDER]
#                [--setting NAME ...] [--seconds N] [--timeout N]
#   bench/gpu.sh --pack FOLDER        downloads the wheels of bench/gpu_wheels.txt, in pieces of at most 48 MB
#
# Needs no network and no weights: the model has the shape of Qwen3-8B (bench/gpu_model.py) and random weights
# (`--load-format dummy`), so it measures speed and nothing else. It ends within --timeout seconds for each setting (default
# 570); figures that were printed before are valid.
#
# Settings, each with a server of its own, in this order:
#   short       answers of at most 16 tokens, 256 requests at once
#   cached      the same with 64 at once, without `vllm bench serve`
#   uncached    as cached, with prefix caching off
#   recorded    answers as long as recorded ones, 128 at once
#
#   --setting   one of them; repeatable; default: all
#   --model-folder  where the model's files are written; it has to stay the same for vLLM to reuse what it compiled;
#               default: ${TMPDIR:-/tmp}/memflow-gpu-model
#   --vllm      the vllm program with its arguments, if any; default: $VLLM, else `vllm`
#   --python    a Python with memflow's requirements; default: $PYTHON, else `python3`
#   --wheels    a folder of `--pack`, whose wheels are installed beside the packages of --python first
#   --cpu       a dry run of this script without a GPU: a tiny model on a vLLM for the CPU, short answers
#
# Exit status: 0 with figures, or with {"run": false, "reason": ...} where there is no GPU or no vLLM; 1 after an error.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cpu=0 seconds=20 limit=570 wheels="" pack="" folder="${TMPDIR:-/tmp}/memflow-gpu-model" settings=() vllm=${VLLM:-vllm} python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
  case $1 in
    --cpu) cpu=1; shift ;;
    --vllm) vllm=$2; shift 2 ;;
    --python) python=$2; shift 2 ;;
    --wheels) wheels=$2; shift 2 ;;
    --pack) pack=$2; shift 2 ;;
    --model-folder) folder=$2; shift 2 ;;
    --setting) settings+=("$2"); shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --timeout) limit=$2; shift 2 ;;
    *) echo "unknown option $1. See the head of $0." >&2; exit 1 ;;
  esac
done

if [ -n "$pack" ]; then
  mkdir -p "$pack"
  platforms=()
  for version in 2_34 2_31 2_28 2_27 2_24 2_17; do platforms+=(--platform "manylinux_${version}_x86_64"); done
  "$python" -m pip download --no-deps --only-binary=:all: --python-version 3.12 --implementation cp "${platforms[@]}" \
    --platform manylinux2014_x86_64 --platform manylinux1_x86_64 -d "$pack" -r "$root/bench/gpu_wheels.txt" >&2
  cd "$pack"
  sha256sum ./*.whl > SHA256SUMS
  find . -name '*.whl' -size +48M -exec sh -c 'split -b 48M -d -a 3 "$1" "$1.part" && rm "$1"' _ {} \;
  du -sh . >&2
  exit 0
fi

# The reason why nothing is measured, as JSON and as a sentence.
not_run() {
  echo "Not run: $1" >&2
  printf '{"bench": "gpu", "run": false, "reason": "%s", "date": "%s"}\n' "$1" "$(date -u +%F)"
  exit 0
}

if [ "$cpu" = 0 ]; then
  nvidia-smi -L >&2 2>/dev/null || not_run "this machine has no NVIDIA GPU (nvidia-smi finds none)"
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/memflow-gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT

if [ -n "$wheels" ]; then
  mkdir "$work/wheels" "$work/site"
  for first in "$wheels"/*.whl.part000; do
    [ -e "$first" ] || continue
    name=${first%.part000}
    cat "$name".part* > "$work/wheels/$(basename "$name")"
  done
  find "$wheels" -name '*.whl' -exec cp {} "$work/wheels" \;
  (cd "$work/wheels" && sha256sum -c --quiet "$(cd "$wheels" && pwd)/SHA256SUMS") >&2
  "$python" -m pip install -q --no-index --no-deps --target "$work/site" "$work"/wheels/*.whl >&2
  rm -r "$work/wheels"
  export PYTHONPATH="$work/site${PYTHONPATH:+:$PYTHONPATH}" PATH="$work/site/bin:$PATH"
fi
# A checkout that is not installed has no metadata, by which memflow finds its benchmarks.
"$python" - "$root" "$work/metadata" <<'PYTHON'
import sys
import tomllib
from pathlib import Path

root, folder = map(Path, sys.argv[1:])
project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
name, version = project["name"], project["version"]
info = folder / f"{name}-{version}.dist-info"
info.mkdir(parents=True)
(info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
with (info / "entry_points.txt").open("w", encoding="utf-8") as file:
    for group, entries in project["entry-points"].items():
        print(f"[{group}]", *(f"{entry} = {target}" for entry, target in entries.items()), sep="\n", file=file)
PYTHON
export PYTHONPATH="$root:$work/metadata${PYTHONPATH:+:$PYTHONPATH}"
read -r program _ <<< "$vllm"
command -v "$program" > /dev/null || not_run "the program $program was not found; name one with --vllm, or --wheels"

export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
# vLLM's default sampler on CUDA imports flashinfer, which bench/gpu_wheels.txt leaves out.
export VLLM_USE_FLASHINFER_SAMPLER=${VLLM_USE_FLASHINFER_SAMPLER:-0}
if [ ${#settings[@]} = 0 ]; then settings=(short cached uncached recorded); fi
if [ "$cpu" = 1 ]; then
  export VLLM_CPU_KVCACHE_SPACE=${VLLM_CPU_KVCACHE_SPACE:-1}
  shape=tiny length=16384 memories=(--memory awi --requests 16) options='"--enforce-eager", "--no-enable-chunked-prefill", "--max-num-batched-tokens", "16384"'
else
  shape=qwen3_8b length=40960 memories=(--memory full --memory awi --seconds "$seconds") options=""
fi
"$python" "$root/bench/gpu_model.py" "$folder/$shape" "$shape"

# Measure one setting: its name, the requests at once, whether prefixes are cached, and options of bench.model.
measure() {
  local name=$1 concurrency=$2 caching=$3 status=0 flag=--enable-prefix-caching
  if [ "$caching" = false ]; then flag=--no-enable-prefix-caching; fi
  shift 3
  if [ "$cpu" = 1 ]; then concurrency=8; fi
  cat > "$work/memflow.toml" <<TOML
home = "$work/home"
[models.$name]
kind = "vllm"
model = "$folder/$shape"
executable = '$vllm'
dtype = "bfloat16"
max_model_len = $length
arguments = ["$flag", "--load-format", "dummy", "--seed", "0"${options:+, $options}]
concurrency = $concurrency
startup = $limit
TOML
  printf '{"setting": "%s", "prefix_caching": %s}\n' "$name" "$caching"
  timeout --signal=INT --kill-after=30 "$limit" \
    "$python" -m bench.model "$name" --settings "$work/memflow.toml" "${memories[@]}" "$@" || status=$?
  if [ "$status" != 0 ]; then
    if [ "$status" = 124 ]; then echo "The setting $name took longer than $limit s. Lower --seconds, or raise --timeout." >&2; fi
    tail -n 40 "$work"/home/vllm/*/*/server.log >&2 2>/dev/null || true
    exit 1
  fi
}

if [ "$cpu" = 1 ]; then echo '{"hardware": "CPU: a dry run of the script, no figures"}'
else nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader | sed 's/.*/{"hardware": "&"}/'; fi
printf '{"bench": "gpu", "run": true, "date": "%s"}\n' "$(date -u +%F)"
for setting in "${settings[@]}"; do
  case $setting in
    short) measure short 256 true --answer-tokens 16 ;;
    cached) measure cached 64 true --answer-tokens 16 --no-vllm ;;
    uncached) measure uncached 64 false --answer-tokens 16 --no-vllm ;;
    recorded) measure recorded 128 true ;;
    *) echo "unknown setting $setting. Choose short, cached, uncached or recorded." >&2; exit 1 ;;
  esac
done
