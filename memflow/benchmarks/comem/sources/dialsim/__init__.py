"""DialSim: television shows as dialogues with many speakers, one context per season (paper, A.3.1).

The input is DialSim's pickle with its questions, or a show's script with questions by rule. memflow ships neither.

    scenes.py               files to records, records to scenes with their seasons
    seasons.py              dates, and the seasons of a script
    published_questions.py  the pickle's questions, and their sampling
    rule_questions.py       questions by rule: who says a line, who said words last
    names.py                people's names exchanged
    season_contexts.py      a season's scenes and questions to a context
"""

from memflow.benchmarks.comem.sources.dialsim.scenes import PICKLE, SCRIPT, read
from memflow.benchmarks.comem.sources.dialsim.season_contexts import contexts

__all__ = ["PICKLE", "SCRIPT", "contexts", "read"]
