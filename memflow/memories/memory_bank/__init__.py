"""`memory_bank_K`: daily summaries, a portrait and a forgetting curve (Zhong et al. 2024; MemBench, section 4.1)."""
