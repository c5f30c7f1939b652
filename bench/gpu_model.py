"""Write a model folder without weights, for `vllm serve --load-format dummy`: a configuration and a tokenizer.

    python bench/gpu_model.py FOLDER [qwen3_8b | tiny]

`qwen3_8b` has the shape of Qwen3-8B, so that a server computes as much as with the published weights. The tokenizer is
a byte-level BPE with the most frequent words of this repository's texts, about 3 characters per token; it has as many
tokens as the model. Only the standard library is needed.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SHAPES: dict[str, dict[str, Any]] = {
    # https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json
    "qwen3_8b": {
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
        "tie_word_embeddings": False,
    },
    "tiny": {
        "hidden_size": 128,
        "intermediate_size": 384,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "vocab_size": 8192,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": True,
    },
}
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
RESERVED = 293
"""Tokens from the first special one to the end of the vocabulary, as in Qwen3."""
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WORD = re.compile(r" ?[A-Za-z]+")


def byte_characters() -> list[str]:
    """Return the character that stands for each byte in byte-level BPE, as in GPT-2."""
    printable = [
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    ]
    shown, extra = dict.fromkeys(printable), 0
    characters = []
    for byte in range(256):
        if byte in shown:
            characters.append(chr(byte))
        else:
            characters.append(chr(256 + extra))
            extra += 1
    return characters


def frequent_words() -> list[str]:
    """Return the words of the documentation and the prompts, with the space before them, most frequent first."""
    paths = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("memflow/**/prompts/**/*.md")])
    counts = Counter(word for path in paths for word in WORD.findall(path.read_text(encoding="utf-8")))
    return [
        word.replace(" ", "Ġ") for word, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]


def tokenizer(vocabulary_size: int) -> dict[str, Any]:
    """Return the content of tokenizer.json."""
    first_special = vocabulary_size - RESERVED
    vocabulary = {character: number for number, character in enumerate(byte_characters())}
    merges: list[list[str]] = []
    for word in frequent_words():
        for length in range(2, len(word) + 1):
            if word[:length] not in vocabulary and len(vocabulary) < first_special:
                merges.append([word[: length - 1], word[length - 1]])
                vocabulary[word[:length]] = len(vocabulary)
    for number in range(len(vocabulary), first_special):
        vocabulary[f"unused{number}"] = number
    for number, token in enumerate(SPECIAL):
        vocabulary[token] = first_special + number
    for number in range(len(vocabulary), vocabulary_size):
        vocabulary[f"unused{number}"] = number
    added = [
        {
            "id": vocabulary[token],
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for token in SPECIAL
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": vocabulary,
            "merges": merges,
        },
    }


def write_model(folder: Path, shape: str) -> None:
    """Write config.json, generation_config.json, tokenizer.json and tokenizer_config.json."""
    sizes = SHAPES[shape]
    end = sizes["vocab_size"] - RESERVED + SPECIAL.index("<|im_end|>")
    pad = sizes["vocab_size"] - RESERVED
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "rms_norm_eps": 1e-06,
        "rope_scaling": None,
        "rope_theta": 1000000,
        "sliding_window": None,
        "use_sliding_window": False,
        "use_cache": True,
        "torch_dtype": "bfloat16",
        "bos_token_id": pad,
        "eos_token_id": end,
        **sizes,
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": sizes["max_position_embeddings"],
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    generation = {"bos_token_id": pad, "eos_token_id": [end, pad], "pad_token_id": pad}
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "config.json": config,
        "generation_config.json": generation,
        "tokenizer.json": tokenizer(sizes["vocab_size"]),
        "tokenizer_config.json": settings,
    }
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    write_model(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "qwen3_8b")
