"""The benchmark of one model: the phases, the server that they are sent to, and their comparison.

Nothing is written into ledger or lake.
"""

import asyncio
import secrets
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from memflow.chat.ledger import MemoryLedger
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.shares import WHOLE
from resources.ledger.sql_ledger import SqlLedger
from resources.model_bench.mix import MixedRequest, mix_table, record_mix, select_requests, shuffled
from resources.model_bench.sending import Phase, send_requests, sum_metric
from resources.model_bench.vllm_bench import bench_command, run_bench, write_requests
from resources.models.clients import Clients
from resources.settings.chat_models import Model
from resources.settings.settings import Settings
from resources.vllm_servers.addresses import ServedModel, read_text, root_of
from resources.vllm_servers.servers import VllmServers, check_model

IN_ORDER, SHUFFLED, PLAIN, VLLM = "prefix order", "shuffled", "one message", "vllm bench serve"
WITHOUT_AFFINITY = "no affinity"
"""Prefix order, but any of several servers answers a request."""
WARM_UP_ROUNDS = 2
"""Requests of the warm-up, as multiples of the concurrency."""
LEAST_ROUNDS = 2
"""Requests of a phase at least, as multiples of the concurrency."""
TEMPLATE_TOKENS = 64
"""Tokens that a chat template and a marker add to a prompt at most."""
FIRST_TOKEN = ("vllm:time_to_first_token_seconds_sum", "vllm:time_to_first_token_seconds_count")
ROUND_NAMES = ((IN_ORDER, "a"), (SHUFFLED, "b"), (SHUFFLED, "c"), (IN_ORDER, "d"))
"""The phases of the mix and their markers: in this order, a steady change of the machine's load affects all alike."""
OF_REPLICAS = (*ROUND_NAMES[:2], (WITHOUT_AFFINITY, "g"), (WITHOUT_AFFINITY, "h"), *ROUND_NAMES[2:])
"""The same for a model with several addresses."""


@dataclass(frozen=True)
class BenchOptions:
    """What is sent, and for how long."""

    domain: str
    memories: Sequence[str] = ("full", "awi")
    seconds: float = 10.0
    """Seconds of each phase, approximately."""
    requests: int = 0
    """Requests of each phase; 0: as many as the server answers in `seconds`."""
    output_tokens: int | None = None
    """The longest answer."""
    with_vllm: bool = True
    """Whether to run `vllm bench serve`."""
    tokenizer: str = ""
    """The tokenizer for `vllm bench serve`; by default the model."""
    most_requests: int = 20_000


@dataclass
class ModelBench:
    """The benchmark of the model `name` of the settings."""

    settings: Settings
    name: str
    options: BenchOptions
    report: Callable[[str], None] = lambda text: None
    _mix: list[MixedRequest] = field(default_factory=list)
    _left_out: int = 0
    _nonce: str = field(default_factory=lambda: secrets.token_hex(3))
    """Begins the first line of all requests, so that a server has cached none of them for an earlier benchmark."""

    def run(self) -> dict[str, Any]:
        """Return the figures of all phases.

        Raises BadInput for the scripted chat, and the errors of starting a server and of an unreachable address.
        """
        model = self.settings.model(self.name)
        if model.kind == "scripted":
            raise BadInput(f"the model {self.name} is the scripted chat. Choose a model with a server.")
        self.report(f"recording the requests of {self.options.domain}")
        mix = record_mix(
            self.settings, self.name, self.options.domain, self.options.memories, self.options.output_tokens
        )
        self.report("starting or checking the server")
        with closing(VllmServers(self.settings.models, self.settings.home)) as servers:
            urls = servers.urls(self.name) if model.kind == "vllm" else (model.url,)
            served = [check_model(url, model) for url in urls]
            self._keep(mix, served)
            facts = servers.facts().get(self.name, {})
            measured = asyncio.run(self._measure(model, servers, urls, served))
        return {
            "model": self.name,
            "served_as": model.served_as,
            "domain": self.options.domain,
            "memories": list(self.options.memories),
            "concurrency": model.concurrency,
            "addresses": [each.url for each in served],
            "vllm": sorted({each.version for each in served if each.version}),
            "max_model_len": served[0].max_model_len,
            "server": facts,
            "mix": mix_table(self._mix),
            "left_out": self._left_out,
            **measured,
        }

    def _keep(self, mix: Sequence[MixedRequest], served: Sequence[ServedModel]) -> None:
        """Keep the requests that fit into the server's maximum length."""
        lengths = [each.max_model_len for each in served if each.max_model_len]
        most = min(lengths, default=0)
        self._mix = [
            each
            for each in mix
            if not most or each.prompt_tokens + 2 * each.output_tokens + TEMPLATE_TOKENS <= most
        ]
        self._left_out = len(mix) - len(self._mix)
        if not self._mix:
            raise BadInput(
                f"all {len(mix)} requests are longer than the {most} tokens that the server accepts. Choose another "
                "--memory, or raise `max_model_len` of the model in memflow.toml."
            )

    async def _measure(
        self, model: Model, servers: VllmServers, urls: Sequence[str], served: Sequence[ServedModel]
    ) -> dict[str, Any]:
        is_vllm = any(each.version for each in served)
        models = {**_variants(model, urls, is_vllm), "first": _variants(model, urls[:1], is_vllm)["fixed"]}
        settings = Settings.model_construct(**dict(self.settings) | {"models": models})
        # Clients only need a ledger for an embedder.
        clients = Clients(settings, cast(SqlLedger, MemoryLedger()), servers, None, WHOLE)
        try:
            typed, fixed, first = [await clients.chat(name) for name in ("typed", "fixed", "first")]

            def of_mix(each: MixedRequest) -> Chat:
                return typed if each.request.output is not None else fixed

            async def send(
                name: str, requests: Sequence[MixedRequest], chat_of: Callable[[MixedRequest], Chat]
            ) -> Phase:
                self.report(f"{name}: {len(requests)} requests")
                before = await _first_tokens(urls)
                phase = await send_requests(
                    name, requests, chat_of, model.concurrency, in_conversations=name != WITHOUT_AFFINITY
                )
                after = await _first_tokens(urls)
                phase.first_token = (after[0] - before[0], after[1] - before[1])
                return phase

            warm_up = await send("warm-up", self._select(WARM_UP_ROUNDS * model.concurrency, "w"), of_mix)
            count = self._count(warm_up, model.concurrency)
            phases: dict[str, Phase] = {}
            for name, marker in OF_REPLICAS if len(urls) > 1 else ROUND_NAMES:
                chosen = self._select(-(-count // 2), marker)
                phase = await send(name, shuffled(chosen) if name == SHUFFLED else chosen, of_mix)
                phases[name] = phases[name] + phase if name in phases else phase
            compared: dict[str, Any] = {}
            if self.options.with_vllm:
                plain = [each.plain() for each in self._select(count, "e")]
                phases[PLAIN] = await send(PLAIN, plain, lambda each: first)
                compared = await self._vllm_bench(model, urls[0], count, phases[PLAIN])
        finally:
            await clients.close()
        gain = phases[IN_ORDER].requests_per_s / (phases[SHUFFLED].requests_per_s or float("inf"))
        return {
            "phases": [each.row() for each in phases.values()],
            "prefix_order_gain": round(gain, 3),
            **compared,
        }

    def _select(self, count: int, marker: str) -> list[MixedRequest]:
        return select_requests(self._mix, count, f"{self._nonce}.{marker}")

    def _count(self, warm_up: Phase, concurrency: int) -> int:
        if self.options.requests:
            return self.options.requests
        if not warm_up.latencies:
            reason = next(iter(warm_up.failures), "no reason")
            raise BadInput(f"no request of the warm-up was answered: {reason}")
        expected = round(warm_up.requests_per_s * self.options.seconds)
        return min(max(expected, LEAST_ROUNDS * concurrency), self.options.most_requests)

    async def _vllm_bench(self, model: Model, url: str, count: int, ours: Phase) -> dict[str, Any]:
        """Return the figures of `vllm bench serve` on the requests of the phase `one message`, and the ratio."""
        requests = [each.plain() for each in self._select(count, "f")]
        self.report(f"{VLLM}: {len(requests)} requests")
        with tempfile.TemporaryDirectory(prefix="memflow-bench-") as name:
            folder = Path(name)
            write_requests(requests, folder)
            command = bench_command(
                model.executable,
                url,
                model.served_as,
                self.options.tokenizer or model.model,
                len(requests),
                model.concurrency,
                folder,
            )
            try:
                figures = await run_bench(command, folder)
            except BadInput as error:
                return {"vllm_bench": {"not_run": str(error)}, "ratio": None}
        theirs = float(figures.get("request_throughput") or 0.0)
        ratio = round(ours.requests_per_s / theirs, 3) if theirs else None
        return {"vllm_bench": dict(figures), "ratio": ratio}


def _variants(model: Model, urls: Sequence[str], is_vllm: bool) -> dict[str, Model]:
    """Return the model for requests with a schema, and for others, whose answers have a fixed length at vLLM."""
    typed = model.model_dump(exclude_defaults=True, include={*_KEPT}) | {
        "kind": "endpoint",
        "model": model.served_as,
        "url": urls[0],
    }
    body = {**model.profile.body, "ignore_eos": True} if is_vllm else dict(model.profile.body)
    fixed = {**typed, "profile": model.profile.model_copy(update={"body": body})}
    return {"typed": Model(**{**typed, "profile": model.profile}), "fixed": Model(**fixed)}


_KEPT = (
    *(
        "temperature",
        "top_p",
        "seed",
        "concurrency",
        "patience",
        "longest_pause",
        "timeout",
        "response_bytes",
    ),
    *("key_variable", "preset"),
)


async def _first_tokens(urls: Sequence[str]) -> tuple[float, float]:
    """Return the seconds to the first token and the requests that vLLM has counted; zeros for other servers."""
    texts = await asyncio.gather(*(asyncio.to_thread(read_text, root_of(url) + "/metrics") for url in urls))
    seconds, count = zip(*(sum_metric(text, FIRST_TOKEN) for text in texts), strict=True)
    return sum(seconds), sum(count)
