"""`memflow show metrics`: the catalog of metrics, and the entry points that provide no usable metric."""

from memflow.cli.output import Format, FormatOption, answer, note, table


def metrics(form: FormatOption = Format.text) -> None:
    """List every metric: whether higher or lower is better, its range, the benchmarks that it is primary for, and its
    source.

    Metrics of installed packages that cannot be used are listed with the package and the reason.
    """
    from memflow.scoring.catalog import catalog_rows, unusable_metrics

    rows, unusable = catalog_rows(), unusable_metrics()
    columns = ("metric", "better", "from", "to", "primary for", "source")
    shown = [
        (
            row["metric"],
            row["direction"],
            *("" if row[end] is None else f"{row[end]:g}" for end in ("low", "high")),
            ", ".join(row["primary_for"]),
            row["source"],
        )
        for row in rows
    ]
    answer(
        form,
        {"metrics": rows, "unusable": [vars(each) for each in unusable]},
        table("", columns, shown, right=("from", "to")),
        *(note(f"unusable: {each.name} of {each.package}: {each.reason}") for each in unusable),
    )
