"""Asking a chat model: what a request is, what comes back, and who answers.

    prompts.py      prompt files: name, fields, output type, language; rendering
    requests.py     ChatMessage, Sampling, ChatRequest, Completion, and the Chat protocol
    bounds.py       whether an output type is bounded everywhere
    asking.py       ask(): one prompt, one typed answer, asked again with the error when it does not parse
    ledger.py       the Ledger protocol; LedgeredChat, which asks nothing twice; a ledger in memory
    scripted.py     a chat that is no language model: a handler per prompt, for demos and tests
    recorded.py     a chat that only knows what the ledger holds

Clients that reach over a network are in resources/; the texts of the prompts lie beside the benchmarks and memories.
"""
