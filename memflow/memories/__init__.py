"""Memory systems on one EntryStore: one file each, or one folder where a chat model is needed.

Protocol: memory.py, entries.py. Shared parts: verbatim.py, notes.py, chunks.py, search.py, access.py,
script_helpers.py. Names: systems.py, registry.py, user_memories.py.
"""
