"""MemoryBench's data sets as cases (q, v) with corpora (c) (paper, section 2.2, A.1): one reader per published form."""
