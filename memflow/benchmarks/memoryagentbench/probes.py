"""The questions of a text as probes, all asked at its end. The gold is the JSON list of the accepted answers.

`variants` has what an answer is compared with besides: the key points of a summary, and, for the first recommendation
of a text, all titles. No evidence is published. Derived by words of question and answer, it would be a guess.
"""

import json
from collections.abc import Iterator, Mapping

from memflow.benchmarks.memoryagentbench.config import MemoryAgentBenchConfig
from memflow.benchmarks.memoryagentbench.load import TITLES, PublishedRow
from memflow.benchmarks.memoryagentbench.sources import SUMMARY_F1, family, hops, size
from memflow.benchmarks.partial import InvalidPart
from memflow.records import Probe

TYPE = "type "
"""The start of the slice of a question's type, of which LongMemEval's judge has a contract."""


def make_probes(
    domain: str,
    dataset: str,
    row: PublishedRow,
    config: MemoryAgentBenchConfig,
    titles: Mapping[str, str] | None = None,
) -> Iterator[Probe]:
    """Yield the probes of a text in order. An invalid question is a probe with a reason.

    `titles` are those of the recommendation by their ids, of which its gold consists.
    """
    source = row.metadata.source
    asked = family(source)
    assert asked is not None  # read_records quarantines the others
    titles, is_list = titles or {}, asked.parsed == "titles"
    slices = [name for name in (hops(source), size(source) and f"size {size(source)}") if name]
    for number, pair in enumerate(row.pairs()):
        if config.questions and number >= config.questions:
            return
        fault = pair.content.fault if isinstance(pair.content, InvalidPart) else None
        question, golds = ("", ()) if isinstance(pair.content, InvalidPart) else pair.content
        if is_list and fault is None:
            unknown = [gold for gold in golds if gold.strip() not in titles]
            if unknown:
                fault = f"the data folder's {TITLES} has no title of {', '.join(unknown[:5])}"
            golds = tuple(titles[gold.strip()] for gold in golds if gold.strip() in titles)
        variants = (row.metadata.keypoints or []) if asked.is_judged else []
        if asked.metric == SUMMARY_F1 and not variants:
            fault = fault or "the row has no key points of the expert's summary"
        if is_list and number == 0:
            variants = [*dict.fromkeys(titles.values())]
        yield Probe(
            domain=domain,
            probe_id=pair.name,
            episode_id=row.name,
            checkpoint=0,
            kind="open",
            dataset=dataset,
            category=source,
            metric=asked.metric,
            question=question,
            options=[],
            variables=[],
            gold=json.dumps(list(golds), ensure_ascii=False),
            revealed="\n".join(golds),
            evidence=[],
            variants=variants,
            slices=[*slices, *([f"{TYPE}{pair.type}"] if pair.type else [])],
            reason=None if fault is None else f"question {number} of {row.name}: {fault}",
        )
