"""`nemori_K`: episodes cut where the topic changes, and what could not be predicted (Nan et al. 2025)."""
