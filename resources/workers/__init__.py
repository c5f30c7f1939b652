"""Worker processes, which execute steps that call models, each for a share of the episodes and of the concurrency.

workers.py is the interface. worker_process.py is the program of a worker.
"""
