"""The benchmarks, one package each with the same module names, and the modules that they share.

api.py has the protocol that a benchmark implements in <name>/benchmark.py. Its optional methods are in defaults.py, and
what only some benchmarks can do is in capabilities.py. spec.py describes a benchmark without importing its code,
registry.py finds the installed benchmarks, and domain_names.py parses the names of their domains.
"""
