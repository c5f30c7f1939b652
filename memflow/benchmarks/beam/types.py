"""The names of BEAM's question types, metrics, variants and slices. For speed, this module imports nothing."""

ORDERING = "event_ordering"
TYPES = (
    "abstention",
    "contradiction_resolution",
    ORDERING,
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)
"""The abilities, in the order of the published report."""

PUBLISHED, CORRECTED = "beam_published", "beam_corrected"
"""The metrics of the two judge contracts."""
TAU, F1, PRECISION, RECALL = "event_tau", "event_f1", "event_precision", "event_list_recall"
ORDER_METRICS = (TAU, F1, PRECISION, RECALL)
NO_INFORMATION, HEADING = "constant_no_information", "constant_heading"
BY_ABILITY, BY_RUBRIC, ITEM = "by_ability", "by_rubric", "item_"
"""Variants: the mean over abilities; ordered events judged by their rubric; one item of a rubric, `item_N` from 1."""
NO_ERRORS = "without known errors"
FULL, TRUNCATED, OF_PLANS = "full text", "truncated text", "text of plan folders"
"""Slices: the two texts in which conversations are published, and that of plans of which there may be more."""


def type_slice(name: str) -> str:
    """Return the slice of a question type."""
    return f"category {name}"
