"""The benchmarks, one package each, and the modules that they share.

All four packages have the same module names. api.py has the protocol that a benchmark implements. spec.py describes a
benchmark without importing its code, and registry.py finds the installed benchmarks. <name>/benchmark.py implements the
protocol.
"""
