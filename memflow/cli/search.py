"""`memflow search`: what the store of a memory gives for any query at any moment."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from memflow.cli.options import (
    AssistantArgument,
    CheckpointOption,
    DomainArgument,
    EmbedderOption,
    EmbedderPresetOption,
    EmbedderUrlOption,
    EpisodeOption,
    argument,
    front_of,
    option,
)
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.model_options import embedder_settings
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import line, note

COLUMNS: Columns = {
    "rank": "rank",
    "score": lambda row: f"{row['score']:.4f}",
    "episode": "episode_id",
    "entry": "entry_id",
    "kind": "kind",
    "since": "since",
    "sources": "sources",
    "text": lambda row: line(row["text"]),
}


def search(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: AssistantArgument,
    query: Annotated[str, argument("QUERY", "The words or the question to search for.")],
    episode: EpisodeOption = None,
    checkpoint: CheckpointOption = None,
    mode: Annotated[
        str | None,
        option(
            "--mode", "vector, text or hybrid. [hybrid; text for entries without vectors]", metavar="MODE"
        ),
    ] = None,
    k: Annotated[int, option("--k", "Show so many entries at most.", metavar="K", min=1)] = 5,
    embedder: EmbedderOption = None,
    embedder_url: EmbedderUrlOption = None,
    embedder_preset: EmbedderPresetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Search the stored entries of a memory: by their words, by their vectors, or by both, at any checkpoint.

    The search index (LanceDB) is searched, not the memory: what the memory itself recalls may differ. No chat model is
    called; the memory's own embedder embeds the query.
    """
    from memflow.resources.indexes.search import search_entries

    front = front_of(ctx)
    over: dict[str, Any] = {}
    if embedder or embedder_url or embedder_preset:
        over["embedder"] = embedder_settings(
            front.load().embedder, embedder, embedder_url, None, embedder_preset
        )
    result = search_entries(
        front.load(**over),
        front.lake(),
        domain,
        assistant,
        query,
        checkpoint=checkpoint,
        episode=episode,
        mode=mode,  # type: ignore[arg-type]  # search_entries checks it
        k=k,
    )
    where = "all episodes, at their end"
    if result.episode is not None:
        where = (
            f"episode {result.episode}, checkpoint {result.checkpoint}, sequence number {result.sequence:,}"
        )
    rows = [{"rank": rank, **row} for rank, row in enumerate(result.rows, 1)]
    print_result(
        form,
        {**asdict(result), "rows": rows},
        Text(f"{assistant} in {domain}", "bold"),
        note(f"{where}: the best {len(rows):,} of {result.entries:,} entries by {result.mode} search"),
        table_of(rows, COLUMNS),
        rows=rows,
    )
