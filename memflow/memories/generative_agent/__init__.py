"""`generative_agent_K`: the memory stream of generative agents (Park et al. 2023), as MemBench evaluates it."""
