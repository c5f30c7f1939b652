"""The Python API: `memflow.evaluate` and `memflow.open`, which return `Results` with tables as data frames.

    import memflow

    results = memflow.evaluate(MyMemory, "amemgym_demo", model="http://127.0.0.1:8000/v1", home="results")
    results                                # in a notebook: the leaderboard
    results.leaderboard(metric="overall")  # a pandas DataFrame
    results.compare(MyMemory, "full")
    memflow.open("results").to_polars().verdicts()

evaluation.py selects and runs as the command `memflow run` does, with the same code; results.py reads the home.
"""

from memflow.api.evaluation import evaluate
from memflow.api.results import Results, open_home

open = open_home  # as in `memflow.open`

__all__ = ["Results", "evaluate", "open"]
