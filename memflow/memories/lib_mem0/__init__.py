"""`lib_mem0_K`: the memory of the package mem0ai, as it is installed, behind our chat model and embedder."""
