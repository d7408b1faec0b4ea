"""What is shown while a fit runs: one bar over all of it, or a line now and then."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
from tqdm.auto import tqdm

from seplearn.model.record import StageRecord
from seplearn.model.stage import Stage
from seplearn.table.training import TargetUnit

Callback: TypeAlias = Callable[[Stage, StageRecord], bool | None]
OnStage: TypeAlias = Callable[[Stage, StageRecord], bool]

_BAR = "{desc} {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
_IN_NOTEBOOK = any("notebook" in base.__module__ for base in tqdm.__mro__)
NO_STEP = "no further stage finds anything"  # reasons why growth may end
NO_BETTER = "more stages predict held-out rows no better"
ASKED = "the callback asked for it"
_FEWEST_SECONDS, _LEAST_SHARE = 0.5, 0.01  # before, what remains would be a guess
_MINUTE, _HOUR = 60, 3600


class Progress:
    """A bar over the whole fit with what it is doing and an estimate of what remains.

    Where nobody sees a bar move, as in a file of messages, every step is a line instead. Work is
    counted in any unit in which its parts are about as long as each other: what remains is as
    much, at the pace so far. The callback of the user is told of stages here too. Both see losses
    in the unit of y; the fit itself runs on y in ``unit``.
    """

    def __init__(
        self, unit: TargetUnit, degree: int, shown: bool, callback: Callback | None = None
    ) -> None:
        self._to_y = (unit.scale, unit.origin, degree)
        self._shown, self._callback = shown, callback
        self._lock = threading.Lock()
        self._done, self._total = 0.0, 1.0
        self._is_at_most = False
        self._loss: tuple[str, float] | None = None
        self._bar: Any = None

    def __enter__(self) -> Progress:
        self._started = time.perf_counter()
        if self._shown and (_IN_NOTEBOOK or (sys.stderr is not None and sys.stderr.isatty())):
            self._bar = tqdm(total=self._total, desc="fit: reading the table", bar_format=_BAR)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is None:
            return
        if kind is None:
            self._bar.total = self._bar.n = 1.0
            self._bar.set_description_str("fit: done", refresh=False)
            self._bar.set_postfix_str("", refresh=False)
        self._bar.close()

    def stage(self, number: int, n_stages: int, remaining: float, chooses: bool = False) -> None:
        """Say which stage comes now, and how much work is left with it.

        Where growth ``chooses`` the number of stages it may be less.
        """
        self._is_at_most = chooses
        if chooses:
            self._begin(f"choosing the size, stage {number} of at most {n_stages}", remaining)
        else:
            self._begin(f"growing, stage {number} of {n_stages}", remaining)

    def phase(self, text: str, remaining: float) -> None:
        """Say what comes after growth, and how much work is left with it."""
        self._is_at_most, self._loss = False, None
        self._begin(text, remaining)

    def _begin(self, text: str, remaining: float) -> None:
        self._total = self._done + remaining
        if self._bar is not None:
            self._bar.set_description_str(f"fit: {text}", refresh=False)
            self._show()
        else:
            self._line(f"fit: {text}", self._left)

    def did(self, work: float) -> None:
        """Move on; several threads may do so at once."""
        if not self._shown:
            return
        with self._lock:
            self._done += work
            if self._bar is not None:
                self._show()

    def say(self, text: str) -> None:
        """Say something that is to stay: why growth ended, or what was chosen."""
        if self._bar is not None:
            self._bar.write(f"fit: {text}", file=sys.stderr)
        else:
            self._line(f"fit: {text}")

    def stopped(self, n_stages: int, why: str) -> None:
        """Say why growth ended before as many stages as were allowed."""
        self.say(f"growth stopped after {stages_text(n_stages)}: {why}")

    def on_stage(self, stage: Stage, record: StageRecord) -> bool:
        """Take note of a new stage; whether the callback asks the growth to end."""
        record = record.scaled(*self._to_y)
        held_out = record.validation_loss
        self._loss = ("loss", record.loss) if held_out is None else ("held-out loss", held_out)
        if self._callback is None:
            return False
        answer = self._callback(stage.scaled(self._to_y[0]), record)
        return isinstance(answer, (bool, np.bool_)) and bool(answer)

    @property
    def _left(self) -> str:
        """The last loss, and how long the rest will take at the pace so far."""
        parts = [] if self._loss is None else [f"{self._loss[0]} {self._loss[1]:.4g}"]
        elapsed = time.perf_counter() - self._started
        if self._done > _LEAST_SHARE * self._total and elapsed >= _FEWEST_SECONDS:
            rest = elapsed * (self._total - self._done) / self._done
            parts.append(f"{'at most' if self._is_at_most else 'about'} {_duration(rest)} left")
        return ", ".join(parts)

    def _show(self) -> None:
        self._bar.set_postfix_str(self._left, refresh=False)
        share = min(self._done / self._total, 1.0) if self._total > 0.0 else 1.0
        self._bar.total = 1.0
        self._bar.update(share - self._bar.n)

    def _line(self, text: str, more: str = "") -> None:
        if self._shown and sys.stderr is not None:
            print(f"{text}; {more}" if more else text, file=sys.stderr, flush=True)


def stages_text(n_stages: int) -> str:
    """So many stages, in words."""
    return f"{n_stages} stage{'' if n_stages == 1 else 's'}"


def _duration(seconds: float) -> str:
    """Seconds as a reader would say them."""
    if seconds < _MINUTE:
        return f"{math.ceil(seconds)} s"
    if seconds < _HOUR:
        return f"{math.ceil(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"
