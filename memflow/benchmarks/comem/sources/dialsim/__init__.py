"""DialSim: what many people say in a television show, a context for each of its seasons (paper, A.3.1).

Read is its pickle, with the questions that it publishes, or else the show's script alone, about which questions are
made by rule. No script and no pickle ships with memflow.

    scenes.py    files -> records -> scenes with their seasons
    seasons.py   days, and the seasons of a script that names none
    quiz.py      the pickle's questions, and which of them are asked
    sayings.py   questions by rule: who says a line, who said words last
    names.py     names of the people shuffled
    seasonal.py  a season's scenes and questions -> a context
"""

from memflow.benchmarks.comem.sources.dialsim.scenes import PICKLE, SCRIPT, read
from memflow.benchmarks.comem.sources.dialsim.season_contexts import contexts

__all__ = ["PICKLE", "SCRIPT", "contexts", "read"]
