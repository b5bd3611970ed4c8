"""Progress as bars of tqdm."""

from __future__ import annotations

from typing import Any

from .errors import UsageError

__all__ = ["Bars"]


class Bars:
    """Shows a bar of tqdm for each stage of a call."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise UsageError(
                "progress=True needs the package tqdm, which is not installed",
                "run `pip install tqdm`, or give a callable",
            ) from None
        self._tqdm: Any = tqdm
        self._bar: Any = None
        self._stage: str | None = None

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Shows that so many units of a stage are done."""
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar = self._tqdm(desc=stage, total=total, unit_scale=True)
            self._stage = stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Ends the current bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
