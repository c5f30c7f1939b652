"""What a domain takes of its records: the conversations and cases, split, and cut to the domain's limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.memorybench import split
from memflow.benchmarks.memorybench.conversations import Asked, Case, Conversation, cases, conversations
from memflow.benchmarks.memorybench.parameters import parameters_of
from memflow.benchmarks.memorybench.split import Split
from memflow.domains import Domain
from memflow.records import Record

DIALOGUES = "dialogues"
"""The episode of a domain's feedback, on which every conversation's episode is built."""


@dataclass(frozen=True)
class Corpus:
    """A conversation that is asked about. `split` holds positions in `conversation.questions`."""

    dataset: str
    episode_id: str
    conversation: Conversation
    split: Split


@dataclass(frozen=True)
class Selection:
    """What is asked. `cases` holds the cases taken, test and training."""

    corpora: list[Corpus]
    cases: list[Case]


def select(domain: Domain, records: Sequence[Record]) -> Selection:
    """What `domain` takes. The limit is dealt out over conversations and data sets in turn; a training case
    that a taken test case rests on is taken too. The domain's parameter `conversations` takes the first so
    many conversations only: a cheap way to a real one, since every message of a conversation is played.
    """
    talks = conversations(records)
    talks = talks[: parameters_of(domain).conversations or len(talks)]
    all_cases = cases(records)
    datasets = list(dict.fromkeys(case.dataset for case in all_cases))
    pools = [[case for case in all_cases if case.dataset == dataset] for dataset in datasets]
    splits = [_split(talk.questions, domain.seed) for *_, talk in talks]
    splits += [_given([case.split for case in pool]) for pool in pools]
    cut = split.limited(splits, domain.limit)
    corpora = [
        Corpus(dataset, episode, talk, share)
        for (dataset, episode, talk), share in zip(talks, cut, strict=False)
        if share.test
    ]
    taken = [
        case for pool, share in zip(pools, cut[len(talks) :], strict=True) for case in _taken(pool, share)
    ]
    return Selection(corpora, taken)


def _split(questions: Sequence[Asked], seed: int) -> Split:
    given = [asked.split for asked in questions]
    return _given(given) if any(given) else split.train_test(len(questions), split.CONVERSATION, seed)


def _given(splits: Sequence[str | None]) -> Split:
    return Split(
        [place for place, name in enumerate(splits) if name == "test"],
        [place for place, name in enumerate(splits) if name == "train"],
    )


def _taken(pool: Sequence[Case], share: Split) -> list[Case]:
    test = [pool[place] for place in share.test]
    needed = {case_id for case in test for case_id in case.rests_on}
    train = [case for case in pool if case.case_id in needed]
    spare = [pool[place] for place in share.train if pool[place].case_id not in needed]
    train += spare[: max(0, len(share.train) - len(train))]
    return [*test, *sorted(train, key=pool.index)]
