"""Train one LoRA adapter. The Python of the training environment runs this program; memflow never imports it.

    python -I lora.py FOLDER

FOLDER contains `job.json` and `examples.jsonl` from trainer.py. Events (step, done, failed) are JSON lines on standard
output; the adapter is written to FOLDER/adapter. The program downloads and unpickles nothing, runs no code of the
model, and uses no module of memflow.
"""

import hashlib
import json
import math
import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
PACKAGES = ("trl", "peft", "transformers", "torch", "datasets", "accelerate", "tokenizers")


class TrainingError(Exception):
    """The error of a job that cannot be trained. The message states the reason."""


class EventStream:
    """The original standard output, to which events are written. Other output is redirected to standard error."""

    def __init__(self) -> None:
        self._out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def emit(self, event: str, **facts: Any) -> None:
        print(json.dumps({"event": event, **facts}, ensure_ascii=False), file=self._out, flush=True)


def train(folder: Path, events: EventStream) -> dict[str, Any]:
    """Train the job in FOLDER/job.json. Return the training result for the manifest."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    wanted = job["parameters"]
    lines = (folder / "examples.jsonl").read_text(encoding="utf-8").split("\n")
    base = find_base_model(job["base"], job["base_revision"])
    set_seed(wanted["seed"])
    tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
    if not tokenizer.chat_template:
        raise TrainingError(
            f"the model {job['base']} has no chat template. Choose an instruction-tuned model."
        )
    examples, measured = select_examples(
        [json.loads(line) for line in lines if line], tokenizer, wanted["length"]
    )
    if not examples:
        raise TrainingError(
            f"every request has at least {wanted['length']} tokens, so no token is left for the "
            "answer. Raise `length`."
        )
    on_gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(
        base,
        dtype=torch.bfloat16 if on_gpu else torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
    )
    trainer, losses = build_trainer(folder, model, tokenizer, examples, wanted, on_gpu, events)
    started = time.monotonic()
    trainer.train()
    seconds = time.monotonic() - started
    trainer.model.save_pretrained(folder / "adapter", safe_serialization=True)
    return {
        **measured,
        **training_facts(trainer),
        "examples": len(examples),
        "first_loss": losses[0],
        "last_loss": losses[-1],
        "seconds": round(seconds, 3),
        "device": torch.cuda.get_device_name() if on_gpu else "cpu",
        "precision": "bfloat16" if on_gpu else "float32",
        "base_files": base_checksums(base),
        "versions": {name: metadata.version(name) for name in PACKAGES} | {"python": sys.version.split()[0]},
    }


def build_trainer(
    folder: Path,
    model: Any,
    tokenizer: Any,
    examples: list[dict[str, Any]],
    wanted: dict[str, Any],
    on_gpu: bool,
    events: EventStream,
) -> tuple[Any, list[float]]:
    """Return TRL's trainer and the list to which it appends losses. Arguments not given here have TRL's defaults."""
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import TrainerCallback
    from trl import SFTConfig, SFTTrainer

    losses: list[float] = []

    class Watch(TrainerCallback):
        """A callback that writes each loss as an event, and stops the training if a loss is not finite."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            loss = (logs or {}).get("loss")
            if loss is None:
                return
            if not math.isfinite(loss):
                raise TrainingError(
                    f"the loss was {loss} at step {state.global_step}. Lower the learning rate, then rerun."
                )
            losses.append(loss)
            events.emit("step", step=state.global_step, of=state.max_steps, loss=loss)

    targets = wanted["targets"]
    conversations = [{name: each[name] for name in ("prompt", "completion")} for each in examples]
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(conversations),
        peft_config=LoraConfig(
            task_type="CAUSAL_LM",
            r=wanted["rank"],
            lora_alpha=wanted["alpha"],
            lora_dropout=wanted["dropout"],
            target_modules=targets if targets == "all-linear" else targets.split(","),
        ),
        args=SFTConfig(
            output_dir=str(folder / "trainer"),
            learning_rate=wanted["learning_rate"],
            num_train_epochs=wanted["epochs"],
            per_device_train_batch_size=wanted["batch"],
            gradient_accumulation_steps=1,
            max_length=wanted["length"],
            completion_only_loss=True,
            bf16=on_gpu,
            use_cpu=not on_gpu,
            seed=wanted["seed"],
            data_seed=wanted["seed"],
            logging_steps=1,
            logging_nan_inf_filter=False,
            disable_tqdm=True,
            report_to="none",
            save_strategy="no",
        ),
        callbacks=[Watch()],
    )
    if len(trainer.train_dataset) != len(examples):
        raise TrainingError(
            f"the trainer used only {len(trainer.train_dataset)} of {len(examples)} examples. "
            "Install the version of trl that memflow's extra `sft` requires, then rerun."
        )
    return trainer, losses


def training_facts(trainer: Any) -> dict[str, Any]:
    """Return the training steps, adapted modules and schedule that the trainer used."""
    arguments = trainer.args
    return {
        "steps": trainer.state.global_step,
        "trained_parameters": sum(each.numel() for each in trainer.model.parameters() if each.requires_grad),
        "adapted_modules": sorted(trainer.model.peft_config["default"].target_modules),
        "schedule": {
            "optimiser": str(getattr(arguments.optim, "value", arguments.optim)),
            "learning_rate": str(getattr(arguments.lr_scheduler_type, "value", arguments.lr_scheduler_type)),
            "warm_up_steps": arguments.warmup_steps,
            "weight_decay": arguments.weight_decay,
            "largest_gradient": arguments.max_grad_norm,
        },
    }


def find_base_model(base: str, revision: str) -> Path:
    """Return the folder of the base model, or its snapshot in the local cache."""
    if Path(base).is_dir():
        return Path(base)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(base, revision=revision or None, local_files_only=True))
    except (OSError, ValueError) as wrong:
        raise TrainingError(
            f"the base model {base} is neither a folder nor in the local cache "
            f"({type(wrong).__name__}). Download it with `hf download {base}`, or set a folder of "
            "weights."
        ) from wrong


def select_examples(
    given: list[dict[str, Any]], tokenizer: Any, length: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the examples that leave room for an answer within `length` tokens, and data on the others."""

    def tokens(messages: list[dict[str, str]], **how: Any) -> int:
        return len(
            tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True, **how)["input_ids"]
        )

    kept, left_out, cut, most = [], [], [], 0
    for each in given:
        asked = tokens(each["prompt"], add_generation_prompt=True)
        whole = tokens(each["prompt"] + each["completion"])
        most = max(most, whole)
        if asked >= length:
            reason = f"the request has {asked} tokens, but the maximum is {length}"
            left_out.append({"case_id": each["case_id"], "reason": reason})
            continue
        if whole > length:
            cut.append(each["case_id"])
        kept.append(each)
    return kept, {"too_long": left_out, "cut_short": cut, "longest": most}


def base_checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the base model's weights, configuration and tokenizer files."""
    names = ("config.json", "tokenizer.json", "chat_template.jinja")
    files = [folder / name for name in names if (folder / name).is_file()] + sorted(
        folder.glob("*.safetensors")
    )
    found = {}
    for file in files:
        with file.open("rb") as opened:
            found[file.name] = hashlib.file_digest(opened, "sha256").hexdigest()
    return found


def main() -> int:
    events = EventStream()
    os.environ.update(OFFLINE)
    try:
        events.emit("done", **train(Path(sys.argv[1]), events))
    except TrainingError as wrong:
        events.emit("failed", reason=str(wrong))
        return 1
    except ImportError as wrong:
        events.emit(
            "failed",
            reason=f"{sys.executable} lacks a package ({wrong}). Install memflow's extra `sft` there.",
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
