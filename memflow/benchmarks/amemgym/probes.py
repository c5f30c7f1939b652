"""The probes after every period: each question of the user, and state probes of the variables that it depends on.

options.py builds the options of a question, whose order is the same in all periods. question.py builds the prompt of a
probe.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.amemgym.config import TEXT_USERS_AT_ONCE, is_generated, parse_config
from memflow.benchmarks.amemgym.generation.personas import select_personas
from memflow.benchmarks.amemgym.off_policy import user_records
from memflow.benchmarks.amemgym.options import QuestionOptions, generated_options, published_options
from memflow.benchmarks.amemgym.states import History, exposed_values, histories, selected_users
from memflow.benchmarks.amemgym.wording import json_lines
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import Chat
from memflow.concurrency import gather_bounded
from memflow.records import GoldLabel, Probe, Record, Turn


async def make_probes(
    domain: Domain,
    records: Sequence[Record],
    states: States,
    turns: Sequence[Turn],
    simulator: Chat,
    gold_labels: Sequence[GoldLabel] = (),
) -> list[Probe]:
    """Return the probes by user, period and question.

    The choice probe of a question precedes its state probe. State probes of single variables follow all questions of
    the period.
    """
    histories_by_user = histories(states)
    if is_generated(domain):
        datasets = {
            persona.persona.id: persona.dataset
            for persona in select_personas(domain, user_records(domain, records))
        }
        questions_by_user = await gather_bounded(
            lambda history: generated_options(domain, history, simulator),
            [*histories_by_user.values()],
            TEXT_USERS_AT_ONCE,
        )
    else:
        published_users = {record.record_id: record for record in selected_users(domain, records)}
        datasets = {user_id: record.dataset for user_id, record in published_users.items()}
        questions_by_user = [published_options(published_users[user_id]) for user_id in histories_by_user]
    turns_by_user: dict[str, list[Turn]] = {}
    for turn in turns:
        turns_by_user.setdefault(turn.episode_id, []).append(turn)
    probes: list[Probe] = []
    for (user_id, history), questions in zip(histories_by_user.items(), questions_by_user, strict=True):
        user_turns = turns_by_user.get(user_id, ())
        probes += _probes(domain, datasets[user_id], history, questions, user_turns)
    return probes


def _probes(
    domain: Domain,
    dataset: str,
    history: History,
    questions: Sequence[QuestionOptions],
    turns: Sequence[Turn],
) -> Iterator[Probe]:
    """Yield the probes of a user. A probe's evidence is the latest messages that state the values of its variables."""
    stated_by: dict[str, Sequence[Turn]] = {}
    config = parse_config(domain)
    # With quarantine = "user", all questions of a user have the same reason.
    reason = next((question.reason for question in questions), None) if config.quarantine == "user" else None
    names = [name for name in history.schema if any(name in question.variables for question in questions)]
    for period in range(len(history.periods)):
        openings = [turn for turn in turns if turn.checkpoint == period and turn.position == 0]
        # If it is unknown what messages expose, each of them may state each change of the period.
        if unknown_openings := [turn for turn in openings if turn.exposes is None]:
            for change in history.changes[period]:
                stated_by[change.variable] = unknown_openings
        for turn in openings:
            for name in exposed_values(turn):
                stated_by[name] = [turn]
        builder = _ProbeBuilder(domain, dataset, history, period, stated_by)
        for number, question in enumerate(questions):
            choice = builder.choice(number, question)
            yield choice
            if config.state_probes == "question":
                yield replace(
                    builder.state(f"s{number}", question.variables, question.reason), parent=choice.probe_id
                )
        if config.state_probes == "variable":
            for number, name in enumerate(names):
                yield builder.state(f"v{number}", [name], reason)


@dataclass(frozen=True)
class _ProbeBuilder:
    """A builder of the probes of one user after one period.

    `stated_by` maps each variable to the turn that exposes its value, or to all candidate turns if unknown.
    """

    domain: Domain
    dataset: str
    history: History
    period: int
    stated_by: Mapping[str, Sequence[Turn]]

    def choice(self, number: int, question: QuestionOptions) -> Probe:
        """Return the choice probe of the user's question `number` (from 0)."""
        values = self._values(question.variables)
        return replace(
            self._probe(f"q{number}", question.variables, question.reason),
            question_id=f"{self.history.profile.user_id}/q{number}",
            kind="choice",
            metric="accuracy",
            question=question.question,
            options=list(question.options),
            gold=question.gold(values),
            variants=[json.dumps(variant, ensure_ascii=False) for variant in question.variants],
        )

    def state(self, label: str, variables: Sequence[str], reason: str | None = None) -> Probe:
        """Return the state probe of `variables`; its question lists all possible values."""
        return replace(
            self._probe(label, variables, reason),
            question=json_lines({name: self.history.schema[name] for name in variables}),
            gold=json_lines(self._values(variables)),
        )

    def _probe(self, label: str, variables: Sequence[str], reason: str | None) -> Probe:
        """Return a state probe of `variables` without question and gold, with its evidence and context."""
        values = self._values(variables)
        sources = [turn for name in variables for turn in self.stated_by.get(name, ())]
        user_id = self.history.profile.user_id
        return Probe(
            domain=self.domain.name,
            probe_id=f"{user_id}/p{self.period}/{label}",
            episode_id=user_id,
            checkpoint=self.period,
            kind="state",
            dataset=self.dataset,
            language=parse_config(self.domain).language,
            metric="state_match",
            question="",
            options=[],
            variables=list(variables),
            gold="",
            revealed=json_lines(values),
            previous=json_lines(_previous_values(self.history, variables, self.period)),
            evidence=list(dict.fromkeys(turn.message_id for turn in sources)),
            reason=reason or _unstated_reason(values, self.stated_by),
        )

    def _values(self, variables: Sequence[str]) -> dict[str, str]:
        return {name: self.history.periods[self.period][name] for name in variables}


def _previous_values(history: History, variables: Sequence[str], period: int) -> dict[str, str]:
    """Return the values before the last change of any of these variables, or the current values if none changed."""
    by_period = [{name: state[name] for name in variables} for state in history.periods[: period + 1]]
    return next((values for values in reversed(by_period) if values != by_period[-1]), by_period[-1])


def _unstated_reason(values: Mapping[str, str], stated_by: Mapping[str, Sequence[Turn]]) -> str | None:
    """Return the reason why no assistant can know one of `values`, or None if all values can be known.

    A value is unknown if no message exposes the value or if that message is quarantined.
    """
    for name in values:
        if name not in stated_by:
            return f"no message exposes the value of {name}"
        for turn in stated_by[name]:
            if turn.reason is not None:
                return f"the message {turn.message_id}, which exposes the value of {name}, is quarantined"
    return None
