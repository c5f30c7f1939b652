"""vLLM servers: existing ones, and those that are started for a model and shared by all processes of a home.

servers.py is the interface. supervisor.py runs in a process of its own.
"""
