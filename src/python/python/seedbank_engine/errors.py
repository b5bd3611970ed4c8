"""Exceptions, one class for each kind of error.

Every exception has a ``hint``, which says what to do, or ``None``.
"""

from __future__ import annotations

__all__ = [
    "BusyError",
    "DamagedError",
    "NotFoundError",
    "RefusedError",
    "SeedbankError",
    "UnavailableError",
    "UsageError",
]


class SeedbankError(Exception):
    """An error of the bank, or of the system, such as a full disk."""

    hint: str | None
    """What to do about the error; ``None`` if there is no advice."""

    def __init__(self, text: str = "", hint: str | None = None) -> None:
        super().__init__(text)
        self.hint = hint

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\nhint: {self.hint}" if self.hint else text


class UsageError(SeedbankError):
    """The arguments of a call are invalid."""


class NotFoundError(SeedbankError):
    """The bank does not contain what was asked about."""


class RefusedError(SeedbankError):
    """A batch was refused. The bank is unchanged."""

    bad_records: int = 0
    """The number of bad records, if the batch was refused because of them."""
    records: int = 0
    """The number of all records that were read."""
    rejects_file: str | None = None
    """The file that lists the bad records; ``None`` without one."""


class UnavailableError(SeedbankError):
    """There is no bank, or it has another format."""


class BusyError(UnavailableError):
    """Another process, or another thread, writes to the bank."""


class DamagedError(UnavailableError):
    """The bank is damaged."""
