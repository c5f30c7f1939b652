"""Problems that a library logs instead of raising, collected so that they become failures of a write."""

import logging


class LoggedProblems(logging.Handler):
    """Collect the warnings and errors of a logger: `with LoggedProblems("mem0") as problems: ... problems.found`."""

    def __init__(self, logger: str, level: int = logging.WARNING) -> None:
        super().__init__(level)
        self._logger = logging.getLogger(logger)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of a record."""
        self.found.append(record.getMessage()[:500])

    def __enter__(self) -> "LoggedProblems":
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
