"""`lib_mem0_K`: the installed package mem0ai with memflow's chat model and embedder."""
