"""The form of `paper.yaml`, which a benchmark's package has beside `paper.csv`: the tables and figures of its paper.

    title: "AMemGym: ..."
    source: arXiv 1234.56789v1
    tables:
      table2:
        title: Memory scores
        profile: published              # of the domains; the default is `paper`
        repeats: 5                      # evaluations of each assistant; repeats_of: answers, run or judge
        sample: 20                      # as --limit; 0 takes all
        assistants: [oracle]            # what runs beside the assistants of rows and columns
        cells: {metric: memory_score, published: {model: gpt-4.1-mini}}      # what every cell has
        rows:                           # by the paper's label, which is also the published `system`
          RAG-(2,4,30): {assistant: rag_2_4_30}
        columns:
          On-policy: {domain: amemgym_base, published: {slice: on_policy}}

Every cell of the table has the fields of `cells`, its row and its column; the column's replace the row's. A table that
cannot be run has `unavailable`, with the data or the model that is missing; so may a row or a column.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.domain_names import DEFAULT_PROFILE, ProtocolProfile
from memflow.repeats import Kind


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PublishedKey(_Strict):
    """The columns of `paper.csv` that select the published value of a cell; a column that is not named may differ.

    `table` is by default the name of the table (`table2` is `Table 2`), `system` the label of the row, and `metric` the
    metric of the cell.
    """

    table: str | None = None
    system: str | None = None
    model: str | None = None
    slice: str | None = None
    metric: str | None = None


class CellFields(_Strict):
    """What the cells of a table, row or column have in common. All fields are optional in each of the three."""

    domain: str | None = None
    """A domain without profile and sample, which the table has."""
    assistant: str | None = None
    """A memory with its parameters, as `--memory` has it."""
    model: str | None = None
    """The paper's name of a model, where it compares models: only its results and values belong into the cell."""
    metric: str | None = None
    variant: str | None = None
    """The variant of the metric that the paper prints; `standard` by default."""
    slice: str | None = None
    """A slice of the leaderboard; `all` by default."""
    statistic: Literal["value", "repeat_mean", "repeat_deviation", "noise"] | None = None
    """The score's `value` by default; with repeats its mean, or their standard deviation: `repeat_deviation`, or pooled
    over the assistants of the domain (`noise`)."""
    view: str | None = None
    """A view of `memflow show` that has the value, instead of the leaderboard: in the column `value` of the only record
    whose columns equal `where`, and whose `domain` and `assistant` are the cell's, if it has these columns."""
    where: dict[str, str] = {}
    value: str | None = None
    scale: float | None = None
    """What memflow's value is multiplied by, such as 100 where the paper prints percent."""
    minus: "CellFields | None" = None
    """The cell is the difference to the cell with these other fields, such as `{assistant: none}`."""
    absolute: bool | None = None
    """Whether `minus` counts without its sign."""
    differs: str | None = None
    """In what the published value is of another kind, such as another variant or sample. It stands at the value."""
    unavailable: str | None = None
    """Why memflow has no value for the cell: which data or model is missing."""
    published: PublishedKey = PublishedKey()


class PaperTable(_Strict):
    """A table or figure of a paper."""

    title: str
    name: str = ""
    """Its name in the paper and in `paper.csv`; by default from the id, as `table2` is `Table 2`."""
    profile: ProtocolProfile = DEFAULT_PROFILE
    repeats: int = Field(1, ge=1)
    repeats_of: Kind = Kind.run
    sample: int = Field(0, ge=0)
    assistants: tuple[str, ...] = ()
    cells: CellFields = CellFields()
    rows: dict[str, CellFields] = {}
    columns: dict[str, CellFields] = {}
    note: str = ""
    """What a reader has to know of the table or its run, in a sentence."""
    unavailable: str = ""
    """Why it cannot be run: which data or model is missing, or that it has no values."""


class Paper(_Strict):
    """The content of `paper.yaml`. `source` is what a reader can look up, such as `arXiv 1234.56789v1`."""

    title: str
    source: str
    tables: dict[str, PaperTable]
