"""`nemori_K`: episodes and statements (Nan et al. 2025)."""
