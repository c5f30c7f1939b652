"""The throughput of a model's server on the requests of a run, beside `vllm bench serve`: prints JSON lines.

    python -m bench.model NAME [--settings FILE] [--domain DOMAIN] [--memory MEMORY ...] [--seconds N] [--no-vllm]

NAME is a model of memflow.toml; a server of kind vllm is started if necessary. The requests are those of play, answers
and judgments in a dry run of the domain in which one model has all roles, and replies are as long as recorded replies
of real models. They are sent at the model's `concurrency` without waiting for each other: in prefix order, shuffled,
and as one message each, which `vllm bench serve` (its extra `bench` is needed) then sends too. Every request begins
with a line of its own, so that no phase profits from the cache of another. Each line is printed as its phase ends; the
last has the ratio to `vllm bench serve`. The steady rate leaves out the start of a phase, until as many requests as may
be in flight are answered, and its tail, from when the last request is sent. The use of the KV cache says whether an
order of requests can show at all: it cannot while everything fits. Nothing is written into ledger or lake.
"""

import argparse
import asyncio
import json
import os
import random
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from memflow.benchmarks import registry
from memflow.chat.ledger import MemoryLedger
from memflow.chat.requests import Chat, ChatMessage, ChatRequest, Completion
from memflow.errors import BadInput, ChatError, EndpointDown, MemflowError, ModelMisconfigured, QuotaExhausted
from memflow.resources.data.library import Library
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.clients import Clients
from memflow.resources.settings import settings as settings_file
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.roles import Roles
from memflow.resources.settings.settings import Settings
from memflow.resources.vllm_servers.servers import VllmServers
from memflow.run.dry_run import DryRun, ModelAssignment, ModelProfile
from memflow.run.handlers import handlers
from memflow.tokens import estimate

BLOCK, LEAST_BLOCKS = 16, 8
"""Adjacent requests that a selection of the mix keeps together at most, and blocks of a selection at least."""
TYPED_FACTOR, TYPED_LEAST = 3, 128
"""The token limit of an answer with a schema: a multiple of the recorded length, and at least this."""
TEMPLATE_TOKENS = 64
"""Tokens that a chat template and a marker add to a prompt at most."""
WARM_UP_ROUNDS, LEAST_ROUNDS, MOST_REQUESTS = 2, 5, 20_000
"""Requests of the warm-up and of a phase at least, as multiples of the concurrency; requests of a phase at most."""
FIRST_TOKEN = ("vllm:time_to_first_token_seconds_sum", "vllm:time_to_first_token_seconds_count")
KV_USE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
"""The share of the KV cache in use, under its present and its former name."""
KV_BLOCKS = re.compile(
    r'^vllm:cache_config_info\{.*?\bblock_size="(\d+)".*?\bnum_gpu_blocks="(\d+)"', re.MULTILINE
)
"""The size of the KV cache, whose labels are in alphabetical order."""
ENDING = (EndpointDown, ModelMisconfigured, QuotaExhausted)
"""Errors that all requests would get."""


@dataclass(frozen=True)
class MixedRequest:
    """A request of the mix, with its stage, its role and the length that its answer gets."""

    stage: str
    role: str
    request: ChatRequest
    output_tokens: int

    @property
    def prompt_tokens(self) -> int:
        """The estimated tokens of the prompt."""
        return sum(estimate(message.content) for message in self.request.messages)

    def with_marker(self, marker: str) -> "MixedRequest":
        """Return the request with a first line of its own, so that no earlier phase has cached its prefix."""
        first, *others = self.request.messages
        messages = (replace(first, content=f"{marker}\n{first.content}"), *others)
        typed = max(TYPED_LEAST, TYPED_FACTOR * self.output_tokens)
        most = typed if self.request.output is not None else self.output_tokens
        most = max(1, min(self.request.sampling.max_tokens, most))
        sampling = replace(self.request.sampling, max_tokens=most)
        return replace(self, request=replace(self.request, messages=messages, sampling=sampling))

    def plain(self) -> "MixedRequest":
        """Return the request as one message without a schema, in the form that vLLM's benchmark can send."""
        text = "\n\n".join(message.content for message in self.request.messages)
        sampling = replace(self.request.sampling, max_tokens=self.output_tokens)
        request = ChatRequest(self.request.prompt, {}, (ChatMessage("user", text),), sampling)
        return replace(self, request=request)


def record_mix(
    settings: Settings, name: str, domain_name: str, memories: Sequence[str], most_output: int = 0
) -> list[MixedRequest]:
    """Return the requests of play, answers and judgments: by stage, those with a common prefix next to each other.

    Answers have at most `most_output` tokens; 0 is no limit. Raises MissingData without the domain's data.
    """
    model, domain = settings.model(name), settings.domain(domain_name)
    mix: list[MixedRequest] = []
    recording = False

    def observe(stage: str, role: str, request: ChatRequest, completion: Completion) -> None:
        if recording:
            length = min(estimate(completion.text), most_output or request.sampling.max_tokens)
            mix.append(MixedRequest(stage, role, request, max(1, length)))

    assignment = ModelAssignment(
        {name: ModelProfile(model.sampling(), model.concurrency, model.fingerprint(), scripted=False)},
        dict.fromkeys(Roles.model_fields, name),
        lambda assistant: name,
        settings.token_limits.of,
        judges=lambda domain: (name,),
    )
    own = settings.own_memories()
    dry_run = DryRun(assignment, handlers(own), own=own, observe=observe)
    library, benchmark = Library(settings.data, settings.datasets), registry.benchmark(domain.benchmark)
    datasets, _ = library.datasets_of(domain)
    records = [row for dataset in datasets for row in benchmark.records(dataset, library.paths(dataset))]
    dry_run.add("raw.records", domain_name, records)
    dry_run.run("domain", domain)
    recording = True
    for memory in memories:
        dry_run.run("domain x assistant", domain, memory)
    stages = list(dict.fromkeys(mixed.stage for mixed in mix))
    return sorted(mix, key=lambda mixed: (stages.index(mixed.stage), mixed.request.messages_json))


def select_requests(mix: Sequence[MixedRequest], count: int, marker: str) -> list[MixedRequest]:
    """Return `count` requests in prefix order: the whole mix as often as it fits, then blocks of it by chance."""
    rounds, rest = divmod(count, len(mix))
    chosen = [mixed.with_marker(f"{marker}.{number}") for number in range(rounds) for mixed in mix]
    block = max(1, min(BLOCK, rest // LEAST_BLOCKS))
    starts = list(range(0, len(mix), block))
    random.Random(0).shuffle(starts)
    places = [place for start in starts for place in range(start, min(start + block, len(mix)))][:rest]
    return chosen + [mix[place].with_marker(f"{marker}.{rounds}") for place in sorted(places)]


def mix_table(mix: Sequence[MixedRequest]) -> list[dict[str, Any]]:
    """Return the numbers of requests and mean tokens by stage and role."""
    rows = []
    for stage, role in dict.fromkeys((mixed.stage, mixed.role) for mixed in mix):
        chosen = [mixed for mixed in mix if (mixed.stage, mixed.role) == (stage, role)]
        rows.append(
            {
                "stage": stage,
                "role": role,
                "requests": len(chosen),
                "with_schema": sum(mixed.request.output is not None for mixed in chosen),
                "prompt_tokens": round(sum(mixed.prompt_tokens for mixed in chosen) / len(chosen)),
                "output_tokens": round(sum(mixed.output_tokens for mixed in chosen) / len(chosen)),
            }
        )
    return rows


@dataclass
class Phase:
    """The requests of one phase: their tokens, and their latencies in seconds."""

    name: str
    seconds: float = 0.0
    completions: list[Completion] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    """The times at which answers arrived."""
    last_sent: float = 0.0
    """The time at which the last request was sent."""
    concurrency: int = 1
    failures: Counter[str] = field(default_factory=Counter)
    """The number of failed requests, by reason."""
    first_token_s: float | None = None
    """The mean seconds to the first token, as the server counts them."""
    kv_use: float | None = None
    """The largest share of the KV cache in use, as the server states it each second."""

    @property
    def requests_per_s(self) -> float:
        """Answered requests per second."""
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    @property
    def steady_per_s(self) -> float | None:
        """Answered requests per second without start and tail; None if fewer than 2 answers are left."""
        ends = [end for end in self.ends[self.concurrency - 1 :] if end <= self.last_sent]
        return (len(ends) - 1) / (ends[-1] - ends[0]) if len(ends) > 1 and ends[-1] > ends[0] else None

    def row(self) -> dict[str, Any]:
        """Return the figures of the phase. Rates and latencies are of answered requests."""
        seconds, ordered = self.seconds or float("inf"), sorted(self.latencies)
        prompt = sum(completion.prompt_tokens for completion in self.completions)
        output = sum(completion.completion_tokens for completion in self.completions)
        cached = sum(completion.cached_tokens for completion in self.completions)
        return {
            "phase": self.name,
            "requests": len(ordered),
            "failed": sum(self.failures.values()),
            "seconds": round(self.seconds, 2),
            "requests_per_s": round(self.requests_per_s, 3),
            "steady_requests_per_s": self.steady_per_s and round(self.steady_per_s, 3),
            "prompt_tokens_per_s": round(prompt / seconds, 1),
            "output_tokens_per_s": round(output / seconds, 1),
            **{f"p{share}_s": percentile(ordered, share) for share in (50, 90, 99)},
            "first_token_s": self.first_token_s,
            "kv_use": self.kv_use,
            "prompt_tokens": prompt,
            "output_tokens": output,
            "cached_tokens": cached,
            "cached_share": round(cached / prompt, 4) if prompt else 0.0,
            "cut": sum(completion.cut for completion in self.completions),
            "estimated": sum(completion.estimated for completion in self.completions),
            "failures": dict(self.failures.most_common(5)),
        }


async def send_requests(
    name: str, requests: Sequence[MixedRequest], typed: Chat, fixed: Chat, concurrency: int
) -> Phase:
    """Send requests in their order, `concurrency` at a time, those with a schema to `typed`. Return the phase.

    Raises EndpointDown, ModelMisconfigured and QuotaExhausted.
    """
    phase = Phase(name, concurrency=concurrency)
    waiting = iter(requests)

    async def send_next() -> None:
        for mixed in waiting:  # the iterator is shared, so that requests keep their order
            phase.last_sent = began = time.perf_counter()
            try:
                chat = fixed if mixed.request.output is None else typed
                phase.completions.append(await chat.complete(mixed.request))
                phase.ends.append(time.perf_counter())
                phase.latencies.append(phase.ends[-1] - began)
            except ENDING:
                raise
            except ChatError as error:
                phase.failures[str(error)[:300]] += 1

    began = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(requests))):
                group.create_task(send_next())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    phase.seconds = time.perf_counter() - began
    return phase


def percentile(ordered: Sequence[float], share: int) -> float | None:
    """Return the nearest-rank percentile of sorted values; None without values."""
    return round(ordered[max(0, -(-share * len(ordered) // 100) - 1)], 4) if ordered else None


def root_of(url: str) -> str:
    """Return an address without /v1, where vLLM has its version and metrics."""
    return url.rstrip("/").removesuffix("/v1")


def read_text(url: str, key: str = "") -> str:
    """Return the body of a GET request. Raises OSError without a successful response."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    with urllib.request.urlopen(request, timeout=10) as response:
        return str(response.read().decode())


def served_model(url: str, model: Model) -> tuple[str, int]:
    """Return vLLM's version, and the tokens that a server accepts for a model; empty and 0 if unknown.

    Raises EndpointDown if the server does not respond, or does not serve the model.
    """
    try:
        listed = json.loads(read_text(f"{url}/models", os.environ.get(model.key_variable, "")))["data"]
        length = {entry["id"]: entry.get("max_model_len") for entry in listed}[model.model]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EndpointDown(f"cannot find {model.model} in the model list of {url}: {error!r}") from error
    try:
        return json.loads(read_text(f"{root_of(url)}/version"))["version"], length or 0
    except (OSError, ValueError, KeyError, TypeError):
        return "", length or 0  # a server other than vLLM


def first_tokens(url: str) -> tuple[float, float]:
    """Return the seconds to the first token and the requests that vLLM has counted; zeros for other servers."""
    try:
        lines = read_text(f"{root_of(url)}/metrics").splitlines()
    except OSError:
        return 0.0, 0.0
    of_name = [[line for line in lines if line.startswith((f"{name}{{", f"{name} "))] for name in FIRST_TOKEN]
    seconds, count = (sum(float(line.rpartition(" ")[2]) for line in named) for named in of_name)
    return seconds, count


def kv_use(url: str) -> float | None:
    """Return the share of the KV cache in use; None for servers that state none."""
    with suppress(OSError):
        lines = read_text(f"{root_of(url)}/metrics").splitlines()
        return max(
            (float(line.rpartition(" ")[2]) for line in lines if line.startswith(KV_USE)), default=None
        )
    return None


def kv_tokens(url: str) -> int | None:
    """Return how many tokens the KV cache holds; None for servers that do not state it."""
    with suppress(OSError):
        if sizes := KV_BLOCKS.search(read_text(f"{root_of(url)}/metrics")):
            return int(sizes[1]) * int(sizes[2])
    return None


async def largest_kv_use(url: str, uses: list[float]) -> None:
    """Add the use of the KV cache to a list each second, until this is canceled."""
    while (use := await asyncio.to_thread(kv_use, url)) is not None:
        uses.append(use)
        await asyncio.sleep(1)


def vllm_bench(model: Model, url: str, tokenizer: str, requests: Sequence[MixedRequest]) -> dict[str, Any]:
    """Return the figures of `vllm bench serve` on requests of one message. Raises BadInput if it fails."""
    with tempfile.TemporaryDirectory(prefix="memflow-bench-") as name:
        folder = Path(name)
        rows = [
            {"prompt": plain.request.messages[0].content, "output_tokens": plain.request.sampling.max_tokens}
            for plain in requests
        ]
        (folder / "requests.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        command = [
            *shlex.split(model.executable),
            *("bench", "serve", "--backend", "openai-chat", "--base-url", root_of(url)),
            *("--endpoint", "/v1/chat/completions", "--model", model.model, "--tokenizer", tokenizer),
            *("--dataset-name", "custom", "--dataset-path", str(folder / "requests.jsonl")),
            # The server applies the chat template, as for memflow's requests.
            *("--disable-shuffle", "--skip-chat-template", "--custom-output-len", "-1", "--ignore-eos"),
            *("--temperature", "0", "--num-prompts", str(len(rows)), "--no-oversample"),
            *("--max-concurrency", str(model.concurrency), "--percentile-metrics", "ttft,e2el"),
            *("--metric-percentiles", "50,90,99", "--disable-tqdm"),
            *("--save-result", "--result-dir", str(folder), "--result-filename", "result.json"),
        ]
        try:
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
            result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            shown = "" if error.filename == command[0] else (ended.stdout + ended.stderr).strip()[-600:]
            raise BadInput(f"`{command[0]} bench serve` wrote no result ({error}). {shown}") from error
    names = ("completed", "duration", "request_throughput", "output_throughput")
    return {name: result.get(name) for name in (*names, "mean_ttft_ms", "median_e2el_ms", "failed")}


async def measure(
    options: argparse.Namespace,
    settings: Settings,
    mix: Sequence[MixedRequest],
    url: str,
    is_vllm: bool,
) -> None:
    """Send the phases to the server at an address, and print the figures of each as it ends."""
    model = settings.model(options.name)
    at_url = {"kind": "endpoint", "model": model.model, "url": url}
    body = {**model.profile.body, "ignore_eos": True} if is_vllm else model.profile.body
    fixed = {**at_url, "profile": model.profile.model_copy(update={"body": body})}
    models = {"typed": model.model_copy(update=at_url), "fixed": model.model_copy(update=fixed)}
    settings = Settings.model_construct(**dict(settings) | {"models": models})
    servers = VllmServers(models, settings.home)
    # Clients only need a ledger for an embedder.
    clients = Clients(settings, cast(SqlLedger, MemoryLedger()), servers, None)
    nonce = secrets.token_hex(3)
    try:
        chats = [await clients.chat(name) for name in models]

        async def send(name: str, requests: Sequence[MixedRequest]) -> Phase:
            before, uses = first_tokens(url), list[float]()
            watch = asyncio.create_task(largest_kv_use(url, uses))
            phase = await send_requests(name, requests, *chats, model.concurrency)
            watch.cancel()
            phase.kv_use = round(max(uses), 4) if uses else None
            seconds, count = (after - start for after, start in zip(first_tokens(url), before, strict=True))
            phase.first_token_s = round(seconds / count, 4) if count else None
            show(phase.row())
            return phase

        warm_up = await send(
            "warm-up", select_requests(mix, WARM_UP_ROUNDS * model.concurrency, f"{nonce}.w")
        )
        if not warm_up.latencies:
            raise BadInput(f"no request of the warm-up was answered: {next(iter(warm_up.failures))}")
        count = round(warm_up.requests_per_s * options.seconds)
        count = options.requests or min(max(count, LEAST_ROUNDS * model.concurrency), MOST_REQUESTS)
        in_order = await send("prefix order", select_requests(mix, count, f"{nonce}.a"))
        requests = select_requests(mix, count, f"{nonce}.b")
        shuffled = await send("shuffled", random.Random(0).sample(requests, count))
        gain = in_order.requests_per_s / (shuffled.requests_per_s or float("inf"))
        show({"prefix_order_gain": round(gain, 3)})
        if not options.no_vllm:
            ours, theirs = (
                [mixed.plain() for mixed in select_requests(mix, count, f"{nonce}.{marker}")]
                for marker in "ef"
            )
            plain = await send("one message", ours)
            try:
                figures = await asyncio.to_thread(
                    vllm_bench, model, url, options.tokenizer or model.model, theirs
                )
            except BadInput as error:
                show({"phase": "vllm bench serve", "not_run": str(error)})
                return
            ratio = plain.requests_per_s / (figures["request_throughput"] or float("inf"))
            show({"phase": "vllm bench serve", **figures, "ratio": round(ratio, 3)})
    finally:
        await clients.close()


def show(row: dict[str, Any]) -> None:
    """Print a row as a JSON line at once, so that a timeout keeps it."""
    print(json.dumps(row), flush=True)


def run(options: argparse.Namespace) -> None:
    """Record the mix, start or check the server, and print the figures.

    Raises BadInput for the scripted chat, and the errors of starting a server and of an unreachable address.
    """
    settings = settings_file.load(options.settings)
    model = settings.model(options.name)
    if model.kind == "scripted":
        raise BadInput(f"the model {options.name} is the scripted chat. Choose a model with a server.")
    memories = options.memory or ["full", "awi"]
    mix = record_mix(settings, options.name, options.domain, memories, options.answer_tokens)
    began = time.perf_counter()
    with closing(VllmServers(settings.models, settings.home)) as servers:
        url = servers.url(options.name) if model.kind == "vllm" else model.url
        version, length = served_model(url, model)
        most = length or sys.maxsize
        fitting = [
            mixed for mixed in mix if mixed.prompt_tokens + 2 * mixed.output_tokens + TEMPLATE_TOKENS <= most
        ]
        if not fitting:
            raise BadInput(
                f"all {len(mix)} requests are longer than the {most} tokens that the server accepts. Choose another "
                "--memory, or raise `max_model_len` of the model in memflow.toml."
            )
        show(
            {
                "model": options.name,
                "model_name": model.model,
                "domain": options.domain,
                "memories": memories,
                "concurrency": model.concurrency,
                "startup_s": round(time.perf_counter() - began, 1),
                "vllm": version,
                "kv_cache_tokens": kv_tokens(url),
                "answer_tokens": options.answer_tokens or "as recorded",
                "server": servers.facts().get(options.name, {}),
                "mix": mix_table(fitting),
                "left_out": len(mix) - len(fitting),
            }
        )
        asyncio.run(measure(options, settings, fitting, url, bool(version)))


def main(words: Sequence[str] | None = None) -> int:
    """Parse the command line, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME", help="a model of memflow.toml")
    parser.add_argument("--settings", type=Path, help="the settings [memflow.toml]")
    parser.add_argument("--domain", default="amemgym_demo", help="the domain whose requests are sent")
    parser.add_argument("--memory", action="append", help="a memory; repeatable [full, awi]")
    parser.add_argument("--seconds", type=float, default=10.0, help="seconds of each phase, approximately")
    parser.add_argument(
        "--requests", type=int, default=0, help="requests of each phase, instead of --seconds"
    )
    parser.add_argument("--answer-tokens", type=int, default=0, help="tokens of the longest answer")
    parser.add_argument("--tokenizer", default="", help="the tokenizer of `vllm bench serve` [the model]")
    parser.add_argument("--no-vllm", action="store_true", help="leave `vllm bench serve` out")
    try:
        run(parser.parse_args(words))
    except MemflowError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
