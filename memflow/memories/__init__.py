"""Memory systems. A system is a module, or a package if it needs a chat model; its state is in an EntryStore.

Protocol: memory.py, entries.py. Shared parts: verbatim.py, notes.py, chunks.py, search.py, access.py,
script_helpers.py. Names: systems.py, registry.py, user_memories.py.
"""
