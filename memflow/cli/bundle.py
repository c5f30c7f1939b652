"""`memflow export bundle`: write an evaluation with all that its verdicts are computed from."""

from typing import Annotated

import typer

from memflow.cli.options import DomainArgument, FileArgument, OverwriteOption, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.rendering.texts import note


def bundle(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: Annotated[str, argument("ASSISTANT[=TIME]", "The assistant, optionally at a moment.")],
    file: FileArgument,
    force: OverwriteOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Write an evaluation to a zip file, which `memflow verify` scores again without a request.

    It has the verdicts, the answers, the judges' prompts and replies, versions, settings and hashes; and the questions
    with their gold where the licenses of the data sets allow it. It has no key, address or path.
    """
    from memflow.operations.bundle import bundle_evaluation
    from memflow.scoring.bundle_file import read_bundle

    content = bundle_evaluation(front_of(ctx).load(), front_of(ctx).lake(), domain, assistant)
    write(file, content, force)
    written = read_bundle(content, str(file))
    labels, licenses = written.manifest.labels, written.manifest.licenses
    counts = {name: len(rows) for name, rows in vars(written).items() if isinstance(rows, list)}
    named = ", ".join(f"{name} ({license})" for name, license in licenses.items())
    texts = f"With the texts of {named}" if written.probes else f"Without the texts of {named}: {NEEDED}"
    print_result(
        form,
        {"file": str(file), "sha256": written.sha256, "labels": labels, "licenses": licenses, **counts},
        note(f"{counts['replies']:,} answers and {counts['judge_replies']:,} replies of judges, in {file}"),
        note(f"Label: {'; '.join(labels)}"),
        note(f"{texts}."),
        note(f"SHA-256 {written.sha256}"),
    )


NEEDED = "their licenses are not known to allow it, so whoever verifies the file needs the data"
