"""`memory_os_K`: three tiers of memory, moved between by age and by heat (Kang et al. 2025, arXiv 2506.06326)."""
