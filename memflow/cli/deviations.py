"""`memflow show deviations`: the points in which a domain's runs differ from the paper or from the published code."""

from typing import Any

import typer

from memflow.cli.options import AssistantFilter, DomainArgument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.rendering.tables import table_of
from memflow.rendering.texts import note


def deviations(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: AssistantFilter = None,
    form: FormatOption = Format.table,
) -> None:
    """List the points in which a domain differs from its benchmark's paper or published code.

    The profile `paper` is compared with the paper, and with the published code where the paper is silent; the other
    profiles with the code. The values are those of the stored runs, or of the settings where nothing was run:
    parameters, decoding, models, embedder, prompts, sample, and what memflow and the memories always do differently.
    DOMAIN.PROFILE is a domain under another protocol profile.
    """
    from memflow.operations.deviations import deviations_of_domain
    from memflow.resources.settings.prompt_folders import activate_prompts

    settings = front_of(ctx).load()
    activate_prompts(settings)
    data = deviations_of_domain(settings, front_of(ctx).lake(), domain, assistant)
    rows, by_paper = data["deviations"], data["profile"] == "paper"
    shown = [row for row in rows if row["changes_scores"]]
    hidden = len(rows) - len(shown)
    source = "the stored runs" if data["values"] == "run" else "the settings; the domain has no stored run"

    def reference(row: dict[str, Any]) -> str:
        of_code = by_paper and row["reference_is"] == "published code"
        return f"{row['reference']}{' (published code)' if of_code else ''}"

    def here(row: dict[str, Any]) -> str:
        some = len(row["assistants"]) < len(data["assistants"])
        return f"{row['value']}{' (' + ', '.join(row['assistants']) + ')' if some else ''}"

    name = "paper" if by_paper else "published"
    compared = "the paper" if by_paper else data["code"] or "the paper"
    print_result(
        form,
        data,
        table_of(
            shown,
            {"point": "topic", name: reference, "here": here},
            f"{domain}, profile {data['profile']}: differences from {compared}",
        ),
        note(
            f"\n{len(rows)} of {data['points']} points differ. Values: {source}."
            + (f" {hidden} do not change scores." if hidden else "")
            + " `--format json` has all of them, with their sources."
        ),
    )
