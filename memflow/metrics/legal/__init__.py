"""How near a generated Chinese criminal judgment comes to the real one: the measures of JuDGE (MemoryBench, A.1).

`sections` finds a document's reasoning and decision; `charges`, `statutes` and `penalties` take out of them what the
court decides; `reading` puts that together; `measures` compares two readings. `published` is the reading and the
comparison of the published evaluation, slips included. All are pure functions of text; which probe is scored with
them, and the texts' METEOR and BERTScore, belong elsewhere.
"""
