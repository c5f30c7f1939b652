"""`memflow bench model`: the throughput of a model's server on the requests of a run.

resources/model_bench/ records and sends the requests; this module prints.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, heading, message, note, table
from memflow.cli.selection import demo_domains

bench = typer.Typer(no_args_is_help=True)

RATES = ("requests/s", "prompt tok/s", "answer tok/s")
LATENCIES = ("p50 s", "p90 s", "p99 s", "first token s")
SHARES = ("cached", "failed")


@bench.callback()
def benchmarks() -> None:
    """Measure a model's server. Nothing is written into ledger or lake."""


@bench.command("model")
def bench_model(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of memflow.toml.")],
    domain: Annotated[
        str | None, typer.Option(help="The domain whose requests are sent. [the first of --demo]")
    ] = None,
    memory: Annotated[
        list[str] | None, typer.Option(help="A memory whose requests are sent. Repeatable. [full, awi]")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="Seconds of each phase, approximately.")] = 10.0,
    requests: Annotated[int, typer.Option(min=0, help="Requests of each phase; 0: those of --seconds.")] = 0,
    answer_tokens: Annotated[
        int, typer.Option(min=0, help="Tokens of the longest answer; 0: as long as recorded answers.")
    ] = 0,
    vllm: Annotated[
        bool, typer.Option(help="Whether to run `vllm bench serve` on the same requests.")
    ] = True,
    tokenizer: Annotated[
        str, typer.Option(help="The tokenizer of `vllm bench serve`: a folder or a name. [the model]")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Measure the throughput of a model's server on the requests of a run: play, answers and judgments.

    The requests come from a dry run. They are sent at the model's concurrency without waiting for each other: in prefix
    order, in random order, and as one message each, which `vllm bench serve` can send too. Answers have the length of
    recorded answers. A server of kind vllm is started if necessary.
    """
    from resources.model_bench.bench import BenchOptions, ModelBench

    options = BenchOptions(
        domain or demo_domains()[0],
        tuple(memory or BenchOptions.memories),
        seconds,
        requests,
        answer_tokens or None,
        vllm,
        tokenizer,
    )
    result = ModelBench(front_of(ctx).load(), name, options, message).run()
    answer(Format.json if as_json else form, result, *_shown(result))


def _shown(result: Mapping[str, Any]) -> Iterator[RenderableType]:
    facts = [f"vLLM {', '.join(result['vllm'])}"] if result["vllm"] else []
    facts += [f"{len(result['addresses'])} replicas"] if len(result["addresses"]) > 1 else []
    facts += [
        f"{result['concurrency']} requests at once",
        f"{result['domain']}: {', '.join(result['memories'])}",
    ]
    yield Text(f"{result['served_as']} · {' · '.join(facts)}")
    columns = ("stage", "role", "requests", "with schema", "prompt tokens", "answer tokens")
    rows = [tuple(row.values()) for row in result["mix"]]
    yield table("\nRequests, with mean tokens", columns, rows, right=columns[2:])
    if result["left_out"]:
        yield note(f"{result['left_out']} requests are longer than the server accepts, and were left out.")
    shown = [_cells(row) for row in result["phases"]]
    yield table(
        "\nThroughput",
        ("phase", "requests", *RATES, *SHARES),
        [(row[0], *row[1:5], *row[9:]) for row in shown],
        right=("requests", *RATES, *SHARES),
    )
    yield table("\nSeconds", ("phase", *LATENCIES), [(row[0], *row[5:9]) for row in shown], right=LATENCIES)
    for row in result["phases"]:
        for reason, times in row["failures"].items():
            yield note(f"{row['phase']}: {times} failed: {reason}")
    yield heading("Comparison")
    yield Text(f"prefix order / random order: {result['prefix_order_gain']:.2f} requests/s")
    yield from _compared(result)
    yield note(
        "\ncached: the share of prompt tokens that the server had computed before. Nothing was stored."
    )


def _compared(result: Mapping[str, Any]) -> Iterator[RenderableType]:
    theirs = result.get("vllm_bench")
    if theirs is None:
        return
    if "not_run" in theirs:
        yield note(f"vllm bench serve did not run: {theirs['not_run']}")
        return
    ours = next(row for row in result["phases"] if row["phase"] == "one message")
    first = "" if theirs["mean_ttft_ms"] is None else f", first token {theirs['mean_ttft_ms'] / 1000:.3f} s"
    yield Text(
        f"memflow {ours['requests_per_s']:.2f} requests/s, vllm bench serve {theirs['request_throughput']:.2f} "
        f"requests/s{first}, both on one replica: ratio {result['ratio']:.2f}"
    )


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the figures of a phase as text: name, rates, latencies, cached share and failures."""

    def seconds(name: str) -> str:
        return "" if row[name] is None else f"{row[name]:.2f}"

    return (
        row["phase"],
        f"{row['requests']:,}",
        f"{row['requests_per_s']:,.2f}",
        f"{row['prompt_tokens_per_s']:,.0f}",
        f"{row['output_tokens_per_s']:,.0f}",
        *(seconds(name) for name in ("p50_s", "p90_s", "p99_s", "first_token_s")),
        f"{100 * row['cached_share']:.0f} %",
        f"{row['failed']:,}" if row["failed"] else "",
    )
