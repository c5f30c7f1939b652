"""Memory systems, on one small EntryStore: a file each, or a folder where a chat model is asked.

    memory.py      the Memory protocol, what it is given (messages, tools) and what it gives back (Recall)
    entries.py     EntryStore: entries that are only added and retired, so that any moment can be seen again
    verbatim.py    messages kept word for word, shown again as turns with their dates
    notes.py       messages or sessions as text to search, and what was found as notes
    chunks.py      what leaves a buffer, cut into messages, pairs or chunks of so many tokens
    search.py      BM25 and dense search over a store, in process
    access.py      when entries were recalled, for memories that fade
    plain.py       how the scripted chat reads, for the handlers of all systems
    system.py      a system as it is named and listed
    systems.py     the systems that ship with memflow, as data
    registry.py    names and parameters: `rag_2_4_30` -> a Memory
    own.py         a user's own: by import path, by a line in memflow.toml, by an installed package
    <system>.py    one memory system, with its paper in the docstring
    <system>/      one that asks a chat model: memory.py, answers.py (what it answers), prompts/, scripted.py

No memory sees gold: the messages of the protocol have no field for it. Only `oracle` is told the gold,
by name.
"""
