"""`memp_SIZE_K`: procedures distilled from dialogue (Memp, as CoMem evaluates it)."""
