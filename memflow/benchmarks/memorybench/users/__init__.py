"""MemoryBench's simulated users (paper, A.2): reactions to answers, personas, and the action model."""
