"""`lib_mem0_K`: the installed package mem0ai behind our chat model and embedder."""
