"""The settings of the stub server. providers.py has the behaviors that they name."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class StubBehavior:
    """The settings of the stub server. Failures are shares of all attempts, selected by the request and `seed`."""

    host: str = field(default="127.0.0.1", metadata={"help": "address to listen at"})
    port: int = field(default=0, metadata={"help": "port to listen at; 0: any free port"})
    model: str = field(default="stub", metadata={"help": "name of the model"})
    provider: str = field(
        default="", metadata={"help": "provider whose contract the server has, such as deepseek"}
    )
    behaviors: str = field(default="", metadata={"help": "further behaviors, separated by commas"})
    latency: float = field(default=0.0, metadata={"help": "seconds before an answer"})
    fail: float = field(default=0.0, metadata={"help": "share of attempts answered with 429 or 500"})
    odd: float = field(
        default=0.0,
        metadata={
            "help": "share of chat requests that get an odd response, and no answer; above 0, the prompt "
            "'odd response: NAME' gets that of odd_responses.py"
        },
    )
    garble: float = field(
        default=0.0, metadata={"help": "share of structured answers truncated to invalid JSON"}
    )
    max_model_len: int = field(
        default=0, metadata={"help": "estimated tokens above which a prompt is rejected; 0: no limit"}
    )
    version: str = field(
        default="",
        metadata={"help": "version that /version reports, as vLLM does; empty: there is no /version"},
    )
    text_length: int = field(
        default=0,
        metadata={"help": "mean characters of answers without a schema, such as 3538; 0: 20 to 80"},
    )
    cut_at: int = field(default=0, metadata={"help": "tokens after which every answer is cut; 0: no limit"})
    thought_tokens: int = field(
        default=100, metadata={"help": "tokens of the thoughts of a server that thinks"}
    )
    dimensions: int = field(default=64, metadata={"help": "length of the embeddings"})
    die_after: int = field(
        default=0, metadata={"help": "answers after which the server is down once; 0: never"}
    )
    down: float = field(default=5.0, metadata={"help": "seconds that it is down"})
    log: str = field(default="", metadata={"help": "file with a JSON line per answer"})
    vary: int = field(default=0, metadata={"help": "1: equal requests get different answers"})
    seed: int = field(default=0, metadata={"help": "seed of failures"})
