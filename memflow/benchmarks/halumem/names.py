"""The names of HaluMem's metrics, variants and verdicts."""

RECALL, WEIGHTED_RECALL = "extraction_recall", "extraction_weighted_recall"
RESISTANCE = "false_memory_resistance"
PRECISION, ACCURACY, INCLUDED = "target_memory_precision", "memory_accuracy", "memory_included_in_gold"
F1 = "extraction_f1"
GRADE = "extraction_grade"
UPDATE = {"Correct": "update_correct", "Hallucination": "update_hallucination", "Omission": "update_omission"}
UPDATE_OTHER = "update_other"
ANSWER = {"Correct": "answer_correct", "Hallucination": "answer_hallucination", "Omission": "answer_omission"}
STAGES = ("answer_write_failure", "answer_read_failure", "answer_utilization_failure")
UPDATE_RESULTS = {**UPDATE, "Other": UPDATE_OTHER}

STANDARD, PUBLISHED, PUBLISHED_VALID = "standard", "published", "published_valid"
RAW = "raw_turns"
"""The variant of verdicts on extraction where the texts are the messages themselves."""
TEXT = "text "
"""The beginning of the variant of a verdict on one of the texts of a session, numbered from 1."""


def raw(variant: str) -> str:
    """Return the variant of a score whose texts are the messages themselves."""
    return RAW if variant == STANDARD else f"{variant}_{RAW}"
