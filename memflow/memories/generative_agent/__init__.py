"""`generative_agent_K`: rated observations and reflections (Park et al. 2023; MemBench, section 4.1)."""
