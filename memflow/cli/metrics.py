"""`memflow show metrics`: the catalog of metrics, and the entry points that provide no usable metric."""

from memflow.cli.output import Format, FormatOption, answer, note, records_table


def metrics(form: FormatOption = Format.text) -> None:
    """List every metric: whether higher or lower is better, its range, the benchmarks that it is primary for, and its
    source.

    Metrics of installed packages that cannot be used are listed with the package and the reason.
    """
    from memflow.scoring.catalog import catalog_rows, unusable_metrics

    rows, unusable = catalog_rows(), unusable_metrics()
    shown = [
        {
            "metric": row["metric"],
            "better": row["direction"],
            "from": "" if row["low"] is None else f"{row['low']:g}",
            "to": "" if row["high"] is None else f"{row['high']:g}",
            "primary for": row["primary_for"],
            "source": row["source"],
        }
        for row in rows
    ]
    answer(
        form,
        {"metrics": rows, "unusable": [vars(metric) for metric in unusable]},
        records_table(shown, right=("from", "to")),
        *(note(f"unusable: {metric.name} of {metric.package}: {metric.reason}") for metric in unusable),
    )
