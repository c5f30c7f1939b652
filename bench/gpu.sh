#!/usr/bin/env bash
# The throughput of memflow's requests at vLLM on a GPU, beside `vllm bench serve`: prints one JSON object.
#
#   bench/gpu.sh [--cpu] [--vllm PROGRAM] [--python PYTHON] [--wheels FOLDER] [--seconds N] [--timeout N]
#   bench/gpu.sh --pack FOLDER        downloads the wheels of bench/gpu_wheels.txt, in pieces of at most 48 MB
#
# Needs no network and no weights: the model has the shape of Qwen3-8B (bench/gpu_model.py) and random weights
# (`--load-format dummy`), so it measures speed and nothing else. It ends within --timeout seconds (default 570).
#
#   --vllm      the vllm program with its arguments, if any; default: $VLLM, else `vllm`
#   --python    a Python with memflow's requirements; default: $PYTHON, else `python3`
#   --wheels    a folder of `--pack`, whose wheels are installed beside the packages of --python first
#   --cpu       a dry run of this script without a GPU: a tiny model on a vLLM for the CPU, short answers
#
# Exit status: 0 with figures, or with {"run": false, "reason": ...} where there is no GPU or no vLLM; 1 after an error.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cpu=0 seconds=20 limit=570 wheels="" pack="" vllm=${VLLM:-vllm} python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
  case $1 in
    --cpu) cpu=1; shift ;;
    --vllm) vllm=$2; shift 2 ;;
    --python) python=$2; shift 2 ;;
    --wheels) wheels=$2; shift 2 ;;
    --pack) pack=$2; shift 2 ;;
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
read -r program _ <<< "$vllm"
command -v "$program" > /dev/null || not_run "the program $program was not found; name one with --vllm, or --wheels"

export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
if [ "$cpu" = 1 ]; then
  export VLLM_CPU_KVCACHE_SPACE=${VLLM_CPU_KVCACHE_SPACE:-1}
  shape=tiny length=16384 concurrency=8 options='"--enforce-eager", "--no-enable-chunked-prefill", "--max-num-batched-tokens", "16384"'
  bench=(--memory awi --answer-tokens 16 --requests 16)
else
  shape=qwen3_8b length=40960 concurrency=256 options=""
  bench=(--memory full --memory awi --seconds "$seconds")
fi
"$python" "$root/bench/gpu_model.py" "$work/$shape" "$shape"
cat > "$work/memflow.toml" <<TOML
home = "$work/home"
[models.shape]
kind = "vllm"
model = "$work/$shape"
executable = '$vllm'
dtype = "bfloat16"
max_model_len = $length
prefix_caching = true
arguments = ["--load-format", "dummy", "--seed", "0"${options:+, $options}]
concurrency = $concurrency
startup = $limit
idle = 0
TOML

status=0
PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}" timeout --signal=INT --kill-after=30 "$limit" \
  "$python" -m memflow.cli --settings "$work/memflow.toml" bench model shape "${bench[@]}" --json > "$work/result.json" || status=$?
if [ "$status" != 0 ]; then
  if [ "$status" = 124 ]; then echo "The benchmark took longer than $limit s. Lower --seconds, or raise --timeout." >&2; fi
  tail -n 40 "$work"/home/vllm/*/*/replica_1.log >&2 2>/dev/null || true
  exit 1
fi
"$python" - "$work/result.json" "$cpu" <<'PYTHON'
import json
import os
import sys
import time

result = json.load(open(sys.argv[1], encoding="utf-8"))
replicas = result["server"].get("replicas", [])
shown = {
    "bench": "gpu",
    "run": True,
    "date": time.strftime("%Y-%m-%d", time.gmtime()),
    "hardware": result["server"].get("gpus") or f"CPU, {os.cpu_count()} cores: a dry run of the script, no figures",
    "load": round(os.getloadavg()[0], 1),
    "startup_s": [each["startup_s"] for each in replicas],
    **{name: value for name, value in result.items() if name not in ("server", "addresses", "served_as")},
}
print(json.dumps(shown, indent=1))
PYTHON
