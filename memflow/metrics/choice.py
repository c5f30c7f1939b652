"""Multiple choice: the score of an answer, and what guessing scores.

Answers are option numbers, from 1, as text.
"""

from collections.abc import Iterable

from memflow.errors import BadInput


def accuracy(answer: str, gold: str, options: int) -> float:
    """1 for the right option, 0 for another one.

    Raises BadInput where `answer` is no option's number: that is no wrong answer, but none.
    """
    if not answer.isascii() or not answer.isdigit() or not 1 <= int(answer) <= options:
        raise BadInput(f"the answer {answer!r} is none of the options 1 to {options}")
    return float(int(answer) == int(gold))


def random_accuracy(options: Iterable[int]) -> float:
    """Expected accuracy of guessing, over questions with so many options each: the mean of 1/n."""
    chances = [1 / count for count in options]
    if not chances:
        raise BadInput("there is no question to guess at")
    return sum(chances) / len(chances)
