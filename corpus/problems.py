"""What is wrong with something that came from outside, said so that a person can mend it."""

from __future__ import annotations

from benchmarks.items import Frozen


class Problem(Frozen):
    """One refused file or row."""

    file: str
    """Path of the file as the user named it or as found below the folder they named."""
    place: str = ""
    """Row, line, frame, joint or field within the file; empty when the whole file is meant."""
    reason: str
    """What was expected and what came, in one line."""

    def line(self) -> str:
        """Return the problem as one line: file, place, reason."""
        where = f"{self.file}: {self.place}" if self.place else self.file
        return f"{where}: {self.reason}"


class InputError(ValueError):
    """Input that cannot be used; the command line prints its one line and exits with 2."""

    def __init__(self, reason: str, *, file: str = "", place: str = "") -> None:
        """Keep the problem; the message is its line."""
        self.problem = Problem(file=file, place=place, reason=" ".join(reason.split()))
        super().__init__(self.problem.line() if file else self.problem.reason)
