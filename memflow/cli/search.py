"""`memflow search`: what the store of a memory gives for any query at any moment."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.model_options import embedder_settings
from memflow.cli.options import EmbedderOption, EmbedderUrlOption
from memflow.cli.output import Sheet, SheetOption, Text, answer_rows, note, table


def search(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain in which it was played.")],
    assistant: Annotated[
        str, typer.Argument(metavar="ASSISTANT", help="The memory, or MEMORY@MODEL: the assistant's name.")
    ],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The words or the question to search for.")],
    episode: Annotated[
        str | None,
        typer.Option("--episode", metavar="ID", help="Entries of this episode. [all episodes]"),
    ] = None,
    checkpoint: Annotated[
        int | None,
        typer.Option("--checkpoint", metavar="C", min=0, help="The entries at this checkpoint. [at the end]"),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="vector, text or hybrid. [hybrid; text for entries without vectors]",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", metavar="K", min=1, help="Show so many entries at most.")] = 5,
    embedder: EmbedderOption = None,
    embedder_url: EmbedderUrlOption = None,
    form: SheetOption = Sheet.text,
) -> None:
    """Search the stored entries of a memory: by their words, by their vectors, or by both, at any checkpoint.

    The search index (LanceDB) is searched, not the memory: what the memory itself recalls may differ. No chat model is
    called; the memory's own embedder embeds the query.
    """
    from memflow.resources.indexes.search import search_entries

    front = front_of(ctx)
    over: dict[str, Any] = {}
    if embedder or embedder_url:
        over["embedder"] = embedder_settings(front.load().embedder, embedder, embedder_url, None)
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
    names = ("episode_id", "entry_id", "kind", "since", "sources")
    cells = [
        [
            rank,
            f"{row['score']:.4f}",
            *(row[name] for name in names),
            Text(" ".join(row["text"].split()), no_wrap=True, overflow="ellipsis"),
        ]
        for rank, row in enumerate(result.rows, 1)
    ]
    rows = [{"rank": rank, **row} for rank, row in enumerate(result.rows, 1)]
    answer_rows(
        form,
        {**asdict(result), "rows": rows},
        rows,
        Text(f"{assistant} in {domain}", "bold"),
        note(f"{where}: the best {len(rows):,} of {result.entries:,} entries by {result.mode} search"),
        table(
            "",
            ("rank", "score", "episode", "entry", "kind", "since", "sources", "text"),
            cells,
            right=("rank", "score", "since"),
            optional=("episode", "kind", "sources"),
        ),
    )
