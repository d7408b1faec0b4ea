"""The rows of a joint fit in blocks, and what a sweep does to one block.

Functions here take a block first, and small arrays: whoever carries the blocks can send them to
where the block is and get sums back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from seplearn.fitting.joint.curves import whole_of
from seplearn.kernels import rows as kernels
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.losses import ClassLogLoss, Loss
from seplearn.table.blocks import block_parts, spread_rows

_SPARE_STAGES = 4  # which a stack of products has room for: a copy of all for every stage is slow


@dataclass(eq=False)
class RowBlock:
    """Some rows: what they are, and where the fit stands on them.

    Attributes
    ----------
    codes : array of shape (p, n)
        Bins; an axis is one contiguous row, because a sweep visits axis by axis.
    target, weight, offset : arrays of shape (n,)
        The offset is what is added to the sum of the curves from the start.
    response, working : arrays of shape (n,)
        The least-squares problem of this sweep; the target and the weight for squared error.
    residual : array of shape (n,)
        The response minus the sum of the offset and all curves.
    products : list of arrays of shape (2, n)
        P+ and P- of every stage.
    others : array of shape (n,)
        Of one of several classes: the log of a sum of exponentials over the classes after it, or,
        once it was swept, over those up to it.
    """

    codes: CodeArray
    target: FloatArray
    weight: FloatArray
    offset: FloatArray
    response: FloatArray
    working: FloatArray
    residual: FloatArray
    products: list[FloatArray] = field(default_factory=list)
    others: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def eta(self) -> FloatArray:
        """The sum of the offset and all curves."""
        return self.response - self.residual

    @property
    def sums(self) -> FloatArray:
        """The sum of all curves, without the offset."""
        return self.eta - self.offset


def row_blocks(
    codes: CodeArray,
    target: FloatArray,
    weight: FloatArray,
    offset: FloatArray,
    residual: FloatArray,
) -> list[RowBlock]:
    """Blocks of a table of bins (n, p); their residuals are views of ``residual``."""
    blocks = []
    for part in block_parts(len(target)):
        own = np.ascontiguousarray(codes[part].T)
        y, w = target[part], weight[part]
        blocks.append(RowBlock(own, y, w, offset[part], y, w, residual[part]))
    return blocks


def reweighted(blocks: list[RowBlock], weight: FloatArray) -> list[RowBlock]:
    """The blocks with other weights, and residuals and products of their own."""
    copies, first = [], 0
    for block in blocks:
        own = weight[first : first + len(block.weight)]
        first += len(own)
        products = [pair.copy() for pair in block.products]
        copies.append(
            replace(
                block, weight=own, working=own, residual=block.residual.copy(), products=products
            )
        )
    return copies


def begin(block: RowBlock, loss: Loss, intercept: float) -> None:
    """Take the first least-squares problem of a loss with a link, at a constant."""
    eta = block.offset + intercept
    block.response, block.working = loss.working(block.target, eta, block.weight)
    block.residual[:] = block.response - eta


def renew(block: RowBlock, loss: Loss, level: float = 0.0) -> None:
    """Take the least-squares problem of the next sweep at the sums of this moment.

    With a ``level`` it is taken at sums that are higher by that.
    """
    response, block.working = loss.working(block.target, block.eta + level, block.weight)
    if response is not block.response:
        block.residual += response - block.response
        block.response = response


def eta(block: RowBlock) -> FloatArray:
    """The sums of the offset and all curves of the rows."""
    return block.eta


def sums(block: RowBlock) -> FloatArray:
    """The sums of all curves of the rows."""
    return block.sums


def some_misses(block: RowBlock, share: float) -> FloatArray:
    """How far the sums are off the target, of a share of the rows."""
    return (block.target - block.eta)[spread_rows(len(block.target), share)]


def some_weights(block: RowBlock, share: float) -> FloatArray:
    """The weights of the rows that :func:`some_misses` tells of."""
    return block.weight[spread_rows(len(block.target), share)]


def values(block: RowBlock, name: str) -> FloatArray:
    """What the rows have of something: their residual, say."""
    found: FloatArray = getattr(block, name)
    return found


def _put_offset(block: RowBlock, offset: FloatArray, loss: Loss) -> None:
    """Add something else to the curves, whose sums stay; the rows' problem follows."""
    block.residual -= offset - block.offset
    block.offset = offset
    renew(block, loss)


def share_codes(blocks: Sequence[RowBlock]) -> None:
    """Have the bins of the same rows of several fits in one array."""
    for block in blocks[1:]:
        block.codes = blocks[0].codes


def face_all_others(blocks: Sequence[RowBlock], k: int, loss: Loss) -> None:
    """Let the sum of class ``k`` stand against those of all others as they are."""
    others = [block.sums for j, block in enumerate(blocks) if j != k]
    _put_offset(blocks[k], -np.logaddexp.reduce(others), loss)


def look_ahead(blocks: Sequence[RowBlock]) -> None:
    """Note for every class what the classes after it come to."""
    blocks[-1].others = np.full(len(blocks[-1].target), -np.inf)
    for block, after in zip(blocks[-2::-1], blocks[:0:-1], strict=True):
        block.others = np.logaddexp(after.others, after.sums)


def face_others(blocks: Sequence[RowBlock], k: int, loss: Loss) -> None:
    """Let the sum of class ``k`` stand against the classes before and after it."""
    others = np.logaddexp(_before(blocks, k), blocks[k].others)
    _put_offset(blocks[k], -others, loss)


def look_back(blocks: Sequence[RowBlock], k: int) -> None:
    """Note what the classes up to ``k`` come to, now that it was swept."""
    blocks[k].others = np.logaddexp(_before(blocks, k), blocks[k].sums)


def _before(blocks: Sequence[RowBlock], k: int) -> FloatArray:
    return blocks[k - 1].others if k else np.full(len(blocks[0].target), -np.inf)


def class_loss_sums(blocks: Sequence[RowBlock]) -> FloatArray:
    """Sums of the log-loss of several classes, and of the weight."""
    own = np.argmax([block.target for block in blocks], axis=0).astype(np.float64)
    losses = ClassLogLoss().of_rows(own, np.column_stack([block.sums for block in blocks]))
    weight = blocks[0].weight
    return np.array([np.sum(weight * losses), np.sum(weight)])


def residual_sums(block: RowBlock) -> FloatArray:
    """Sums of w r, of w and of w r^2 with the working weight, and of the weight itself."""
    return np.array(kernels.weighted_residuals(block.residual, block.working, block.weight))


def loss_sums(
    block: RowBlock, of_rows: Callable[[FloatArray, FloatArray], FloatArray]
) -> FloatArray:
    """Sums of what a loss says of every row, and of the weight."""
    losses = of_rows(block.target, block.eta)
    return np.array([np.sum(block.weight * losses), np.sum(block.weight)])


def lower(block: RowBlock, amount: float) -> None:
    """Take a constant off the residuals."""
    block.residual -= amount


def moments(block: RowBlock, stage: int) -> FloatArray:
    """The moments of a stage over the rows."""
    out = np.empty(kernels.N_MOMENTS)
    kernels.fill_moments(block.products[stage], block.residual, block.working, block.weight, out)
    return out


def advance(
    block: RowBlock, stage: int, left: int, factors: FloatArray, entered: int, n_bins: int
) -> FloatArray:
    """Apply the factors of the axis left; the sums of the axis entered."""
    sums = np.zeros((n_bins, 8))
    kernels.advance(
        block.codes[left],
        factors,
        block.codes[entered],
        block.products[stage],
        block.residual,
        block.working,
        sums,
    )
    return sums


def leave(block: RowBlock, stage: int, left: int, factors: FloatArray) -> None:
    """Apply the factors of the last axis of a stage."""
    kernels.leave(block.codes[left], factors, block.products[stage], block.residual)


def advance_effect(
    block: RowBlock, left: int, step: FloatArray, entered: int, n_bins: int
) -> FloatArray:
    """Apply the step of the main effect left; the sums of the axis entered."""
    sums = np.zeros((n_bins, 2))
    kernels.advance_effect(
        block.codes[left], step, block.codes[entered], block.residual, block.working, sums
    )
    return sums


def leave_effect(block: RowBlock, left: int, step: FloatArray) -> None:
    """Apply the step of the last main effect."""
    kernels.leave_effect(block.codes[left], step, block.residual)


def add_stage(
    block: RowBlock, offset: IntArray, curves: FloatArray, scale: FloatArray, present: BoolArray
) -> None:
    """The products of one more stage, taken off the residuals."""
    products = _room_behind(block.products)
    if products is None:
        products = np.empty((2, len(block.residual)))
    kernels.fill_products(block.codes, offset, curves, scale, present, products, block.residual)
    block.products.append(products)


def _room_behind(products: list[FloatArray]) -> FloatArray | None:
    """The place of one more stage in the stack of all products; None if there is none."""
    stack = whole_of(products)
    room = None if stack is None else stack.base
    return room[len(products)] if room is not None and len(products) < len(room) else None


def stacked_products(block: RowBlock) -> FloatArray:
    """The products of all stages as one array (n_stages, 2, n); theirs become parts of it."""
    own = block.products
    stack = whole_of(own)
    if stack is None:
        room = np.empty((len(own) + _SPARE_STAGES, 2, len(block.residual)))
        stack = room[: len(own)]
        for k, pair in enumerate(own):
            stack[k] = pair
        own[:] = stack
    return stack


def drop_stage(block: RowBlock, stage: int) -> None:
    """Forget a stage; what it said is in the constant now."""
    del block.products[stage]


def predict_anew(block: RowBlock, offset: IntArray, intercept: float, effects: FloatArray) -> None:
    """Residuals of the constant and the main effects alone; stages are to be added again."""
    block.products.clear()
    block.residual[:] = block.response - block.offset - intercept
    kernels.take_off_effects(block.codes, offset, effects, block.residual)


def cancellation_sums(block: RowBlock, offset: IntArray, effects: FloatArray) -> FloatArray:
    """Sums over rows of the sizes of products and main effects, and of what they come to."""
    size, net = np.zeros(len(block.weight)), np.zeros(len(block.weight))
    if effects.any():
        for first, codes in zip(offset[:-1], block.codes, strict=True):
            values = effects[first + codes.astype(np.int64)]
            size += np.abs(values)
            net += values
    plus, minus = total = np.zeros((2, len(block.weight)))
    for pair in block.products:
        total += pair
    size += plus + minus
    net += plus - minus
    return np.array([np.sum(block.weight * size), np.sum(block.weight * np.abs(net))])
