"""`mem0` and `mem0_graph`: facts that a model extracts and updates (Chhikara et al. 2025, arXiv 2504.19413)."""
