"""Generation of trajectories: user graphs, then plans, then dialogues and questions (paper, section 3.1).

User graphs: `graphs`, `graph_sampling`, `vocabulary`, `values`, `preferences`. Plans: `planning`, `plans`,
`*_plans`, `fact_sessions`, `templates`, `layout`. Texts by the simulator: `dialogues`, `questions`.
"""
