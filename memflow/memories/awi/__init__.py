"""`awi_F_N`: agentic write, in context (AMemGym, section 4). A dictionary of facts about the user."""
