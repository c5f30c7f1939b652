"""Played episodes, requests of probes, and one oracle request per question, variant and model."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from amemgym_agents import SpyChat

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.requests import ChatMessage
from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Message, Recall, Tools
from memflow.memories.registry import handlers, memory_factory
from memflow.run.answer import answer_all, answer_one
from memflow.run.play import play_all


@dataclass
class Last(Memory):
    count: int = 0
    noted: bool = False

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.store.add("message", message.text, sources=[message.message_id], role=message.role)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        items = self.store.live()[-self.count :] if self.count else []
        if self.noted:
            return Recall(notes="\n".join(f"- {item.text}" for item in items), entries=tuple(items))
        return Recall(
            messages=tuple(ChatMessage(item.role, item.text) for item in items), entries=tuple(items)
        )


async def test_played_session_has_one_round_in_period_0_and_two_in_later_periods(demo):
    chat = SpyChat()
    episodes = AMemGym().episodes(demo.domain, demo.states, demo.turns, [], chat)
    played = await play_all(episodes, Last, AMemGym().replier(demo.domain, chat))
    for episode in played:
        events: dict[int, list] = {}
        for line in episode.lines:
            events.setdefault(line.event.number, []).append(line)
        for lines in events.values():
            rounds = 1 if lines[0].event.checkpoint == 0 else 2
            assert [line.message.role for line in lines] == ["user", "assistant"] * rounds
            assert [line.origin for line in lines][:3] == ["given", "assistant", "simulator"][: 2 * rounds]
    sessions = [turn for turn in demo.turns if turn.checkpoint > 0]
    assert len(chat.asked("follow_up")) == len(sessions)


async def test_assistant_reply_requests_contain_no_exposed_states(demo):
    chat = SpyChat()
    episodes = AMemGym().episodes(demo.domain, demo.states, demo.turns, [], chat)
    await play_all(episodes, lambda store: Last(store, count=50), AMemGym().replier(demo.domain, chat))
    shown = [
        message.content
        for request in chat.requests
        if "reply" in request.prompt
        for message in request.messages
    ]
    assert shown and not any("exposes" in text or "{" in text for text in shown)


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("awi", ["system", "user"]),
        ("rag_2_4_30", ["system", "user"]),
        ("bm25_message", ["system", "user"]),
        ("full", ["user"]),
        ("recent", ["user"]),
        ("none", ["user"]),
    ],
)
async def test_memory_of_notes_has_a_system_message_before_its_first_note(demo, name, roles):
    """As in the published code, whose RAG, AWE and AWI always have one, and whose native LLM has none."""
    chat = SpyChat()
    tools = Tools(ScriptedChat({**AMemGym().handlers(), **handlers()}), HashingEmbedder())
    remember = memory_factory(name, tools)
    [episode] = AMemGym().episodes(demo.domain.limited(1), demo.states, demo.turns, [], chat)[:1]
    first = replace(episode, events=episode.events[:1])
    await play_all([first], remember, AMemGym().replier(demo.domain, chat))
    probe = demo.of_kind("choice")[0]
    await answer_one(AMemGym(), demo.domain, name, probe, remember(EntryStore()), chat)
    assert [[message.role for message in request.messages] for request in chat.requests] == [roles, roles]


@pytest.mark.parametrize("kind", ["choice", "state"])
def test_recall_query_is_equal_for_every_memory_and_contains_the_options(demo, kind):
    probe = demo.of_kind(kind)[0]
    put = [
        AMemGym().question(demo.domain, probe, Recall(), None),
        AMemGym().question(demo.domain, probe, Recall(notes="- likes tea", with_notes=True), None),
        AMemGym().question(demo.domain, probe, Recall(), probe.revealed),
    ]
    assert len({question.query for question in put}) == 1
    query = put[0].query
    shown = [probe.question, *probe.options] if kind == "choice" else [probe.question]
    assert all(text in query for text in shown)
    texts = [question.prompt.render(question.fields) for question in put]
    assert [message.role for message in texts[1]] == ["system", "user"]
    assert probe.revealed in texts[2][-1].content and probe.revealed not in texts[0][-1].content


@dataclass
class Counting(MemoryLedger):
    """A ledger that knows which prompts were asked, and which were answered from it."""

    prompts: Counter[str] = field(default_factory=Counter)
    replays: Counter[str] = field(default_factory=Counter)

    def put(self, completion, request, account):
        self.prompts[request.prompt] += 1
        return super().put(completion, request, account)

    def record_cache_hit(self, completion, request, account):
        self.replays[request.prompt] += 1
        super().record_cache_hit(completion, request, account)


async def ask_oracle(made, ledger: Counting, model: str = "one"):
    benchmark = AMemGym()
    chat = LedgeredChat(
        ScriptedChat(benchmark.handlers(), name=model), ledger, RequestContext(run="test", stage="answer")
    )
    memory = memory_factory("oracle", Tools(chat, HashingEmbedder()))
    return await answer_all(benchmark, made.domain, "oracle", made.of_kind("choice"), {}, memory, chat)


async def test_oracle_sends_one_request_per_option_that_is_gold_in_some_period(base):
    ledger = Counting()
    replies = await ask_oracle(base, ledger)
    users = [json.loads(record.content) for record in base.records]
    choices = [choice for user in users for question in user["qas"] for choice in question["answer_choices"]]
    # Variants that no period brings are no part of any period's upper bound, and are not asked.
    lived = [choice for choice in choices if choice["type"] == "experience"]
    assert dict(ledger.prompts) == {"amemgym/choice_told": len(lived)}
    assert sum(ledger.replays.values()) == len(replies) - len(lived) == 11 * 120 - len(lived)
    assert len(choices) > len(lived) > 0.9 * len(choices)


async def test_oracle_reuses_replies_of_same_model_and_repeats_requests_for_another_model(demo):
    ledger = Counting()
    await ask_oracle(demo, ledger)
    variants = {(probe.episode_id, probe.question, probe.revealed) for probe in demo.of_kind("choice")}
    assert ledger.prompts.total() == len(variants) < len(demo.of_kind("choice"))
    await ask_oracle(demo, ledger)
    assert ledger.prompts.total() == len(variants)
    await ask_oracle(demo, ledger, model="two")
    assert ledger.prompts.total() == 2 * len(variants)
