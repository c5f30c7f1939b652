"""How near a generated Chinese criminal judgment comes to the real one: the measures of JuDGE (MemoryBench, A.1).

`sections` finds a document's reasoning and decision; `charges`, `statutes` and `decision` take out of them what the
court decides; `reading` puts that together; `measures` compares two readings. `published` reads as the published
evaluation does, slips included. All are pure functions of text; which probe is scored with them, and how alike two
passages are by METEOR and BERTScore, belong elsewhere.
"""
