"""`memp_SIZE_K`: procedural memory (Memp, Fang et al. 2025, arXiv 2508.06433), adapted to dialogue for CoMem."""
