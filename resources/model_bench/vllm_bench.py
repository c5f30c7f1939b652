"""`vllm bench serve` on the same requests: its command, its data set in vLLM's custom format, and its results."""

import asyncio
import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memflow.errors import BadInput
from resources.model_bench.mix import MixedRequest
from resources.vllm_servers.addresses import root_of

LONGEST_S = 1800.0
TAIL_CHARACTERS = 600
COUNTED = (
    "completed",
    "duration",
    "request_throughput",
    "output_throughput",
    "mean_ttft_ms",
    "median_e2el_ms",
)


def bench_command(
    executable: str, url: str, served_as: str, tokenizer: str, requests: int, concurrency: int, folder: Path
) -> list[str]:
    """Return the command that sends the requests of FOLDER/requests.jsonl, and writes FOLDER/result.json."""
    return [
        *shlex.split(executable),
        *("bench", "serve", "--backend", "openai-chat", "--base-url", root_of(url)),
        *("--endpoint", "/v1/chat/completions", "--model", served_as, "--tokenizer", tokenizer),
        *("--dataset-name", "custom", "--dataset-path", str(folder / "requests.jsonl"), "--disable-shuffle"),
        # The server applies the chat template, as for memflow's requests.
        *("--skip-chat-template", "--custom-output-len", "-1", "--ignore-eos", "--temperature", "0"),
        *("--num-prompts", str(requests), "--no-oversample", "--max-concurrency", str(concurrency)),
        *("--percentile-metrics", "ttft,e2el", "--metric-percentiles", "50,90,99", "--disable-tqdm"),
        *("--save-result", "--result-dir", str(folder), "--result-filename", "result.json"),
    ]


def write_requests(requests: Sequence[MixedRequest], folder: Path) -> None:
    """Write requests of one message in the format of vLLM's custom data set."""
    lines = [
        json.dumps(
            {"prompt": each.request.messages[0].content, "output_tokens": each.request.sampling.max_tokens}
        )
        for each in requests
    ]
    (folder / "requests.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


async def run_bench(command: Sequence[str], folder: Path, seconds: float = LONGEST_S) -> Mapping[str, Any]:
    """Run the command and return the figures of its result. Raises BadInput with the end of its output if it fails."""
    if shutil.which(command[0]) is None:
        raise BadInput(
            f"the program {command[0]} was not found. Set `executable` of the model in memflow.toml."
        )
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    except TimeoutError:
        raise BadInput(f"`vllm bench serve` took more than {seconds:g} s and was ended.") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return {name: result.get(name) for name in COUNTED} | {"failed": result.get("failed", 0)}
    except (OSError, ValueError) as error:
        shown = output.decode("utf-8", "replace").strip()[-TAIL_CHARACTERS:]
        raise BadInput(
            f"`vllm bench serve` wrote no result (exit status {process.returncode}). Its output ends: {shown}"
        ) from error
