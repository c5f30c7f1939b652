"""The settings: memflow.toml, its sections, the paths and prompt folders that it names."""
