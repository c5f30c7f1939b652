"""Feedback logs: AMemGym gathers none, since its users speak within the episode."""

from memflow.records import FeedbackRound


def make_feedback() -> list[FeedbackRound]:
    """No rounds."""
    return []
