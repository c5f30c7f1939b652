"""`sc_memory_F_K`: self-controlled memory (Liang et al. 2023; MemBench, section 4.1)."""
