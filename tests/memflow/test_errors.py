"""Errors of chat requests keep their fields when they are sent to another process."""

import copy

from memflow.errors import NoAnswer, PromptTooLong


def test_copied_chat_errors_have_the_original_fields() -> None:
    blank, too_long = copy.copy(NoAnswer("no text", "blank")), copy.copy(PromptTooLong("no", 400, "details"))
    assert (str(blank), blank.end) == ("no text", "blank")
    assert (str(too_long), too_long.status, too_long.details) == ("no", 400, "details")
