"""`mem_gpt[_BUDGET]`: MemGPT (Packer et al. 2023), a small main context and storage beyond it, reached by functions."""
