"""What every feature does in every stage, in words: scale, direct, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from seplearn._numerals import count, listed, percent
from seplearn.explain.interactions import additive_share
from seplearn.explain.products import without
from seplearn.explain.result import Explanation
from seplearn.explain.sizes import effect_spreads, largest, part_weights
from seplearn.explain.subject import Subject, check_number
from seplearn.explain.tilt import Flip, TiltDiagnostics, diagnose, places
from seplearn.kernels.arrays import FloatArray
from seplearn.model.reference import Reference
from seplearn.model.stage import Stage
from seplearn.table.binning import Bins

_MINOR = 1 / 3  # a second role is named when it has at least this share of the first
_TILT_TOLERANCE = 0.05
_NAMED_LEVELS = 4
_NAMED_FLIPS = 3
_NEARLY_CONSTANT = 4.0  # times its standard deviation: what a stage's own size counts at most
_NEARLY_A_SUM = 0.98  # of the variance of a stage
_ROUNDING = 1e-9  # of its size: what moves less does not move
SMALLEST_TOLD = 0.001  # a stage with a smaller share of the weight has no line of its own


@dataclass(frozen=True)
class FeatureRole:
    """What one feature does in one stage.

    Attributes
    ----------
    feature : int
    name : str
    role : {"scales", "directs", "scales and directs", "idle"}
    scaling : float
        Root mean square change of the stage when the feature's backbone is held at one, as a
        share of the stage's own root mean square, or of four times its standard deviation where
        that is less: in a stage that is nearly constant, what little varies is what it says.
    directing : float
        The same when its tilt is held at zero.
    flips : tuple of Flip
        Where the stage changes its sign along a numeric feature that directs.
    up, down : tuple of str
        Levels of a categorical feature that directs which turn the stage up and down.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> role = explain.roles(model).stages[0].features[0]
    >>> role.name, role.role
    ('x1', 'scales')
    """

    feature: int
    name: str
    role: str
    scaling: float
    directing: float
    flips: tuple[Flip, ...] = ()
    up: tuple[str, ...] = ()
    down: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """How a sentence mentions where the feature alone turns the stage; empty if nowhere."""
        if len(self.flips) > _NAMED_FLIPS:
            ends = places((self.flips[0], self.flips[-1]))
            return f"flipping {len(self.flips)} times, first {ends[0]}, last {ends[1]}"
        if self.flips:
            return f"flipping {listed(places(self.flips))}"
        if self.up and self.down:
            return f"up for {_shortened(self.up)}, down for {_shortened(self.down)}"
        return ""


@dataclass(frozen=True)
class StageRoles:
    """What the features do in one stage.

    Attributes
    ----------
    stage : int
    stage_name : str
        The features that the stage depends on, the one that moves it most first.
    weight : float
        Mean square of the stage's contribution as a share of the sum over stages, and over the
        main effects together, if there are any.
    kind : {"two products", "one product", "same side", "signed", "nothing"}
        What the stage is made of: see ``Stage.kind``.
    below_zero : float
        Share of the rows at which the stage takes from the prediction.
    features : tuple of FeatureRole
    additive : float
        Share of the stage's variance that features explain each by itself, were they independent
        of each other. Near one the stage is a sum, though it is made of products: what one feature
        does in it hardly depends on the others.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> stage = explain.roles(model).stages[0]
    >>> stage.kind, stage.weight
    ('two products', 1.0)
    """

    stage: int
    stage_name: str
    weight: float
    kind: str
    below_zero: float
    features: tuple[FeatureRole, ...]
    additive: float

    @property
    def sentence(self) -> str:
        """The roles as a sentence: ``x1, x2 scale; x3 directs, flipping at -1``."""
        if self.kind == "nothing":
            return "contributes nothing"
        scale = [role.name for role in self.features if role.role == "scales"]
        parts = []
        if scale:
            parts.append(f"{', '.join(scale)} {'scales' if len(scale) == 1 else 'scale'}")
        turning = [role for role in self.features if "directs" in role.role]
        parts += [f"{role.name} {role.role}, {role.phrase}" for role in turning if role.phrase]
        for one, several in (("directs", "direct"), ("scales and directs", "scale and direct")):
            steady = [r.name for r in turning if r.role == one and not r.phrase]
            if steady:
                parts.append(f"{', '.join(steady)} {one if len(steady) == 1 else several}")
        if self.kind == "one product" or (parts and not any(r.phrase for r in turning)):
            parts.append(self._sign)
        if not parts:
            parts.append("no feature matters")
        n_acting = sum(role.role != "idle" for role in self.features)
        if n_acting > 1 and self.additive >= _NEARLY_A_SUM:
            parts.append(f"nearly a sum ({percent(min(self.additive, 1.0))} of its variance)")
        return "; ".join(parts)

    @property
    def _sign(self) -> str:
        """How often the stage is negative, where no single feature flips it."""
        if self.below_zero in (0.0, 1.0):
            return "always subtracts" if self.below_zero else "always adds"
        return f"subtracts at {percent(self.below_zero)} of the rows"


@dataclass(frozen=True, eq=False, repr=False)
class Roles(Explanation):
    """The roles of all features in all stages; ``print(roles)`` tells them in words.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    stages : tuple of StageRoles
    threshold : float
        The share of a stage's size from which on an effect is named.
    effects : tuple of str
        The features with a main effect of at least this share of the size of all main effects,
        the largest first; empty for a model without main effects.
    effects_weight : float
        The weight of the main effects together.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> roles = explain.roles(model)
    >>> len(roles.sentences), roles.threshold
    (1, 0.1)
    >>> str(roles).startswith("stage 0, "), "(100 %): x1" in str(roles)
    (True, True)
    """

    _figure: ClassVar[str] = "plot_roles"

    names: tuple[str, ...]
    stages: tuple[StageRoles, ...]
    threshold: float
    effects: tuple[str, ...] = ()
    effects_weight: float = 0.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence per stage."""
        return tuple(stage.sentence for stage in self.stages)

    @property
    def by_size(self) -> tuple[StageRoles, ...]:
        """The stages in the order in which they are told of: the largest first."""
        return tuple(sorted(self.stages, key=lambda stage: -stage.weight))

    def __str__(self) -> str:
        if not self.stages and not self.effects:
            return f"no stages: the {self.quantity} is a constant"
        shown = [stage for stage in self.by_size if stage.weight >= SMALLEST_TOLD]
        lines = []
        if self.effects:
            lines.append(
                f"main effects ({percent(self.effects_weight)}): {', '.join(self.effects)}"
            )
        lines += [
            f"stage {s.stage}, {s.stage_name} ({percent(s.weight)}): {s.sentence}" for s in shown
        ]
        rest = len(self.stages) - len(shown)
        if rest:
            small = sum(stage.weight for stage in self.stages) - sum(s.weight for s in shown)
            lines.append(f"{count(rest, 'other stage')} ({percent(small)} together)")
        return "\n".join(lines)

    def _columns(self) -> dict[str, Any]:
        """One row per stage and feature."""
        pairs = [(stage, role) for stage in self.stages for role in stage.features]
        return {
            "stage": np.array([stage.stage for stage, _ in pairs], dtype=np.int64),
            "stage_name": [stage.stage_name for stage, _ in pairs],
            "stage_weight": np.array([stage.weight for stage, _ in pairs], dtype=np.float64),
            "feature": [role.name for _, role in pairs],
            "role": [role.role for _, role in pairs],
            "scaling": np.array([role.scaling for _, role in pairs], dtype=np.float64),
            "directing": np.array([role.directing for _, role in pairs], dtype=np.float64),
            "flips": [", ".join(f"{flip.at:.6g}" for flip in role.flips) for _, role in pairs],
        }


def roles(model: Any, *, threshold: float = 0.1, background: Any = None) -> Roles:
    """Which features scale a stage, which direct it and where, and which do nothing.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    threshold : float
        A feature scales (directs) when holding its backbone (tilt) still would change the stage by
        at least this share of its size. The smaller of two effects is named when it is at least a
        third of the larger.
    background : table, optional
        Rows over which sizes are taken. By default the reference rows kept in the model.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(5000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> explain.roles(model).sentences[0].split(", flipping at -")[0]
    'x1, x2 scale; x3 directs'
    """
    subject = Subject.of(model)
    rule = "a number between 0 and 1"
    threshold = check_number("threshold", threshold, rule, lambda v: 0 < v < 1)
    rows = subject.rows(background)
    effects_weight, weights = part_weights(subject.model, rows)
    bins = subject.model.bins
    counted = bins if background is None else bins.with_frequencies_of(rows.codes, rows.weight)
    stages = tuple(
        _stage_roles(subject, s, float(weight), rows, counted, threshold)
        for s, weight in enumerate(weights)
    )
    return Roles(
        names=subject.names,
        stages=stages,
        threshold=threshold,
        effects=_effects(subject, threshold),
        effects_weight=effects_weight,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _effects(subject: Subject, threshold: float) -> tuple[str, ...]:
    """Whose main effects are worth naming."""
    effects = subject.model.effects
    if effects is None:
        return ()
    spreads = effect_spreads(effects / largest(effects), subject.model.bins)
    least = min(threshold * float(np.sqrt(np.sum(spreads**2))), float(spreads.max()))
    order = np.argsort(-spreads, kind="stable")
    return tuple(subject.names[j] for j in order if spreads[j] >= least and spreads[j] > 0)


def _stage_roles(
    subject: Subject, s: int, weight: float, rows: Reference, counted: Bins, threshold: float
) -> StageRoles:
    stage = subject.model.stages[s]
    value = stage.evaluate(rows.codes, subject.model.bins)
    scaling, directing = _strengths(subject, stage, value, rows)
    diagnostics = diagnose(subject, s, _TILT_TOLERANCE)
    features = tuple(
        _feature_role(diagnostics, j, float(scaling[j]), float(directing[j]), threshold)
        for j in range(len(subject.names))
    )
    below_zero = float(rows.weight[value < 0].sum() / rows.weight.sum())
    name = subject.stage_names[s]
    alone = replace(subject.model, stages=(stage,), effects=None, replicates=())
    additive = additive_share(alone, rows, counted)
    return StageRoles(s, name, weight, stage.kind, below_zero, features, additive)


def _feature_role(
    tilt: TiltDiagnostics, j: int, scaling: float, directing: float, threshold: float
) -> FeatureRole:
    named = max(threshold, _MINOR * max(scaling, directing))
    parts = ["scales"] * (scaling >= named) + ["directs"] * (directing >= named)
    directs = "directs" in parts
    return FeatureRole(
        feature=j,
        name=tilt.names[j],
        role=" and ".join(parts) or "idle",
        scaling=scaling,
        directing=directing,
        flips=tilt.flips[j] if directs else (),
        up=tilt.up[j] if directs else (),
        down=tilt.down[j] if directs else (),
    )


def _strengths(
    subject: Subject, stage: Stage, value: FloatArray, rows: Reference
) -> tuple[FloatArray, FloatArray]:
    """How much the stage changes without a feature's backbone, and without its tilt."""
    bins, p = subject.model.bins, subject.model.bins.n_axes
    unit = largest(value)

    def size(values: FloatArray) -> float:
        return float(np.sqrt(rows.weight @ (values / unit) ** 2))

    scaling, directing = np.zeros(p), np.zeros(p)
    spread = size(value - np.average(value, weights=rows.weight))
    whole = min(size(value), _NEARLY_CONSTANT * spread)
    if whole <= _ROUNDING * size(value):
        return scaling, directing
    at = bins.flat(rows.codes)
    active = stage.active
    products = [branch.evaluate(rows.codes, bins) for branch in active]
    log_backbone, tilt = stage.log_backbone, stage.tilt
    quieter = None if log_backbone is None else np.exp(-log_backbone)
    turn = None if tilt is None else np.exp(tilt)
    for j in range(p):
        if quieter is None:
            rests = [without(branch, bins, [j]).evaluate(rows.codes, bins) for branch in active]
            still = np.sum(rests, axis=0)
        else:
            still = value * quieter[at[:, j]]
        scaling[j] = size(value - still) / whole
        if turn is not None:
            own = turn[at[:, j]]
            parts = zip(active, products, strict=True)
            untilted = sum(v / own if b.coefficient_sign > 0 else v * own for b, v in parts)
            directing[j] = size(value - untilted) / whole
    return scaling, directing


def _shortened(levels: tuple[str, ...]) -> str:
    if len(levels) <= _NAMED_LEVELS:
        return listed(list(levels))
    return f"{', '.join(levels[:_NAMED_LEVELS])} and {len(levels) - _NAMED_LEVELS} more"
