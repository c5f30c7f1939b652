"""LoRA training with TRL and PEFT: a tiny model of random weights changes its answers.

`MEMFLOW_SFT_PYTHON` names the Python of an environment with memflow's extra `sft`. Nothing is downloaded.
"""

import json
import math
import os
import subprocess
from pathlib import Path

import pytest

from memflow.benchmarks.training import Lora
from memflow.errors import TrainingFailed
from memflow.resources.training.adapter import read_manifest
from memflow.resources.training.trainer import Job, Trainer

pytestmark = pytest.mark.sft

TINY = """\
import sys
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
torch.manual_seed(0)
words = Tokenizer(models.BPE())
words.pre_tokenizer, words.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
learned = trainers.BpeTrainer(
    vocab_size=320, special_tokens=["<end>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    show_progress=False,
)
words.train_from_iterator(["Dear Sir or Madam, thank you for your letter. Yours faithfully"], learned)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>", pad_token="<end>")
tokenizer.chat_template = (
    "{% for said in messages %}{{ said['role'] }}: {{ said['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
tokenizer.save_pretrained(sys.argv[1])
LlamaForCausalLM(LlamaConfig(
    vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=2, max_position_embeddings=512, eos_token_id=0, pad_token_id=0, bos_token_id=None,
)).save_pretrained(sys.argv[1])
"""
ANSWERS = """\
import json, sys
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
base, adapter, asked, wanted = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(base)
prompt = tokenizer.apply_chat_template(
    [{"role": "user", "content": asked}], add_generation_prompt=True, return_tensors="pt", return_dict=True
)["input_ids"]
target = torch.cat([prompt, tokenizer(wanted, return_tensors="pt")["input_ids"]], dim=1)
model = AutoModelForCausalLM.from_pretrained(base, use_safetensors=True)

def told(model):
    model.eval()
    with torch.no_grad():
        said = model.generate(prompt, max_new_tokens=12, do_sample=False)[0, prompt.shape[1]:]
        labels = target.clone()
        labels[:, :prompt.shape[1]] = -100
        return {"text": tokenizer.decode(said), "loss": model(target, labels=labels).loss.item()}

before = told(model)
print(json.dumps({"base": before, "adapted": told(PeftModel.from_pretrained(model, adapter))}))
"""
ASKED, WANTED = "Write to the court.", "Dear Sir or Madam, thank you."


@pytest.fixture(scope="module")
def python() -> str:
    named = os.environ.get("MEMFLOW_SFT_PYTHON")
    if not named:
        pytest.skip("MEMFLOW_SFT_PYTHON names no Python with memflow's extra sft")
    return named


def told(python: str, program: str, *arguments: str) -> str:
    done = subprocess.run(
        [python, "-I", "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def tiny(python: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tiny")
    told(python, TINY, str(folder))
    return str(folder)


def example(case: str, asked: str = ASKED, wanted: str = WANTED) -> dict[str, object]:
    return {
        "case_id": case,
        "prompt": [{"role": "user", "content": asked}],
        "completion": [{"role": "assistant", "content": wanted}],
    }


def job(base: str, examples: list[dict[str, object]], how: Lora) -> Job:
    parameters = {name: getattr(how, name) for name in Lora.__dataclass_fields__}
    made_of = {"domain": "d", "action": "like", "backbone": "b", "scripted": False, "data": "digest"}
    return Job(
        examples, base, "", parameters, {**made_of, "cases": [str(each["case_id"]) for each in examples]}
    )


def test_lora_training_reduces_the_loss_of_the_wanted_answers(python: str, tiny: str, tmp_path: Path) -> None:
    examples = [
        *(example(f"case {number}") for number in range(6)),
        example("long answer", wanted="thank you " * 200),
        example("long request", asked="Dear Sir " * 200),
    ]
    steps: list[tuple[int, int, float]] = []
    manifest = Trainer(python).train(
        job(tiny, examples, Lora(learning_rate=2e-2, epochs=4, batch=4, length=128)),
        tmp_path / "liked",
        lambda *step: steps.append(step),
    )
    done = manifest.trained
    assert [step for step, _, _ in steps] == [*range(1, 9)] and {of for _, of, _ in steps} == {8}
    assert all(math.isfinite(loss) for _, _, loss in steps) and done.last_loss < done.first_loss
    assert (done.examples, done.steps, done.cut_short) == (7, 8, ["long answer"])
    assert [each.case_id for each in done.too_long] == ["long request"]
    assert done.trained_parameters > 0 and done.longest > 128
    assert done.versions["trl"] and set(done.base_files) >= {"config.json", "model.safetensors"}
    files = {path.name for path in (tmp_path / "liked").iterdir()}
    assert files >= {"adapter_model.safetensors", "adapter_config.json", "manifest.json", "training.log"}
    assert not any(name.endswith((".bin", ".pt", ".pkl")) for name in files)
    assert read_manifest(tmp_path / "liked") == manifest
    answers = json.loads(told(python, ANSWERS, tiny, str(tmp_path / "liked"), ASKED, WANTED))
    assert answers["adapted"]["text"] != answers["base"]["text"]
    assert answers["adapted"]["loss"] < answers["base"]["loss"]


def test_lora_training_of_the_same_job_gives_same_weights(python: str, tiny: str, tmp_path: Path) -> None:
    examples = [example(f"case {number}", wanted=f"{number} thanks") for number in range(3)]
    how = Lora(epochs=1, batch=1, length=64)
    first, second = (
        Trainer(python).train(job(tiny, examples, how), tmp_path / name).revision for name in ("one", "two")
    )
    assert first == second


def test_lora_training_does_not_download_a_missing_base_model(python: str, tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match="nobody/nothing is neither a folder nor in the local cache"):
        Trainer(python).train(job("nobody/nothing", [example("a")], Lora()), tmp_path / "liked")


def test_lora_training_fails_if_every_request_is_too_long(python: str, tiny: str, tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match="every request has at least 16 tokens"):
        Trainer(python).train(job(tiny, [example("a")], Lora(length=16)), tmp_path / "liked")
