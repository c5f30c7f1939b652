"""The published retrieval pipeline as memories: an index of sessions or user's turns, and text for the reader.

| entry point | search | keys |
|---|---|---|
| `longmemeval_bm25`, `longmemeval_dense` | Okapi BM25, embeddings | the user's text (value) |
| `longmemeval_bm25_facts`, `longmemeval_dense_facts` | the same | the user's text and facts that a model extracts |
| `longmemeval_notes` | Okapi BM25 | value; a model writes notes on each session that was found |
"""

from memflow_longmemeval.memories.facts import DenseFactIndex, LexicalFactIndex
from memflow_longmemeval.memories.index import DenseIndex, LexicalIndex
from memflow_longmemeval.memories.notes import NoteIndex

__all__ = ["DenseFactIndex", "DenseIndex", "LexicalFactIndex", "LexicalIndex", "NoteIndex"]
