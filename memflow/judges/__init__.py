"""The test of judges against injections: answers that try to give the judge instructions.

cases.py          a judge's prompt with a plain answer, and the verdict that injections ask for
injections.py     the injections
injection_test.py the test of a judge: which verdicts an injection moves
scripted.py       scripted judges that obey injections, so that the test can fail

Prompts fence answers (memflow/chat/fences.py). The metrics and their prompts belong to the benchmarks.
"""
