"""Questions and cases as probes with their gold: test probes, and training cases to gather feedback on.

A question about a conversation rests on messages of it; a case without a corpus rests on what users of
training cases said in their feedback, so its evidence is the message in which such a user first complains.
"""

import json
from collections.abc import Mapping

from memflow.benchmarks.memorybench.conversations import NOT_MENTIONED, Case
from memflow.benchmarks.memorybench.selection import DIALOGUES, Corpus, Selection
from memflow.benchmarks.memorybench.utterances import message_id
from memflow.records import Probe

LOCOMO_F1 = "locomo_f1"
ROUGE_L = "rouge_l"
ADVERSARIAL = "5"


def probes(domain: str, selection: Selection) -> list[Probe]:
    """Every probe of the domain: of each conversation test, then training; then the cases."""
    found = [probe for corpus in selection.corpora for probe in _questions(domain, corpus)]
    by_id = {case.case_id: case for case in selection.cases}
    return found + [_case(domain, case, by_id) for case in selection.cases]


def feedback_id(case_id: str, number: int) -> str:
    """Message id in a training case's dialogue: 0 is the question, 1 the answer, 2 the first critique."""
    return f"feedback/{case_id}/{number}"


def _questions(domain: str, corpus: Corpus) -> list[Probe]:
    talk = corpus.conversation
    options = talk.options()
    said = {
        spoken.dia_id: f"[{session.date}] {spoken.speaker}: {spoken.text}"
        for session in talk.sessions
        for spoken in session.messages
    }

    def probe(part: str, place: int) -> Probe:
        asked, pair = talk.questions[place], options.get(place, ())
        # A few ids in the published evidence name no message.
        evidence = [dia_id for dia_id in asked.evidence_ids() if dia_id in said]
        gold = json.dumps(dict(zip("ab", pair, strict=True))) if pair else str(asked.answer)
        told = NOT_MENTIONED if pair else "\n".join(said[dia_id] for dia_id in evidence) or gold
        return Probe(
            domain=domain,
            probe_id=f"{corpus.episode_id}/{place}",
            episode_id=corpus.episode_id,
            checkpoint=0,
            kind="open",
            split=part,
            dataset=corpus.dataset,
            category=str(asked.category),
            metric=LOCOMO_F1,
            question=asked.question,
            options=list(pair),
            variables=[],
            gold=gold,
            revealed=told,
            evidence=[message_id(corpus.episode_id, dia_id) for dia_id in evidence],
        )

    test = [probe("test", place) for place in corpus.split.test]
    return test + [probe("train", place) for place in corpus.split.train]


def _case(domain: str, case: Case, by_id: Mapping[str, Case]) -> Probe:
    rests_on = [by_id[case_id] for case_id in case.rests_on]
    return Probe(
        domain=domain,
        probe_id=case.probe_id,
        episode_id=DIALOGUES,
        checkpoint=0,
        kind="open",
        split=case.split,
        dataset=case.dataset,
        language=case.language,
        metric=ROUGE_L,
        question=case.question,
        options=[],
        variables=[],
        gold=case.answer,
        revealed=case.rule or "\n".join(needed.rule for needed in rests_on) or case.answer,
        evidence=[feedback_id(needed.probe_id, 2) for needed in rests_on],
    )
