"""The pipeline steps before an evaluation: records, states, utterances, gold labels, probes and feedback.

Each step reads what the data set publishes or calls the simulator; the benchmark decides which. memflow/pipeline.py
defines the order of the steps and their inputs.
"""

from memflow.benchmarks.capabilities import SimulatedFeedback
from memflow.benchmarks.step_values import Annotators
from memflow.memories.memory import Tools
from memflow.run.context import STATES, StepContext, Tables


async def read_records(context: StepContext) -> Tables:
    """Read the published files of a data set."""
    return {"raw.records": context.benchmark.records(context.dataset, context.files)}


async def generate_states(context: StepContext) -> Tables:
    """Generate or read the users' structured states."""
    simulator = await context.models.role("simulator")
    states = await context.benchmark.states(context.domain, context.rows("raw.records"), simulator)
    tables = (states.profiles, states.variables, states.changes, states.entities)
    return dict(zip(STATES, tables, strict=True))


async def generate_turns(context: StepContext) -> Tables:
    """Generate or read the messages of each episode."""
    simulator = await context.models.role("simulator")
    records = context.rows("raw.records")
    return {
        "utterance.turns": await context.benchmark.turns(context.domain, records, context.states(), simulator)
    }


async def annotate_labels(context: StepContext) -> Tables:
    """Annotate the gold label of each checkpoint with two models, where the benchmark has prompts for it."""
    annotators = None
    if context.benchmark.annotation_prompts(context.domain):
        annotator, verifier = await context.models.role("annotator"), await context.models.role("verifier")
        annotators = Annotators(annotator, verifier, context.models.expect)
    records, turns = context.rows("raw.records"), context.rows("utterance.turns")
    return {"question.keys": await context.benchmark.gold_labels(context.domain, records, turns, annotators)}


async def generate_probes(context: StepContext) -> Tables:
    """Generate or read the questions with their gold answers and evidence."""
    probes = await context.benchmark.probes(
        context.domain,
        context.rows("raw.records"),
        context.states(),
        context.rows("utterance.turns"),
        await context.models.role("simulator"),
        context.rows("question.keys"),
    )
    return {"question.probes": probes}


async def simulate_feedback(context: StepContext) -> Tables:
    """Let the backbone answer the training cases, and the simulator react to its answers."""
    if not isinstance(context.benchmark, SimulatedFeedback):
        return {"feedback.sessions": []}
    backbone, simulator = await context.models.role("backbone"), await context.models.role("simulator")
    rounds = await context.benchmark.feedback(
        context.domain,
        context.rows("utterance.turns"),
        context.rows("question.probes"),
        backbone,
        simulator,
        Tools(backbone, await context.models.embedder()),
    )
    return {"feedback.sessions": rounds}
