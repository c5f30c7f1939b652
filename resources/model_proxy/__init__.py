"""The model proxy: an OpenAI-compatible server on loopback, through which a memory server uses memflow's models.

Its requests pass memflow's ledger, budget and limits, like those of memories written in Python.
"""
