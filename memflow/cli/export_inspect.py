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
    from memflow.operations.inspect_logs import write_inspect_logs
    from memflow.resources.report.licenses import may_be_shared

    logs = write_inspect_logs(front_of(ctx).load(), front_of(ctx).lake(), folder, domain, assistant)
    origins = {name: origin for log in logs for name, origin in log.origins.items()}
    closed = [
        f"{name} ({origin})" for name, origin in origins.items() if not may_be_shared(origin.split(", ")[-1])
    ]
    scores = [score for log in logs for score in log.scores]
    unmeasured = sum(score.value is None for score in scores)
    label = score_label(scores)
    answer(
        form,
        {"files": [str(log.path) for log in logs], "left_out_scores": unmeasured, "label": label},
        note(f"{len(logs):,} files in {folder}. {unmeasured:,} scores without a value are left out."),
        *[Text(f"Check that you may pass on the texts of {text}.", "yellow") for text in closed],
        *label_note(label, "these scores show that the pipeline works; they measure no model."),
    )
