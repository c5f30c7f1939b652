"""The search indexes of memory entries: LanceDB tables that are built from the lake, and searches in them."""
