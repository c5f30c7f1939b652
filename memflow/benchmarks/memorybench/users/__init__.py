"""MemoryBench's simulated users (paper, A.2): what they make of an answer, and what they press.

    reactions.py    what a user makes of an answer: by a metric, or played by the simulator
    personas.py     who they are, by task and language (personas_en.yaml, personas_zh.yaml)
    contexts.py     what they know to be right
    actions.py      how probably they like, dislike and copy, by satisfaction
    presses.py      what they press, calibrated on a population
    noise.py        noise in their satisfaction
    answers.py      output types of their prompts
    scripted.py     a plain user, no language model

The dialogues that they take part in are feedback.py's and onpolicy.py's.
"""
