"""`memflow export eee` and `inspect`: results as files that other tools read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.options import AssistantFilter, DomainFilter, argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.labels import score_label
from memflow.rendering.evidence import CAVEAT, label_note
from memflow.rendering.tables import Text
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.operations.exported_results import ExportedResults

FolderArgument = Annotated[Path, argument("FOLDER", "The folder to write into.")]
ModelIdOption = Annotated[
    str | None,
    option("--model-id", "The chat model's public name, if its settings lack it.", metavar="DEVELOPER/MODEL"),
]


def eee(
    ctx: typer.Context,
    folder: FolderArgument,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    model_id: ModelIdOption = None,
    organization: Annotated[str, option("--organization", "Who evaluated.")] = "unknown",
    samples: Annotated[
        bool, option("--samples/--no-samples", "Write questions and answers as well.", metavar=None)
    ] = True,
    form: FormatOption = Format.table,
) -> None:
    """Write results as records of Every Eval Ever 0.3.0: data/DOMAIN/DEVELOPER/MODEL/UUID.json, and its samples.

    There is one record per domain and assistant. The same results have the same files.
    """
    from memflow.operations.every_eval_ever import write_records

    results = _results(ctx, domain, assistant, model_id)
    files = [path for row in results for path in write_records(row, folder, organization, samples=samples)]
    _answer(form, folder, results, files)


def inspect(
    ctx: typer.Context,
    folder: FolderArgument,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    model_id: ModelIdOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Write results as logs of Inspect, one per domain and assistant. `inspect view --log-dir FOLDER` shows them.

    Needs the package inspect_ai: pip install 'memflow-bench[inspect]'.
    """
    from memflow.operations.inspect_logs import write_inspect_log

    results = _results(ctx, domain, assistant, model_id)
    _answer(form, folder, results, [write_inspect_log(row, folder) for row in results])


def _results(
    ctx: typer.Context, domain: list[str] | None, assistant: list[str] | None, model_id: str | None
) -> "list[ExportedResults]":
    from memflow.operations.exported_results import exported_results

    return exported_results(front_of(ctx).load(), front_of(ctx).lake(), domain, assistant, model_id)


def _answer(form: Format, folder: Path, results: "list[ExportedResults]", files: list[Path]) -> None:
    """Print what was written, what has no value, and the labels and licenses."""
    from memflow.resources.report.licenses import may_be_shared

    origins = dict(item for row in results for item in row.origins.items())
    closed = [
        f"{name} ({origin})" for name, origin in origins.items() if not may_be_shared(origin.split(", ")[-1])
    ]
    scores = [score for row in results for score in row.scores]
    unmeasured = sum(score.value is None for score in scores)
    label = score_label(scores)
    print_result(
        form,
        {"files": [*map(str, files)], "left_out_scores": unmeasured, "label": label},
        note(f"{len(files):,} files in {folder}. {unmeasured:,} scores without a value are left out."),
        *[Text(f"Check that you may pass on the texts of {text}.", "yellow") for text in closed],
        *label_note(label, CAVEAT),
    )
