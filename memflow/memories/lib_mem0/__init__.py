"""`lib_mem0_K` and `lib_awe_F_N_K`: the installed package mem0ai with memflow's chat model and embedder."""
