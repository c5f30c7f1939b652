"""`a_mem_K`: A-Mem, notes that a model writes, links and rewrites (Xu et al. 2025, arXiv 2502.12110)."""
