"""`memflow export inspect`: results as logs of Inspect."""

from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.options import AssistantFilter, DomainFilter, argument
from memflow.cli.output import Format, FormatOption, answer
from memflow.labels import score_label
from memflow.rendering.evidence import label_note
from memflow.rendering.tables import Text
from memflow.rendering.texts import note


def inspect(
    ctx: typer.Context,
    folder: Annotated[Path, argument("FOLDER", "The folder to write into.")],
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    form: FormatOption = Format.table,
) -> None:
    """Write results as logs of Inspect, one per domain and assistant. `inspect view --log-dir FOLDER` shows them.

    Needs the package inspect_ai: pip install 'memflow-bench[inspect]'.
    """
    from memflow.operations.inspect_logs import exported_results, write_inspect_log
    from memflow.resources.report.licenses import may_be_shared

    front = front_of(ctx)
    results = list(exported_results(front.load(), front.lake(), domain, assistant))
    files = [write_inspect_log(of_assistant, folder) for of_assistant in results]
    origins = {name: origin for of_assistant in results for name, origin in of_assistant.origins.items()}
    closed = [
        f"{name} ({origin})" for name, origin in origins.items() if not may_be_shared(origin.split(", ")[-1])
    ]
    scores = [score for of_assistant in results for score in of_assistant.scores]
    unmeasured = sum(score.value is None for score in scores)
    label = score_label(scores)
    answer(
        form,
        {"files": [*map(str, files)], "left_out_scores": unmeasured, "label": label},
        note(f"{len(files):,} files in {folder}. {unmeasured:,} scores without a value are left out."),
        *[Text(f"Check that you may pass on the texts of {text}.", "yellow") for text in closed],
        *label_note(label, "these scores show that the pipeline works; they measure no model."),
    )
