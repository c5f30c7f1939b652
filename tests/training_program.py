"""A training program without torch: it writes an adapter whose weights are the text of its parameters."""

import json

DONE = {
    "event": "done",
    "examples": 2,
    "too_long": [],
    "cut_short": ["b"],
    "longest": 40,
    "steps": 2,
    "first_loss": 2.0,
    "last_loss": 1.5,
    "trained_parameters": 64,
    "adapted_modules": ["q_proj"],
    "schedule": {"optimiser": "adamw", "warm_up_steps": 0},
    "seconds": 0.5,
    "device": "cpu",
    "precision": "float32",
    "base_files": {"config.json": "0" * 64},
    "versions": {"trl": "1"},
}
LEARNS = f"""\
import json, pathlib, sys
folder = pathlib.Path(sys.argv[-1])
job = json.loads((folder / "job.json").read_text())
lines = (folder / "examples.jsonl").read_text().split("\\n")
print("learning", file=sys.stderr)
for step, line in enumerate(filter(None, lines), 1):
    json.loads(line)
    print(json.dumps({{"event": "step", "step": step, "of": 2, "loss": 2.5 - step / 2}}), flush=True)
(folder / "adapter").mkdir()
(folder / "adapter" / "adapter_model.safetensors").write_text(json.dumps(job["parameters"]))
(folder / "adapter" / "adapter_config.json").write_text("{{}}")
print({json.dumps(DONE)!r})
"""
