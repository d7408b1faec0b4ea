"""Models of different bins brought to the same bins, and averaged there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.model.classes import ClassModels, Model
from seplearn.model.edit import weighted_mean_model
from seplearn.model.model import SeparationModel
from seplearn.model.rebin import old_levels, with_bins
from seplearn.model.reference import Reference
from seplearn.table.binning import (
    MAX_BINS,
    MAX_LEVELS,
    Axis,
    Bins,
    CategoricalAxis,
    NumericAxis,
    in_order,
)
from seplearn.table.description import AxisDescription


def merged(models: Sequence[Model], weights: Sequence[float], names: Sequence[str]) -> Model:
    """The weighted average of models of the same features and link; weights sum to one."""
    joint = _JointBins.of([model.bins for model in models], weights, names)
    classes = [model.models for model in models if isinstance(model, ClassModels)]
    alone = [model for model in models if isinstance(model, SeparationModel)]
    of_sums = zip(*classes, strict=True) if classes else [alone]
    own = tuple(_merged(of_sum, weights, joint) for of_sum in of_sums)
    if all(model.is_constant for model in own):  # nothing that a band could be of
        own = tuple(replace(model, replicates=()) for model in own)
    return ClassModels(own) if classes else own[0]


def _merged(
    models: Sequence[SeparationModel], weights: Sequence[float], joint: _JointBins
) -> SeparationModel:
    moved = [with_bins(model, joint.bins, joint.sources[k]) for k, model in enumerate(models)]
    mean = weighted_mean_model(moved, weights)
    n_replicates = {len(model.replicates) for model in models}
    replicates: tuple[SeparationModel, ...] = ()
    if len(n_replicates) == 1:
        refits = zip(*(model.replicates for model in moved), strict=True)
        replicates = tuple(weighted_mean_model(own, weights) for own in refits)
    return replace(
        mean,
        replicates=replicates,
        reference=_joined_rows(models, weights, joint),
        bags=(),
        size_paths=(),
        edits=(),
    )


def _joined_rows(
    models: Sequence[SeparationModel], weights: Sequence[float], joint: _JointBins
) -> Reference | None:
    """The rows that all models keep, those of a model counting by its weight."""
    kept = [model.reference for model in models if model.reference is not None]
    if len(kept) < len(models):
        return None
    codes = [joint.new_codes(rows.codes, k) for k, rows in enumerate(kept)]
    weight = [rows.weight * share for rows, share in zip(kept, weights, strict=True)]
    return Reference(np.concatenate(codes), np.concatenate(weight))


@dataclass(frozen=True, eq=False)
class _JointBins:
    """Bins fine enough for several models.

    Attributes
    ----------
    bins : Bins
    sources : list of array of shape (n_flat,)
        For every model the flat old bin in which each flat new bin lies.
    targets : list of list of array
        For every model and feature the new bin that stands for each old one.
    """

    bins: Bins
    sources: list[IntArray]
    targets: list[list[IntArray]]

    @staticmethod
    def of(given: Sequence[Bins], weights: Sequence[float], names: Sequence[str]) -> _JointBins:
        axes: list[Axis] = []
        sources: list[list[IntArray]] = [[] for _ in given]
        targets: list[list[IntArray]] = [[] for _ in given]
        frequencies = []
        for j, name in enumerate(names):
            olds = [bins.axes[j] for bins in given]
            axis = _joint_axis(olds, name)
            total = np.zeros(axis.n_bins)
            for k, (bins, old) in enumerate(zip(given, olds, strict=True)):
                source = _bins_of_lower_ends(axis, old)
                shares = _shares(axis, old, source)
                sources[k].append(source + int(bins.offset[j]))
                targets[k].append(_standing_for(source, shares, old.n_bins))
                total += weights[k] * shares * bins.frequencies[bins.axis(j)][source]
            axes.append(axis)
            frequencies.append(total / total.sum())
        joint = Bins(tuple(axes), np.concatenate(frequencies))
        return _JointBins(joint, [np.concatenate(own) for own in sources], targets)

    def new_codes(self, codes: CodeArray, k: int) -> CodeArray:
        """The bins of rows of one model among the joint ones."""
        columns = [place[codes[:, j]] for j, place in enumerate(self.targets[k])]
        return np.stack(columns, axis=1).astype(np.uint16)


def _joint_axis(olds: Sequence[Axis], name: str) -> Axis:
    numeric = [axis for axis in olds if isinstance(axis, NumericAxis)]
    if len(numeric) == len(olds):
        return _joint_numbers(numeric, name)
    return _joint_levels([axis for axis in olds if isinstance(axis, CategoricalAxis)], name)


def _joint_numbers(olds: Sequence[NumericAxis], name: str) -> NumericAxis:
    """All edges of all models."""
    edges = np.unique(np.concatenate([axis.edges for axis in olds]))
    if len(edges) >= MAX_BINS:
        raise ValueError(
            f"models must have at most {MAX_BINS} bins of a feature together, got "
            f"{len(edges) + 1} of {name!r}; merge fewer, or fit them with a smaller max_bins"
        )
    ends = [axis.range for axis in olds if axis.range is not None]
    span = (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None
    values = [axis.values for axis in olds if axis.values is not None]
    known = None
    if len(values) == len(olds):
        distinct = np.unique(np.concatenate(values))
        places = np.searchsorted(edges, distinct, side="right")
        if np.array_equal(places, np.arange(len(edges) + 1)):
            known = distinct
    return NumericAxis(edges, known, span)


def _joint_levels(olds: Sequence[CategoricalAxis], name: str) -> CategoricalAxis:
    """All levels of all models; only what is rare in each of them is rare.

    A level that is rare in one model and unknown to another is told apart from both: it has a bin
    of its own.
    """
    known = {level for axis in olds for level in (*axis.levels, *axis.rare)}
    rare = set.intersection(*(set(axis.rare) for axis in olds))
    truths = {text: level for axis in olds for text, level in axis.describe().other_names.items()}
    if truths and known <= {*truths, *truths.values()}:  # 0 and 1 of one are truth values of others
        known = {truths.get(level, level) for level in known}
        rare = {truths.get(level, level) for level in rare}
    if not AxisDescription.of_levels(tuple(known), ()).other_names:
        known |= {other for axis in olds for other in axis.describe().other_names}
    levels = in_order(known - rare)
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"models must have at most {MAX_LEVELS} levels of a feature together, got "
            f"{len(levels)} of {name!r}"
        )
    return CategoricalAxis(levels, in_order(rare))


def _bins_of_lower_ends(axis: Axis, old: Axis) -> IntArray:
    """The old bin in which every new bin lies."""
    if isinstance(axis, NumericAxis) and isinstance(old, NumericAxis):
        lower = np.concatenate([[-np.inf], axis.edges])
        inside = np.searchsorted(old.edges, lower, side="right")
        inside[0] = 0
        return np.append(inside, old.n_bins - 1).astype(np.int64)
    return old_levels(axis, old)


def _shares(axis: Axis, old: Axis, source: IntArray) -> FloatArray:
    """Which part of the rows of its old bin every new bin gets: by width, by name, or equal."""
    if isinstance(axis, NumericAxis) and isinstance(old, NumericAxis):
        sizes = np.append(_widths(axis, old), 1.0)
    else:
        sizes = np.ones(len(source))
        if isinstance(axis, CategoricalAxis) and isinstance(old, CategoricalAxis):
            # Levels an old model does not know take nothing from those it never saw.
            sizes[: len(axis.levels)] = source[: len(axis.levels)] != old.n_bins - 1
            sizes[len(axis.levels)] = bool(axis.rare) or not (source[:-3] == len(old.levels)).any()
    totals = np.bincount(source, weights=sizes, minlength=old.n_bins)
    equal = 1.0 / np.bincount(source, minlength=old.n_bins)[source]
    return np.where(totals[source] > 0, sizes / np.maximum(totals[source], 1e-300), equal)


def _widths(axis: NumericAxis, old: NumericAxis) -> FloatArray:
    """Widths of the new ordered bins where the old ones have rows; where values are known, one."""
    if old.values is not None:
        holds = np.searchsorted(axis.edges, old.values, side="right")
        return np.bincount(holds, minlength=len(axis.edges) + 1).astype(np.float64)
    bounds = old.describe().bounds
    low, high = float(bounds[0]), float(bounds[-1])
    ends = np.clip(np.concatenate([[low], axis.edges, [high]]), low, high)
    return np.diff(ends / max(abs(low), abs(high), 1.0))


def _standing_for(source: IntArray, shares: FloatArray, n_old: int) -> IntArray:
    """For every old bin the new one with the largest share of its rows."""
    order = np.lexsort((shares, source))
    out = np.zeros(n_old, dtype=np.int64)
    out[source[order]] = order  # the last of a source stays: that with the largest share
    return out
