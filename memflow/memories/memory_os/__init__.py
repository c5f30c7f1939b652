"""`memory_os_K`: MemoryOS, three tiers with promotion by age and by heat (Kang et al. 2025, arXiv 2506.06326)."""
