"""`awi_F_N`: agentic write, in context (AMemGym, section 4)."""
