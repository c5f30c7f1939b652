"""Multiple choice: accuracy, and the accuracy of random guessing. Options are numbers from 1, as text."""

from collections.abc import Iterable

from memflow.errors import BadInput


def accuracy(answer: str, gold: str, options: int) -> float:
    """Return 1 for the correct option and 0 for another. Raises BadInput if `answer` is not an option's number."""
    if not answer.isascii() or not answer.isdigit() or not 1 <= int(answer) <= options:
        raise BadInput(
            f"the answer {answer!r} is not the number of an option. Pass a number from 1 to {options}."
        )
    return float(int(answer) == int(gold))


def random_accuracy(options: Iterable[int]) -> float:
    """Return the expected accuracy of random guessing over questions with these numbers of options: the mean of 1/n."""
    chances = [1 / count for count in options]
    if not chances:
        raise BadInput("`options` is empty. Pass the number of options of at least one question.")
    return sum(chances) / len(chances)
