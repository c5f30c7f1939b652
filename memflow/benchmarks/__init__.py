"""The benchmarks: one folder each, with the same file names in each.

benchmark.py         what a benchmark is: the contract that every folder keeps
<name>/benchmark.py  the benchmark's class, which calls the modules below; imported on first use
<name>/records.py    published files -> raw records
<name>/states.py     -> profiles, variables, changes
<name>/utterances.py -> turns
<name>/probes.py     -> probes
<name>/feedback.py   -> feedback rounds
<name>/episodes.py   turns (and feedback) -> episodes for the player; how a probe is put to an assistant
<name>/scores.py     replies -> verdicts -> figures
<name>/scripted.py   handlers of the scripted chat
<name>/answers.py    output types of its prompts; prompts/ their texts
"""
