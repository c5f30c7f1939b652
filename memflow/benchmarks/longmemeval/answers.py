"""The judge's answers, which are free text of at most ten tokens. The published label is whether they contain `yes`."""


def read_label(reply: str) -> bool:
    """Return the published label of a judge's reply."""
    return "yes" in reply.lower()


def is_unclear(reply: str) -> bool:
    """Return whether a judge's reply is neither `yes` nor `no`; its published label may surprise."""
    return reply.strip().strip("\"'*.!").lower() not in ("yes", "no")
