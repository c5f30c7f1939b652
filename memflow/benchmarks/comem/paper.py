"""The memories of CoMem's paper: their names and order. paper.yaml has its tables, paper.csv its values."""

MEMORIES = {"full": "Full Memory", "rag": "RAG Memory", "memp": "Memp", "mem0": "Mem0"}
"""The paper's names of memories, in its order."""


def order(memory: str) -> tuple[int, str]:
    """Return the sort key (rank, name): the paper's memories in its order, with any parameters, then all others."""
    places = (at for at, name in enumerate(MEMORIES) if memory == name or memory.startswith(f"{name}_"))
    return next(places, len(MEMORIES)), memory
