"""The tests of judges: known answers, and injections, which are answers that try to give the judge instructions.

calibration.py    the calibration of a judge on known answers (calibration.toml)
withheld.py       judges without the verdicts that do not count
cases.py          a judge's prompt with a plain answer, and the verdict that injections ask for
injections.py     the injections
injection_test.py the test of a judge: which verdicts an injection moves
scripted.py       scripted judges that fail, so that the tests can fail

Prompts fence answers (memflow/chat/fences.py). The metrics and their prompts belong to the benchmarks.
"""
