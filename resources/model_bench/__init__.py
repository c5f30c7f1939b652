"""The measurement of a model server's throughput on the requests of a run (`memflow bench model`).

mix.py records the requests, sending.py sends them, vllm_bench.py runs vLLM's own benchmark, bench.py combines them.
"""
