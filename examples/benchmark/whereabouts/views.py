"""The view `memflow show moves`: counts of correct answers about things that were moved and things that were not."""

from memflow.benchmarks.views import Answer, Heading, Reader, Table, View
from memflow.errors import BadInput


def show_moves(reader: Reader) -> Answer:
    """Return the number of correct answers by assistant and category. Raises BadInput without results."""
    counts: dict[tuple[str, str], list[float]] = {}
    for partition in reader.partitions("score.verdicts"):
        domain, _, assistant = partition.partition("/")
        if domain == "whereabouts_stories":
            for row in reader.rows("score.verdicts", partition):
                if row.metric == "accuracy":
                    counts.setdefault((assistant, row.category), []).append(row.value or 0.0)
    rows = [(*key, round(sum(values)), len(values)) for key, values in counts.items()]
    if not rows:
        raise BadInput("no results yet. Create some with `memflow run --domain whereabouts_stories`.")
    columns = ("assistant", "category", "correct", "questions")
    data = {"rows": [dict(zip(columns, row, strict=True)) for row in rows]}
    return Answer(data, [Heading("Whereabouts"), Table(columns, rows)])


VIEWS = (View("moves", "Show correct answers to questions about moved and unmoved things.", show_moves),)
