"""The requests of a run of one domain: recorded in a dry run, ordered, and made distinct from earlier requests."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memflow.benchmarks import registry
from memflow.chat.conversation import ASSISTANT, EPISODE
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.errors import MissingData
from memflow.run.dry_run import DryRun, ModelAssignment, ModelProfile
from memflow.run.handlers import handlers
from memflow.tokens import estimate
from resources.data.library import Library
from resources.settings.roles import Roles
from resources.settings.settings import Settings

BLOCK, LEAST_BLOCKS = 16, 8
"""Adjacent requests that a selection of the mix keeps together at most, and blocks of a selection at least."""
TYPED_FACTOR, TYPED_LEAST = 3, 128
"""The token limit of an answer with a schema: a multiple of the recorded length, and at least this."""


@dataclass(frozen=True)
class MixedRequest:
    """A request of the mix, with its stage, its role and the length that its answer gets."""

    stage: str
    role: str
    request: ChatRequest
    output_tokens: int
    assistant: tuple[str, str] = ("", "")
    """The domain and the assistant."""
    episode: str = ""
    """The episode; empty for requests that belong to no conversation."""

    @property
    def prompt_tokens(self) -> int:
        """The estimated tokens of the prompt."""
        return sum(estimate(message.content) for message in self.request.messages)

    def with_marker(self, marker: str) -> "MixedRequest":
        """Return the request with a first line of its own, so that no earlier phase has cached its prefix."""
        first, *others = self.request.messages
        messages = (replace(first, content=f"{marker}\n{first.content}"), *others)
        bound = self.request.sampling.max_tokens
        typed = max(TYPED_LEAST, TYPED_FACTOR * self.output_tokens)
        most = min(bound, typed if self.request.output is not None else self.output_tokens)
        sampling = replace(self.request.sampling, max_tokens=max(1, most))
        return replace(self, request=replace(self.request, messages=messages, sampling=sampling))

    def plain(self) -> "MixedRequest":
        """Return the request as one message without a schema, in the form that vLLM's benchmark can send."""
        text = "\n\n".join(message.content for message in self.request.messages)
        sampling = replace(self.request.sampling, max_tokens=self.output_tokens)
        request = ChatRequest(self.request.prompt, {}, (ChatMessage("user", text),), sampling)
        return replace(self, request=request)


def record_mix(
    settings: Settings, name: str, domain_name: str, memories: Sequence[str], most_output: int | None = None
) -> list[MixedRequest]:
    """Return the requests of playing, answering and judging in a domain, if one model has all roles.

    They come from a dry run with the scripted chat; replies have the length of recorded replies of real models, and at
    most `most_output` tokens. Raises MissingData without the domain's data.
    """
    model, domain = settings.model(name), settings.domain(domain_name)
    mix: list[MixedRequest] = []
    recording = False

    def observe(stage: str, role: str, request: ChatRequest, completion: Completion) -> None:
        if recording:
            length = min(estimate(completion.text), most_output or request.sampling.max_tokens)
            mix.append(MixedRequest(stage, role, request, max(1, length), ASSISTANT.get(), EPISODE.get()))

    assignment = ModelAssignment(
        {name: ModelProfile(model.sampling(), model.concurrency, model.fingerprint(), scripted=False)},
        dict.fromkeys(Roles.model_fields, name),
        lambda assistant: name,
        settings.bounds.of,
        judges=lambda domain: (name,),
    )
    own = settings.own_memories()
    dry_run = DryRun(assignment, handlers(own), own=own, observe=observe)
    library, benchmark = Library(settings.data, settings.datasets), registry.benchmark(domain.benchmark)
    found, lacking = library.datasets_of(domain)
    if not found:
        raise MissingData(
            f"the domain {domain_name} has no data: {', '.join(each.name for each in lacking)} is missing. Get it with "
            "`memflow data get`, or choose another --domain."
        )
    dry_run.add(
        "raw.records",
        domain_name,
        [row for each in found for row in benchmark.records(each, library.paths(each))],
    )
    dry_run.run("domain", domain)
    recording = True
    for memory in memories:
        dry_run.run("domain x assistant", domain, memory)
    return in_prefix_order(mix)


def in_prefix_order(mix: Sequence[MixedRequest]) -> list[MixedRequest]:
    """Return requests by stage, and requests with a common prefix next to each other."""
    stages = {stage: number for number, stage in enumerate(dict.fromkeys(each.stage for each in mix))}
    return sorted(mix, key=lambda each: (stages[each.stage], each.request.messages_json))


def select_requests(
    mix: Sequence[MixedRequest], count: int, marker: str, seed: int = 0
) -> list[MixedRequest]:
    """Return `count` requests in prefix order: the whole mix as often as it fits, then blocks of it by chance."""
    chosen: list[MixedRequest] = []
    rounds, rest = divmod(count, len(mix))
    for number in range(rounds):
        chosen += [each.with_marker(f"{marker}.{number}") for each in mix]
    block = max(1, min(BLOCK, rest // LEAST_BLOCKS))
    starts = list(range(0, len(mix), block))
    random.Random(seed).shuffle(starts)
    wanted = [place for start in starts for place in range(start, min(start + block, len(mix)))][:rest]
    return chosen + [mix[place].with_marker(f"{marker}.{rounds}") for place in sorted(wanted)]


def shuffled(requests: Sequence[MixedRequest], seed: int = 0) -> list[MixedRequest]:
    """Return the requests in random order."""
    return random.Random(seed).sample(list(requests), len(requests))


def mix_table(mix: Sequence[MixedRequest]) -> list[dict[str, Any]]:
    """Return the numbers of requests and mean tokens by stage and role."""
    rows = []
    for stage, role in dict.fromkeys((each.stage, each.role) for each in mix):
        chosen = [each for each in mix if (each.stage, each.role) == (stage, role)]
        rows.append(
            {
                "stage": stage,
                "role": role,
                "requests": len(chosen),
                "with_schema": sum(each.request.output is not None for each in chosen),
                "prompt_tokens": round(sum(each.prompt_tokens for each in chosen) / len(chosen)),
                "output_tokens": round(sum(each.output_tokens for each in chosen) / len(chosen)),
            }
        )
    return rows
