"""memflow's pipeline and assets of our own, as one Dagster project."""
