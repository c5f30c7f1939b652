"""`sc_memory_F_K`: self-controlled memory (Liang et al. 2023, as MemBench, section 4.1, and MemEngine have it)."""
