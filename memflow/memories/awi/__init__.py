"""AWI, agentic write with all facts in the prompt (AMemGym, section 4)."""
