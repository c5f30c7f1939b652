"""The benchmarks: one package each, with the same module names in each, and what they share.

api.py is what its code implements, spec.py what is known without its code, registry.py how it is found.
<name>/benchmark.py implements the steps, from load.py (files -> records) to scoring.py (verdicts -> scores).
"""
