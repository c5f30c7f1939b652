"""`memflow import`: commands that store results of other code in the lake, as declared by benchmarks.

Conversions write a file of own data instead, and do not use the lake.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from memflow.benchmarks import registry
from memflow.benchmarks.own_files import Conversion
from memflow.benchmarks.views import ExportedFile, Import, ImportedResults
from memflow.cli.lazy_commands import App, CommandReference, LazyGroup, build_command
from memflow.cli.options import FileArgument, OverwriteOption, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.cli.views import loaded, printed, reader_of
from memflow.errors import BadInput
from memflow.rendering.texts import first_lines, heading, note


class ImportGroup(LazyGroup):
    """The command group `memflow import`: published runs, and what benchmarks declare."""

    references: ClassVar[Mapping[str, CommandReference]] = {
        "published": CommandReference("memflow.cli.published_runs:published")
    }

    def declared(self) -> Mapping[str, Callable[[], Any]]:
        imports, conversions = registry.imports().items(), registry.conversions().items()
        return {
            **{name: partial(_import_command, name, of_benchmarks) for name, of_benchmarks in imports},
            **{name: partial(_conversion_command, name, conversion) for name, conversion in conversions},
        }


imports = App(
    cls=ImportGroup,
    no_args_is_help=True,
    help="Read results that other code recorded into the lake, and convert exported chats.",
)


def _import_command(name: str, imports: Mapping[str, Import]) -> Any:
    """Return a command that stores results."""
    titles = " or ".join(registry.spec_of(benchmark).title for benchmark in imports)

    def run(
        ctx: typer.Context,
        domain: Annotated[str, argument("DOMAIN", f"A domain of {titles}.")],
        folder: Annotated[Path, argument("FOLDER", "The recorded results.")],
        judge: Annotated[
            bool,
            typer.Option(
                "--judge",
                help="Judge the recorded answers with the judges of the domain; recorded labels stay as a variant.",
            ),
        ] = False,
        form: FormatOption = Format.table,
    ) -> None:
        from memflow.assets.imports import store_results
        from memflow.operations.pipeline import Silent, run_pipeline
        from memflow.operations.planned_runs import RunRequest
        from memflow.resources.imported_judgments import judge_imported
        from memflow.resources.runs.added_partitions import with_added_partitions

        settings = front_of(ctx).load()
        of = settings.domain(domain)
        if of.benchmark not in imports:
            raise BadInput(
                f"{domain} belongs to {of.benchmark}, but `import {name}` only supports domains of {titles}. Choose "
                "such a domain."
            )
        reader = reader_of(ctx)
        results: ImportedResults = loaded(imports[of.benchmark].read)(reader, of, folder)
        if judge:
            probes = [probe for probe in reader.rows("question.probes", domain) if probe.split == "test"]
            results = judge_imported(settings, of, results, probes)
        store_results(settings, domain, results)
        outcome = run_pipeline(with_added_partitions(settings), RunRequest((), ()), Silent())
        if outcome.failed:
            cause = outcome.failed[0][1].rstrip(".")
            raise BadInput(
                f"the results are stored, but the scores of {domain} cannot be published: {cause}. Fix it, then rerun."
            )
        _print(form, domain, results)

    return build_command(name, next(iter(imports.values())).help, run)


def _conversion_command(name: str, conversion: Conversion) -> Any:
    """Return the command of a conversion."""

    def run(
        file: Annotated[Path, argument("FILE", "The file to convert.")],
        out: FileArgument = Path(conversion.out),
        force: OverwriteOption = False,
        form: FormatOption = Format.table,
    ) -> None:
        found: ExportedFile = loaded(conversion.convert)(file, out)
        write(out, found.text, force)
        print_result(form, dict(found.data), *printed(found.parts))

    return build_command(name, conversion.help, run)


def _print(form: Format, domain: str, results: ImportedResults) -> None:
    """Print the numbers of imported replies, and the faults."""
    lost = {
        "replies": sum(reply.reason is not None for reply in results.replies),
        "verdicts": sum(verdict.reason is not None for verdict in results.verdicts),
    }
    data = {
        "domain": domain,
        "assistant": results.assistant,
        "model": results.model,
        "source": results.source,
        "settings": dict(results.settings),
        "replies": len(results.replies),
        "verdicts": len(results.verdicts),
        "without_value": lost,
        "faults": list(results.faults),
    }
    print_result(
        form,
        data,
        heading(f"{domain}: imported, not run by memflow"),
        note(f"{results.assistant}: {results.source}"),
        note(f"{len(results.replies):,} replies, {lost['replies']:,} of them without an answer."),
        *first_lines(results.faults, "yellow"),
        note(f"`memflow show leaderboard --domain {domain}` shows its scores."),
    )
