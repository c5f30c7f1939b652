"""`a_mem_K`: A-Mem (Xu et al. 2025, arXiv 2502.12110). Notes that a model writes, links and rewrites."""
