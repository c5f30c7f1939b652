"""The decisions of the gate, and the exit code that they amount to. gate.py computes them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

REGRESSION, NO_REGRESSION, CANNOT_TELL = "regression", "no regression", "cannot tell"
EXIT_CODES = {NO_REGRESSION: 0, REGRESSION: 1, CANNOT_TELL: 2}
MISUSE = 3
"""The exit code of a wrong command line and of a file that cannot be read: nothing was compared."""
WHOLE = "all"
"""The slice of all probes."""
MARGIN = 0.03
"""The loss that is accepted, as a share of the metric's range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """The decision on one metric and slice. `value`, `baseline` and `difference` (new - old) are over the pairs.

    `state` is REGRESSION, NO_REGRESSION or CANNOT_TELL. `low` and `high` are the ends of the 95 % interval of the
    difference, `margin` the accepted loss in the metric's unit (None without a range), and `missing` the number of
    probes with a value for only one of the two. `required` states whether the exit code 0 depends on it. `reason`
    explains a decision that is left open.
    """

    metric: str
    variant: str
    slice: str
    required: bool
    state: str
    value: float | None
    baseline: float | None
    difference: float | None
    low: float | None
    high: float | None
    margin: float | None
    p_adjusted: float | None
    n: int
    n_episodes: int
    missing: int
    reason: str | None = None

    @property
    def name(self) -> str:
        """The metric, its variant unless it is `standard`, and the slice unless it has all probes."""
        variant = "" if self.variant == "standard" else f" ({self.variant})"
        return f"{self.metric}{variant}" + (f", {self.slice}" if self.slice != WHOLE else "")


@dataclass(frozen=True)
class GateResult:
    """The decisions, the families of tests in words, and faults of the whole comparison, which leave it open.

    `notices` are differences of settings that do not prevent the comparison, and other remarks.
    """

    decisions: Sequence[GateDecision] = ()
    families: Sequence[str] = ()
    faults: Sequence[str] = ()
    notices: Sequence[str] = ()

    @property
    def state(self) -> str:
        """The decision over all rows: a regression if a row is one, else open if a required row is open."""
        if self.faults or not self.decisions:
            return CANNOT_TELL
        if any(decision.state == REGRESSION for decision in self.decisions):
            return REGRESSION
        required_states = {decision.state for decision in self.decisions if decision.required}
        return NO_REGRESSION if required_states == {NO_REGRESSION} else CANNOT_TELL

    @property
    def exit_code(self) -> int:
        """The exit code of `memflow gate`."""
        return EXIT_CODES[self.state]


@dataclass(frozen=True)
class GateOptions:
    """The metrics and slices that the gate decides on.

    Without `slices`, all probes are required, and a regression in any slice counts.
    With `slices`, exactly these are compared, and all of them are required; `all` stands for all probes. The named
    `metrics` are required; without any, those of enough episodes for a decision are. `identical` states that nothing
    that the verdicts depend on differs.
    """

    margin: float = MARGIN
    metrics: Collection[str] = ()
    slices: Collection[str] = ()
    identical: bool = False

    def chosen(self, slice_name: str) -> bool:
        """Return whether a slice is compared."""
        return not self.slices or slice_name in self.slices

    def required(self, slice_name: str) -> bool:
        """Return whether exit code 0 depends on a slice."""
        return slice_name in (self.slices or {WHOLE})


@dataclass(frozen=True)
class GateReport:
    """The run and the baseline as the user named them, the decisions, and the label of the compared results."""

    domain: str
    assistant: str
    baseline: str
    options: GateOptions
    label: str | None = None
    result: GateResult = field(default_factory=GateResult)
