"""Multiple choice: accuracy. Options are numbers from 1, as text."""

from memflow.errors import BadInput


def accuracy(answer: str, gold: str, options: int) -> float:
    """Return 1 for the correct option and 0 for another. Raises BadInput if `answer` is not an option's number."""
    if not answer.isascii() or not answer.isdigit() or not 1 <= int(answer) <= options:
        raise BadInput(
            f"the answer {answer!r} is not the number of an option. Pass a number from 1 to {options}."
        )
    return float(int(answer) == int(gold))
