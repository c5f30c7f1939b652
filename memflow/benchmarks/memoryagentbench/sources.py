"""The sources of MemoryAgentBench's rows: what is asked, how an answer is read, and which metric counts.

A row of the published files names its source, such as `factconsolidation_mh_6k`. A family are the sources of one task.
"""

from dataclasses import dataclass
from typing import Literal

Parsed = Literal["better", "line", "titles"]
"""How an answer is read: the better of the whole text and its parsed line, the parsed line, or a list of titles."""


@dataclass(frozen=True)
class Family:
    """The sources of a task: the start of their names, the primary metric, and the prompt's stem."""

    prefix: str
    metric: str
    prompt: str
    parsed: Parsed = "better"
    is_judged: bool = False


SUBSTRING, EXACT, F1 = "substring_exact_match", "normalized_exact_match", "normalized_f1"
EVENTS = "event_recall"
ROUGE = {"rouge_l": False, "rouge_lsum": True}
"""The ROUGE metrics, each with an F1 and a recall, and whether they are of whole summaries."""
ROUGE_METRICS = tuple(f"{name}_{part}" for name in ROUGE for part in ("f1", "recall"))
RECALL_AT = {f"title_recall_at_{k}": k for k in (1, 5, 10)}
SUMMARY_F1, SUMMARY_RECALL = "summary_f1", "summary_recall"
SUMMARY_PRECISION, FLUENCY = "summary_precision", "summary_fluency"
ACCURACY = "accuracy"
PUBLISHED = "published_code"
"""The variant of a metric without answers that failed or are empty."""

FAMILIES = (
    Family("factconsolidation_", SUBSTRING, "answer_facts"),
    Family("ruler_", SUBSTRING, "answer_text"),
    Family("eventqa_", SUBSTRING, "answer_event", "line"),
    Family("icl_", EXACT, "answer_label", "line"),
    Family("detective_", EXACT, "answer_option"),
    Family("recsys_", "title_recall_at_5", "answer_titles", "titles"),
    Family("infbench_", SUMMARY_F1, "answer_summary", is_judged=True),
    Family("longmemeval_", ACCURACY, "answer_history", is_judged=True),
)


def family(source: str) -> Family | None:
    """Return the family of a source; None for an unknown one."""
    return next((entry for entry in FAMILIES if source.startswith(entry.prefix)), None)


def hops(source: str) -> str | None:
    """Return `single-hop` or `multi-hop` for a source of FactConsolidation; else None."""
    names = {"sh": "single-hop", "mh": "multi-hop"}
    parts = source.split("_")
    return names.get(parts[1]) if source.startswith("factconsolidation_") and len(parts) > 1 else None


def size(source: str) -> str | None:
    """Return the length of the text that a source names, such as `6k` or `65536`; else None."""
    last = source.rpartition("_")[2]
    return last if last[:1].isdigit() or last == "full" else None
