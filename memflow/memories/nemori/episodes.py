"""Episodes as text: in the store, in prompts and in notes."""

from collections.abc import Mapping, Sequence

from memflow.memories.entries import Item
from memflow.memories.nemori.answers import Narration
from memflow.memories.notes import join_texts
from memflow.memories.search import SearchHit
from memflow.memories.verbatim import with_date


def episode_text(narration: Narration, time: str | None) -> str:
    """Return an episode as text: its title with the time of its first message, and its narrative."""
    return f"{with_date(narration.title, time)}\n{narration.narrative}"


def episode_sections(episodes: Sequence[Item]) -> str:
    """Return episodes as text for a prompt, each under a numbered heading."""
    return "\n\n".join(f"## Episode {number}\n{item.text}" for number, item in enumerate(episodes, 1))


def recall_notes(
    episodes: Sequence[SearchHit], statements: Sequence[SearchHit], originals: Mapping[str, Sequence[Item]]
) -> str:
    """Return notes: the statements as a list, then the episodes, with original messages quoted by `> `."""
    statement_items = sorted((hit.item for hit in statements), key=lambda item: item.order)
    blocks = [join_texts(statement_items)] if statement_items else []
    for episode in sorted((hit.item for hit in episodes), key=lambda item: item.order):
        lines = [episode.text]
        for original in originals.get(episode.entry_id, ()):
            lines += [f"> {line}" for line in original.text.splitlines()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
