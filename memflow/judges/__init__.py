"""Tests of judges: on answers that are known to be right or wrong, and on answers with instructions.

calibration.py    the calibration of a judge on known answers (calibration.toml)
withheld.py       judges without the verdicts that do not count
injections.py     the injection test: which verdicts an instruction in an answer changes (injections.yaml)
cases.py          a judge's prompt, and its verdicts on right and wrong answers
scripted.py       scripted judges that fail

Prompts fence answers (memflow/chat/fences.py). The metrics and their prompts belong to the benchmarks.
"""
