"""The upper bound: one oracle request per question, variant and model."""

import json
from collections import Counter
from dataclasses import dataclass, field

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.answer import answer_all


@dataclass
class Counting(MemoryLedger):
    """A ledger that knows which prompts were asked, and which were answered from it."""

    prompts: Counter[str] = field(default_factory=Counter)
    replays: Counter[str] = field(default_factory=Counter)

    def put(self, digest, request, completion, account):
        self.prompts[request.prompt] += 1
        super().put(digest, request, completion, account)

    def used(self, digest, request, account):
        self.replays[request.prompt] += 1
        super().used(digest, request, account)


async def ask_oracle(made, ledger: Counting, model: str = "one"):
    benchmark = AMemGym()
    chat = LedgeredChat(
        ScriptedChat(benchmark.handlers(), name=model), ledger, RequestContext(run="test", stage="answer")
    )
    memory = memory_factory("oracle", Tools(chat, HashingEmbedder()))
    return await answer_all(benchmark, made.domain, "oracle", made.of_kind("choice"), {}, memory, chat)


async def test_oracle_is_requested_once_per_variant(base):
    ledger = Counting()
    replies = await ask_oracle(base, ledger)
    users = [json.loads(record.content) for record in base.records]
    choices = [choice for user in users for question in user["qas"] for choice in question["answer_choices"]]
    # Variants that no period brings are no part of any period's upper bound, and are not asked.
    lived = [choice for choice in choices if choice["type"] == "experience"]
    assert dict(ledger.prompts) == {"amemgym/choice_told": len(lived)}
    assert sum(ledger.replays.values()) == len(replies) - len(lived) == 11 * 120 - len(lived)
    assert len(choices) > len(lived) > 0.9 * len(choices)


async def test_each_model_has_its_own_bound(demo):
    ledger = Counting()
    await ask_oracle(demo, ledger)
    variants = {(probe.episode_id, probe.question, probe.revealed) for probe in demo.of_kind("choice")}
    assert ledger.prompts.total() == len(variants) < len(demo.of_kind("choice"))
    await ask_oracle(demo, ledger)
    assert ledger.prompts.total() == len(variants)
    await ask_oracle(demo, ledger, model="two")
    assert ledger.prompts.total() == 2 * len(variants)
