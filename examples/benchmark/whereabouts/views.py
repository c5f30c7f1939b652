"""The view `memflow show moves`: counts of correct answers about things that were moved and things that were not."""

from memflow.benchmarks.views import Answer, Heading, Reader, Table, View
from memflow.errors import BadInput


def show_moves(reader: Reader) -> Answer:
    """Return a table of the number of correct answers by assistant and category. Raises BadInput if there are no
    results.
    """
    rows = []
    for partition in reader.partitions("score.verdicts"):
        domain, _, assistant = partition.partition("/")
        if domain != "whereabouts_stories":
            continue
        values = [row for row in reader.rows("score.verdicts", partition) if row.metric == "accuracy"]
        for category in ("moved", "unmoved"):
            found = [row.value or 0.0 for row in values if row.category == category]
            rows.append((assistant, category, round(sum(found)), len(found)))
    if not rows:
        raise BadInput("no results yet. Create some with `memflow run --domain whereabouts_stories`.")
    columns = ("assistant", "category", "correct", "questions")
    data = {"rows": [dict(zip(columns, row, strict=True)) for row in rows]}
    return Answer(data, [Heading("Whereabouts"), Table(columns, rows)])


VIEWS = (
    View(
        "moves",
        "Show how many questions about moved and unmoved things are answered correctly.",
        show_moves,
    ),
)
