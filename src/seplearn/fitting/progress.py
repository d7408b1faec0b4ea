"""What is shown while a fit runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tqdm.auto import tqdm

from seplearn.fitting.stagewise import OnStage
from seplearn.model.record import StageRecord
from seplearn.model.stage import Stage
from seplearn.table.training import TargetUnit

Callback: TypeAlias = Callable[[Stage, StageRecord], bool | None]


@contextmanager
def progress(
    n_stages: int, unit: TargetUnit, shown: bool, callback: Callback | None
) -> Iterator[OnStage]:
    """A bar over the stages with the current loss, and a callback; both in the unit of y.

    The fit itself runs on y in ``unit``.
    """
    with tqdm(total=n_stages, desc="TSL stages", disable=not shown, leave=True) as bar:

        def on_stage(stage: Stage, record: StageRecord) -> bool:
            record = record.scaled(unit.scale, unit.origin)
            bar.set_postfix_str(f"loss {record.loss:.4g}", refresh=False)
            bar.update()
            return callback is not None and callback(stage.scaled(unit.scale), record) is True

        yield on_stage
