"""Memory systems. Each keeps its state in an EntryStore. A system is one file, or one folder if it needs a chat model.

Protocol: memory.py, entries.py. Shared parts: verbatim.py, notes.py, chunks.py, search.py, access.py,
script_helpers.py. Names: systems.py, registry.py, user_memories.py.
"""
