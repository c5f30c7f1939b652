"""Turns: exposed values, times, and messages from which the state cannot be recovered."""

import json
from datetime import datetime

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.states import histories
from memflow.chat.requests import Completion
from memflow.chat.scripted import ScriptedChat


def test_turns_have_positions_and_times(demo):
    for user_id in histories(demo.states):
        mine = [turn for turn in demo.turns if turn.episode_id == user_id]
        assert [turn.event for turn in mine] == list(range(len(mine)))
        assert [turn.message_id for turn in mine] == [f"{user_id}/{event}" for event in range(len(mine))]
        assert [turn.sent_at for turn in mine] == sorted(turn.sent_at for turn in mine)
    for turn in demo.turns:
        assert turn.text.startswith(f"[Current Time: {turn.sent_at}]\n")
        assert 19 <= datetime.fromisoformat(turn.sent_at).hour < 22
        assert turn.follow_ups == (0 if turn.checkpoint == 0 else 1)
        assert (turn.kind, turn.role, turn.reason) == ("exchange", "user", None)


async def test_turns_are_reproducible(demo):
    chat = ScriptedChat(AMemGym().handlers())
    assert await AMemGym().turns(demo.domain, demo.records, demo.states, chat) == demo.turns


class Mumbling(ScriptedChat):
    """Its first words tell nothing; after `mends` refinements those of the first session do."""

    def __init__(self, mends: int) -> None:
        super().__init__(AMemGym().handlers())
        self.mends, self.rewritten = mends, 0

    async def complete(self, request):
        if request.prompt == "amemgym/opening":
            state = json.loads(request.fields["state"])
            groups = [{"variables": [name], "text": f"Hello, number {at}."} for at, name in enumerate(state)]
            return Completion(json.dumps({"groups": groups}))
        if request.prompt == "amemgym/utterance_again":
            self.rewritten += 1
            if f"Hello, number 0.{'?' * self.mends}" not in request.fields["text"]:
                return Completion(json.dumps({"text": request.fields["text"] + "?"}))
        return await super().complete(request)


async def test_misunderstood_message_is_rewritten(demo):
    chat = Mumbling(mends=1)
    turns = await AMemGym().turns(demo.domain.limited(1), demo.records, demo.states, chat)
    first = turns[0]
    assert first.reason is None and "is" in first.text and "Hello" not in first.text


async def test_unrecoverable_message_is_quarantined(demo):
    chat = Mumbling(mends=9)
    turns = await AMemGym().turns(demo.domain, demo.records, demo.states, chat)
    opening = [turn for turn in turns if turn.checkpoint == 0]
    assert {turn.reason.split(":")[0] for turn in opening} == {"after 3 refinements the text does not reveal"}
    assert chat.rewritten == 3 * len(opening)
    assert [turn.reason for turn in turns if turn.checkpoint > 0] == [None] * (len(turns) - len(opening))
    lost = {turn.message_id for turn in opening}
    episodes = AMemGym().episodes(demo.domain, demo.states, turns, [], chat)
    played = {event.messages[0].message_id for episode in episodes for event in episode.events}
    assert played and not played & lost
    probes = await AMemGym().probes(demo.domain, demo.records, demo.states, turns, chat)
    for probe in probes:
        assert (probe.reason is not None) == bool(lost & set(probe.evidence))
    assert any(probe.reason is None for probe in probes)


async def test_failed_opening_is_one_quarantined_turn(demo):
    class Silent(ScriptedChat):
        async def complete(self, request):
            if request.prompt == "amemgym/opening":
                return Completion("")
            return await super().complete(request)

    turns = await AMemGym().turns(
        demo.domain.limited(1), demo.records, demo.states, Silent(AMemGym().handlers())
    )
    first = [turn for turn in turns if turn.episode_id == "nora" and turn.checkpoint == 0]
    assert len(first) == 1 and "amemgym/opening: no usable answer" in first[0].reason


def test_published_sessions_become_turns_in_order(base):
    users = [json.loads(record.content) for record in base.records]
    sessions = [session for user in users for period in user["periods"] for session in period["sessions"]]
    assert len(base.turns) == len(sessions)
    for turn, session in zip(base.turns, sessions, strict=True):
        assert turn.text == f"[Current Time: {session['session_time']}]\n{session['query']}"
        assert json.loads(turn.exposes) == session["exposed_states"]
    if len(users) == 12:
        assert len(base.turns) == 579
