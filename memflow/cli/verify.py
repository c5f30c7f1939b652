"""`memflow verify`: check the hashes of a bundle, score it again, and report what differs."""

from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.options import JudgeOption, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.rendering.evidence import metric_name
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import first_lines, note
from memflow.scoring.published_health import FAULTY

DIFFERS = 3
"""The exit code unless every verdict was computed again with the same value."""
COLUMNS: Columns = {
    "metric": "metric",
    "variant": "variant",
    "stored": "stored",
    "computed again": "again",
    "verdicts": "verdicts",
    "changed": "changed",
    "not computed": "lost",
}


def verify(
    ctx: typer.Context,
    file: Annotated[Path, argument("FILE", "A file of `memflow export bundle`.")],
    judge: JudgeOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Check the hashes of a bundle, compute its verdicts again, and report what differs.

    No judge is asked: judged metrics follow from the judges' replies in the file. With `--judge`, another judge is
    asked. Metrics of meaning use the embedder of the settings. Gold that the file may not contain is taken from your
    data.

    Exit code 0: every verdict was computed again with the same value. 3: not every one. 1: the file cannot be used.
    """
    from memflow.operations.bundle import metric_means, verify_bundle
    from memflow.operations.model_options import model_settings
    from memflow.scoring.bundle_file import MOST_BYTES, read_bundle

    try:
        with file.open("rb") as opened:
            bundle = read_bundle(opened.read(MOST_BYTES + 1), str(file))
    except OSError as wrong:
        raise BadInput(f"cannot read {file} ({wrong.strerror}). Check its path.") from wrong
    front = front_of(ctx)
    settings = front.load()
    if judge:
        over = model_settings(settings, None, None, None, judge)
        settings = front.load(**over, judges=dict.fromkeys(settings.judges, over["roles"]["judge"]))
    pairs, notices = verify_bundle(settings, front.lake(), bundle, asks=bool(judge))
    header, labels = bundle.verdicts.header, bundle.manifest.labels
    different = [pair for pair in sorted(pairs) if not pair.is_same]
    metrics = metric_means(pairs, is_faulty := header.health == FAULTY)
    changed, is_verified = any(row["changed"] for row in metrics), not different and not is_faulty
    state = "verified" if is_verified else "differs" if changed else "not verified"
    data = {
        "state": state,
        **{name: getattr(header, name) for name in ("domain", "assistant", "model", "memflow")},
        "sha256": bundle.sha256,
        "labels": labels,
        "notices": notices,
        "metrics": metrics,
        "different": [pair._asdict() for pair in different],
    }
    lines = [
        f"{pair.probe_id}: {metric_name(pair.metric, pair.variant)} {pair.stored} -> {pair.again} {pair.reason or ''}"
        for pair in different
        if pair.again is not None or pair.reason
    ]
    print_result(
        form,
        data,
        Text(f"{header.assistant} in {header.domain}: {state}", "" if is_verified else "bold yellow"),
        note(f"Label: {'; '.join(labels)}. The hashes are right: SHA-256 {bundle.sha256}"),
        *(Text(f"{notice}.", "yellow") for notice in notices),
        table_of(metrics, COLUMNS),
        *first_lines(lines),
        rows=metrics,
    )
    if not is_verified:
        raise typer.Exit(DIFFERS)
