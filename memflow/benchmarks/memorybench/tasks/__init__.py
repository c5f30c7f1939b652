"""Readers of MemoryBench's data sets, which return cases (question and gold) with corpora (paper, section 2.2, A.1)."""
