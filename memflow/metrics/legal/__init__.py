"""Similarity of generated Chinese criminal judgments to real ones: the measures of JuDGE (MemoryBench, A.1).

`sections` finds reasoning and decision; `charges` and `decision` parse them; `measures` compares two judgments.
`published` parses as the published evaluation does.
"""
