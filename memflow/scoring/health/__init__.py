"""The health of a memory: what it did with what it was given, measured from stored rows without a model.

observations.py reduces the rows of an episode to what the measures need. One module per family of measures returns
`Measurement`s, each with its thresholds and their reasons beside it. states.py has the states and their order.
"""

from memflow.scoring.health.states import overall_state

__all__ = ["overall_state"]
