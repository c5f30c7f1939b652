"""`mem_gpt_BUDGET`: a context managed by function calls (Packer et al. 2023; MemBench, section 4.1)."""
