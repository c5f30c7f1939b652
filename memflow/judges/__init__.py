"""The calibration of judges on answers that are known to be right or wrong.

calibration.py    the calibration of a judge on known answers (calibration.toml)
withheld.py       judges without the verdicts that do not count
cases.py          a judge's prompt, and its verdicts on right and wrong answers
scripted.py       a scripted judge that fails

Prompts fence answers (memflow/chat/fences.py). The metrics and their prompts belong to the benchmarks.
"""
