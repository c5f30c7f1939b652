"""A dry run: the pipeline in memory with the scripted chat, to count the requests that a run would send to its models.

Nothing is stored, no model is called, and time is simulated. A request takes `latency` seconds, and a model answers
`concurrency` requests at once. Answers are those of the scripted chat, repeated or cut to the length of a real model's
(answer_lengths.py), so that later prompts, which contain the answers, have a realistic length.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain, RoleDecoding
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling, TokenBound
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Embedder, Tools
from memflow.memories.registry import find
from memflow.memories.server.protocol import Capabilities, Connection
from memflow.memories.server.python_connection import PythonConnection
from memflow.memories.user_memories import UserMemory
from memflow.metrics.backends import MetricBackends
from memflow.pipeline import WRITERS, Scope, Step, partition_key, steps_of
from memflow.repeats import memory_name, request_repeat, shares, source_of
from memflow.run.answer_lengths import RecordedUse, expected_answer, prompt_tokens
from memflow.run.context import StepContext
from memflow.tokens import estimate

T = TypeVar("T")
Observer = Callable[[str, str, ChatRequest, Completion], None]
"""Called with the stage, the role, the request and the simulated completion."""


@dataclass(frozen=True)
class ModelProfile:
    """The properties of a model that a dry run needs, such as its concurrency."""

    sampling: Sampling = field(default_factory=Sampling)
    concurrency: int = 64
    fingerprint: str = ""
    """Models of one fingerprint share their answers. Without one, every name is a model."""
    scripted: bool = True
    """Whether texts stay as short as the scripted chat's in later prompts, instead of a real model's length."""
    headroom: int = 0
    """Tokens for thoughts, which the model's profile adds to every limit."""


@dataclass(frozen=True)
class ModelAssignment:
    """The models by name, the model of each role, and the model that answers for each assistant."""

    profiles: Mapping[str, ModelProfile]
    roles: Mapping[str, str]
    """The first judge is the model of the role `judge`."""
    answering: Callable[[str], str]
    bounds: Callable[[str], TokenBound] = lambda role: TokenBound()
    """Returns the bound on answers in a role."""
    window: Callable[[str], int | None] = lambda assistant: None
    """Returns the tokens that a prompt of an assistant may have."""
    judges: Callable[[str], Sequence[str]] | None = None
    """Returns the judges of a domain; by default the model of the role `judge`."""


@dataclass
class RequestCount:
    """The number of requests of a step to one model in one role, and their tokens.

    `retries` are the expected ones, which `rounded` adds to the calls. `most_tokens` is the sum of the token limits of
    their answers.
    """

    role: str
    model: str
    calls: int = 0
    retries: float = 0
    prompt_tokens: float = 0
    completion_tokens: float = 0
    most_tokens: float = 0

    def rounded(self) -> "RequestCount":
        """Return the count in whole numbers, with the retries among its calls."""
        role, model, calls, *numbers = astuple(self)
        retries, *tokens = map(round, numbers)
        return RequestCount(role, model, calls + retries, retries, *tokens)


@dataclass(frozen=True)
class StepForecast:
    """The forecast of one step on one partition: its requests, and its duration in seconds, None if it is not known."""

    step: str
    stage: str
    domain: str
    assistant: str
    seconds: float | None
    counts: tuple[RequestCount, ...]
    equal_to: tuple[str, ...] = ()
    """Other partitions whose requests are equal to some of the step's. Such a request is counted once, for them."""


class DryRun:
    """A dry run of pipeline steps that counts requests. Identical requests count once, because of the ledger.

    `load` returns the rows of a partition that the dry run does not compute, because it is up to date. `observe` is
    called once for each request. `recorded` has the lengths and the rates of earlier requests. `latency` are the
    seconds of a request; None for the recorded ones. `own` has the user's memories by name.
    """

    def __init__(
        self,
        models: ModelAssignment,
        handlers: Mapping[str, Handler],
        *,
        own: Mapping[str, UserMemory] | None = None,
        latency: float | None = 1.0,
        recorded: RecordedUse | None = None,
        calibrates: bool = True,
        load: Callable[[str, str], list[Any]] = lambda table, key: [],
        observe: Observer = lambda stage, role, request, completion: None,
    ) -> None:
        self.models = models
        self.observe = observe
        self.own = own
        self.latency = latency
        self.recorded = recorded or RecordedUse()
        self.calibrates = calibrates
        self.forecasts: list[StepForecast] = []
        self.scripted = {
            name: ScriptedChat(handlers, name=profile.fingerprint or name)
            for name, profile in models.profiles.items()
        }
        self.completions: dict[str, Completion] = {}
        self.senders: dict[str, str] = {}
        """The partition for which each request is counted."""
        self._load = load
        self._tables: dict[tuple[str, str], list[Any]] = {}

    def add(self, table: str, key: str, rows: Iterable[Any]) -> None:
        """Store the rows of a table and partition in memory.

        Records of a domain's data sets are stored under the domain's name.
        """
        self._tables[table, key] = list(rows)

    def rows(self, table: str, domain: str, assistant: str = "") -> list[Any]:
        """Return the rows of a table for a domain, or for a domain and an assistant."""
        by_assistant = WRITERS[table].scope == "domain x assistant"
        key = partition_key(domain, source_of(table, assistant) if by_assistant else "")
        if (table, key) not in self._tables:
            self._tables[table, key] = self._load(table, key)
        return self._tables[table, key]

    def run(self, scope: Scope, domain: Domain, assistant: str = "") -> None:
        """Run the steps of a scope that call models in this domain. Store their rows and count their requests.

        A repeat runs no step whose tables it shares with the first evaluation.
        """
        benchmark = registry.benchmark(domain.benchmark)
        for step in steps_of(scope):
            if step.calls_models(benchmark, domain) and not shares(assistant, step.writes):
                self._run(step, domain, assistant)

    def _run(self, step: Step, domain: Domain, assistant: str) -> None:
        """Run a step on one partition with simulated models. Keep its rows for later steps, and add its forecast."""
        repeat = request_repeat(assistant, step.stage)
        partition = partition_key(domain.name, assistant)
        models = _CountingModels(self, domain.decoding, step.stage, repeat, partition)
        benchmark = registry.benchmark(domain.benchmark)
        memory = find(memory_name(assistant), self.own) if assistant else None
        context = StepContext(
            models,
            lambda table, vectors, episodes: self.rows(table, domain.name, assistant),
            step.inputs_of(benchmark, domain, memory),
            benchmark=benchmark,
            calibrates=self.calibrates,
            domain=domain,
            assistant=assistant,
            memory=memory,
            metric_backends=lambda judges: MetricBackends(next(iter(judges.values()), None), judges=judges),
        )
        tables, seconds = run_simulated(step.run(context))
        for table, rows in tables.items():
            self.add(table, partition, rows)
        equal_to = tuple(name for name in models.equal_to if name != partition)
        counts = tuple(count.rounded() for count in models.counts.values() if count.calls)
        has_durations = all(self.seconds(count.model) is not None for count in counts)
        self.forecasts.append(
            StepForecast(
                step.name,
                step.stage,
                domain.name,
                assistant,
                seconds if has_durations else None,
                counts,
                equal_to,
            )
        )

    def seconds(self, model: str) -> float | None:
        """Return the seconds that a request to a model takes; None if they are not known."""
        return self.recorded.seconds.get(model) if self.latency is None else self.latency


class _CountingModels:
    """The simulated models of one step, as a ModelProvider. Roles of one model share its concurrency."""

    def __init__(
        self,
        dry_run: DryRun,
        decoding: Mapping[str, RoleDecoding] = MappingProxyType({}),
        stage: str = "",
        repeat: int = 1,
        partition: str = "",
    ) -> None:
        self.dry_run = dry_run
        self.partition = partition
        self.equal_to: dict[str, None] = {}
        self.repeat = repeat
        self.stage = stage
        self.decoding = decoding
        self.counts: dict[tuple[str, str], RequestCount] = {}
        self._limits: dict[str, asyncio.Semaphore] = {}
        self._servers: dict[str, Connection] = {}

    async def role(self, role: str) -> Chat:
        return self.chat(role, self.dry_run.models.roles[role])

    async def judges(self, domain: str) -> Mapping[str, Chat]:
        models = self.dry_run.models
        names = models.judges(domain) if models.judges else [models.roles["judge"]]
        return {name: self.chat("judge", name) for name in names}

    async def answering(self, assistant: str) -> Chat:
        return self.chat("assistant", self.dry_run.models.answering(assistant))

    async def tools(self, assistant: str) -> Tools:
        chat = self.chat("memory", self.dry_run.models.answering(assistant))
        return Tools(
            chat, await self.embedder(), self.dry_run.models.window(assistant), self._server(assistant)
        )

    def _server(self, assistant: str) -> Connection | None:
        """Return a memory in Python in place of the memory server of an assistant; None for other memories."""
        config = find(memory_name(assistant), self.dry_run.own).server
        if config is not None and assistant not in self._servers:
            capabilities = Capabilities() if config.hello is None else config.hello.can
            can = Capabilities(dates=capabilities.dates, batch=capabilities.batch)
            create = find("rag_1_0_0").factory(Tools(embedder=HashingEmbedder()))
            self._servers[assistant] = PythonConnection(create, can)
        return self._servers.get(assistant)

    async def embedder(self) -> Embedder:
        return HashingEmbedder()

    def expect(self, total: int) -> Callable[[], None]:
        return lambda: None

    def chat(self, role: str, model: str) -> Chat:
        """Return a model's simulated chat, which counts the requests of a role."""
        count = self.counts.setdefault((role, model), RequestCount(role, model))
        profile = self.dry_run.models.profiles[model]
        limit = self._limits.setdefault(model, asyncio.Semaphore(profile.concurrency))
        decoding = self.decoding.get(role, RoleDecoding())
        bound, sampling = decoding.applied(self.dry_run.models.bounds(role), profile.sampling)
        inner = self.dry_run.scripted[model]
        return _CountingChat(
            self, inner, count, limit, inner.fingerprint, sampling, bound, profile.scripted, profile.headroom
        )


@dataclass(eq=False)
class _CountingChat:
    """A scripted chat that counts its requests and has the fingerprint and latency of the model that it simulates."""

    models: _CountingModels
    inner: ScriptedChat
    count: RequestCount
    limit: asyncio.Semaphore
    fingerprint: str
    sampling: Sampling
    bound: TokenBound
    scripted: bool
    headroom: int

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the scripted completion of a request, and count the request unless an identical one was counted."""
        request = request.of_repeat(self.models.repeat)
        dry_run = self.models.dry_run
        completions = dry_run.completions
        request_digest = request.digest(self.fingerprint)
        sender = dry_run.senders.setdefault(request_digest, self.models.partition)
        if request_digest in completions:
            self.models.equal_to[sender] = None
            return completions[request_digest]
        completion = replace(await self.inner.complete(request), digest=request_digest)
        role, model = self.count.role, self.count.model
        answer = expected_answer(request, role, model, completion.text, dry_run.recorded)
        if request.output is None and not self.scripted:
            completion = replace(completion, text=_sized(completion.text, answer.tokens))
        completions[request_digest] = completion
        requests, limit = 1 + answer.retries, request.sampling.max_tokens
        self.count.calls += 1
        self.count.retries += answer.retries
        self.count.prompt_tokens += requests * prompt_tokens(request.messages)
        self.count.completion_tokens += answer.tokens + answer.retries * answer.retry_tokens
        self.count.most_tokens += limit + self.headroom + answer.retries * (2 * limit + self.headroom)
        dry_run.observe(self.models.stage, self.count.role, request, completion)
        async with self.limit:
            await asyncio.sleep(requests * (dry_run.seconds(self.count.model) or 0))
        return completion


def _sized(text: str, tokens: int) -> str:
    """Return a text of about this number of estimated tokens: repeated if it is shorter, cut if it is longer."""
    if estimate(text) == tokens:
        return text
    repetitions = -(-tokens // max(1, estimate(text)))
    return "\n".join([text] * repetitions)[: 4 * tokens]


class _SimulatedClock(selectors.DefaultSelector):
    """A simulated clock, which an event loop advances instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout > 0:
            self.now += timeout
            timeout = 0
        return super().select(timeout)


class _SimulatedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: _SimulatedClock) -> None:
        self._clock = clock
        super().__init__(clock)

    def time(self) -> float:
        return self._clock.now


def run_simulated(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """Return the result of `work`, and the simulated seconds that it took."""
    clock = _SimulatedClock()
    with asyncio.Runner(loop_factory=lambda: _SimulatedLoop(clock)) as runner:
        return runner.run(work), clock.now
