"""The parameters of the estimators, each in two places, both in this file.

A row of a table has its default, its rule, its meaning and the paper's name for it: validation,
documentation and the options of the command line come from it. A field of a class has its type and
default: the signature and the attributes of the estimator, and what the fit is given, come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from inspect import cleandoc
from typing import Any, Literal, TypeVar

import numpy as np

from seplearn._rules import (
    Choice,
    ClassWeights,
    Columns,
    Directions,
    Flag,
    Interval,
    Jobs,
    Rule,
    Seed,
    Verbosity,
    WordOr,
)
from seplearn.losses import LOSSES
from seplearn.table.binning import MAX_BINS

_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator: its default, its rule, the paper's name for it, its meaning."""

    name: str
    default: Any
    rule: Rule
    meaning: str
    paper_name: str | None = None
    paper_words: tuple[tuple[str, str], ...] = ()  # (the paper's word, ours) for a Choice


TSL_PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "n_stages",
        32,
        Interval(0, whole=True),
        "Largest number of stages of each start; ``early_stopping`` decides how many are used. A "
        "stage that turns out to depend on one feature becomes its main effect. 0: a model of main "
        "effects alone.",
        "epochs",
    ),
    Parameter(
        "refine",
        "joint",
        Choice(("joint", "scalars")),
        "What happens after each new stage. 'joint': all curves of all stages are optimised "
        "together, each as smooth as the data say. 'scalars': curves are frozen and all lambda "
        "refitted, as in the paper; ``n_starts``, ``smoothness`` and ``energy`` then have no "
        "effect, and ``early_stopping=True``, ``n_bootstrap`` and ``monotonic_cst`` are refused.",
    ),
    Parameter(
        "main_effects",
        "auto",
        WordOr("auto", Flag()),
        "Whether features have curves of their own beside the stages, added to the prediction "
        "and refined together with them. True: they come first, and stages see what they leave. "
        "False: none, as in the paper. 'auto': True if rows held out, as ``early_stopping`` says, "
        "are predicted clearly better so, or no worse without any stage; with a log link (counts, "
        "amounts, totals) unless they are predicted clearly better without; for two classes "
        "wherever the number of stages is chosen. Else only stages of a single feature become such "
        "curves, and with ``fit_intercept=False`` none. Needs ``refine='joint'``.",
    ),
    Parameter(
        "n_starts",
        1,
        Interval(1, whole=True),
        "Number of models, grown from different random starts, that are averaged. The average is "
        "again a sum of stages: those of all starts, where look-alikes are told as one. One is the "
        "model that is read; 4 gain the last per cents of accuracy.",
    ),
    Parameter(
        "smoothness",
        "auto",
        WordOr("auto", Interval(0, 1e6)),
        "'auto' learns for every curve how smooth it is, inside the fit. A number is the same "
        "penalty on the squared slope of every curve; 1 is strong.",
    ),
    Parameter(
        "energy",
        0.07,
        Interval(0, 1e6),
        "Penalty on large products that cancel each other. A larger value gives stages that can "
        "be read one by one, a smaller value gives the fit more freedom; see ``cancellation`` in "
        "``history_``.",
    ),
    Parameter(
        "monotonic_cst",
        None,
        Directions(),
        "Features with which the prediction may only rise (1) or only fall (-1). The constraint "
        "holds exactly.",
    ),
    Parameter(
        "early_stopping",
        "auto",
        WordOr("auto", Flag()),
        "Whether to choose the number of stages by the error on held-out rows, and then to fit "
        "all rows: the smallest number that is not worse than the best by more than one standard "
        "error, nor by more than 1 % of the loss (no stage at all is taken within one standard "
        "error, whatever its share). Up to 5,000 rows there are five folds (below 250 "
        "rows, up to five different divisions into folds), above that two held-out parts, one for "
        "every start if there are more; of counts, amounts and totals the rows above zero are "
        "counted. Above 50,000 rows fits grow on a sample and are finished "
        "on all rows. 'auto': yes, from 20 rows on. False: fit ``n_stages`` stages.",
    ),
    Parameter(
        "validation_fraction",
        0.15,
        Interval(0, 0.5, above=True),
        "Share of the rows in each held-out part; used where there are no folds.",
    ),
    Parameter(
        "n_bootstrap",
        0,
        Interval(0, whole=True),
        "Number of refits to bootstrap samples, from which bands are computed; 0 for no bands, 100 "
        "for good ones. Where smoothness is learned they hold the bias of smoothing too.",
    ),
    Parameter("n_grids", 3, Interval(1, whole=True), "Bagged grids per stage.", "n_trees"),
    Parameter(
        "n_splits",
        30,
        Interval(1, whole=True),
        "Largest number of splits per grid. Resplits, which add no boundary, do not count: there "
        "may be up to twice as many of them.",
        "n_iter",
    ),
    Parameter(
        "decay",
        1.0,
        Interval(0, 1, above=True),
        "With ``refine='scalars'`` each stage may have this share of the splits of the stage "
        "before it (rounded, at least one).",
        "decay",
    ),
    Parameter(
        "split_try",
        10,
        Interval(1, whole=True),
        "Number of cuts tried per feature at each step, drawn from all its intervals; all of them "
        "if there are fewer.",
        "split_try",
    ),
    Parameter(
        "colsample",
        0.8,
        Interval(0, 1, above=True),
        "Share of the features offered at each step (rounded down, at least one).",
        "colsample_bytree",
    ),
    Parameter(
        "min_interval_samples",
        5,
        Interval(1, whole=True),
        "Smallest number of rows on each side of a split. Rows that a bootstrap sample repeats "
        "count as often as they occur.",
        "min_interval_samples",
    ),
    Parameter(
        "min_gain",
        0.0,
        Interval(0),
        "A grid stops when no step lowers the squared error by more than this share of the "
        "target's total sum of squares.",
        "min_split_loss",
    ),
    Parameter(
        "ridge",
        1e-3,
        Interval(0),
        "Ridge penalty on the multipliers of a step, in units of the target's variance: 1 weighs "
        "as much as one row whose products are one standard deviation of y.",
        "alpha",
    ),
    Parameter(
        "update_clamp",
        0.7,
        Interval(0, 300, above=True),
        "A multiplier stays within [exp(-update_clamp), exp(update_clamp)], and always within "
        "[1/20, 20].",
        "update_clamp",
    ),
    Parameter(
        "anchor",
        "medoid",
        Choice(("medoid", "centroid")),
        "Which bagged grid the others are compared with. 'medoid': the one whose curves are "
        "closest to those of all others. 'centroid': the one closest to the mean of "
        "(lambda_plus, lambda_minus), compared by the cosine of backbones and tilts, as the paper "
        "prints it; its error varies more from seed to seed. Single products always use it.",
    ),
    Parameter(
        "trim",
        0.5,
        Interval(0, 1),
        "Share of the bagged grids, those least like the anchor, left out of the average.",
        "similarity_threshold",
    ),
    Parameter(
        "bootstrap",
        True,
        Flag(),
        "Whether to fit each grid to a bootstrap sample. If not, grids differ only by the cuts "
        "that are tried.",
        "bagged",
    ),
    Parameter(
        "loss",
        "squared_error",
        Choice(tuple(LOSSES)),
        "What is minimised on the training rows, and what the number of stages is chosen by on "
        "held-out rows. "
        + " ".join(f"{name!r}: {loss.meaning}." for name, loss in LOSSES.items())
        + " With ``refine='scalars'`` it is for the splits; lambda are refitted by least squares.",
        "refinement_strategy",
        (("l2", "squared_error"), ("huber", "huber")),
    ),
    Parameter(
        "power",
        1.5,
        Interval(1, 2),
        "With ``loss='tweedie'``: the variance of the target is the mean to this power, between 1 "
        "(counts) and 2 (amounts).",
    ),
    Parameter(
        "quantile",
        0.5,
        Interval(0.001, 0.999),
        "With ``loss='quantile'``: the probability with which an outcome is not above its "
        "prediction.",
    ),
    Parameter(
        "products",
        "difference",
        Choice(("difference", "single")),
        "'difference': a stage is one positive product minus another. 'single': one product "
        "whose factors may be negative (the paper's ablation; it has no backbone and tilt, and "
        "needs ``refine='scalars'``).",
    ),
    Parameter(
        "scalars",
        "nnls",
        Choice(("nnls", "ols")),
        "How all lambda are refitted after each stage with ``refine='scalars'``, and by "
        "``select_stages``: non-negative least squares, or the paper's ordinary least squares, "
        "under which a lambda may turn negative.",
    ),
    Parameter("fit_intercept", True, Flag(), "Whether the model has a constant."),
    Parameter(
        "max_bins",
        "auto",
        WordOr("auto", Interval(2, MAX_BINS, whole=True)),
        "Largest number of bins per numeric feature, besides the one for missing values. 'auto': "
        "255, 511 from 50,000 rows on, and of fewer than 200 rows a quarter of their number.",
        "max_bins",
    ),
    Parameter(
        "categorical_features",
        "auto",
        Columns(),
        "Features whose values are levels without order. 'auto': strings, categories and booleans. "
        "A list adds columns to those. None: no feature; booleans are then 0 and 1, and strings "
        "are refused.",
    ),
    Parameter(
        "min_category_count",
        5,
        Interval(1, whole=True),
        "Levels that occur in fewer training rows share one bin.",
    ),
    Parameter(
        "background_size",
        1000,
        Interval(0, whole=True),
        "Largest number of training rows kept in the model, as bin numbers, for explanations that "
        "average over rows. 0 keeps none: such explanations then need a ``background`` table.",
    ),
    Parameter(
        "keep_bags",
        False,
        Flag(),
        "Whether to keep the bagged grids of every stage, for :func:`seplearn.explain.bags`; they "
        "are not saved with the model.",
    ),
    Parameter(
        "warm_start",
        False,
        Flag(),
        "Whether another ``fit`` goes on from the model of the last one, as in scikit-learn: with "
        "a larger ``n_stages`` it gets more stages, to other rows it is refined. Columns, classes "
        "and the link of ``loss`` must be the same. Nothing is held out of the rows of such a fit, "
        "as the model may have seen them: it gets ``n_stages`` stages, or as many as an "
        "``eval_set`` says. Edits are not kept, nor is the factor on the log-odds of a classifier. "
        "Needs ``refine='joint'`` and ``n_starts=1``.",
    ),
    Parameter(
        "random_state",
        None,
        Seed(),
        "Seed of the bags and the cuts tried. The same data and seed give the same model, bit for "
        "bit, whatever ``n_jobs``.",
        "seed",
    ),
    Parameter(
        "n_jobs",
        None,
        Jobs(),
        "Threads, as joblib counts them: None is 1 unless joblib says otherwise, -1 is all.",
    ),
    Parameter(
        "verbose",
        0,
        Verbosity(),
        "1 or True shows a bar over the whole fit, or "
        "lines where there is no terminal or notebook: what is done, what is left, and why growth "
        "ended.",
    ),
)


# Without __eq__ and __repr__: estimators have those of scikit-learn.
@dataclass(eq=False, repr=False)
class JointParameters:
    """The parameters of joint refinement, and the ``__init__`` that stores them."""

    n_stages: int = 32
    _: KW_ONLY
    main_effects: Literal["auto"] | bool = "auto"
    n_starts: int = 1
    smoothness: Literal["auto"] | float = "auto"
    energy: float = 0.07
    monotonic_cst: Any = None
    early_stopping: Literal["auto"] | bool = "auto"
    validation_fraction: float = 0.15
    n_bootstrap: int = 0
    n_grids: int = 3
    n_splits: int = 30
    split_try: int = 10
    colsample: float = 0.8
    min_interval_samples: int = 5
    min_gain: float = 0.0
    ridge: float = 1e-3
    update_clamp: float = 0.7
    anchor: Literal["medoid", "centroid"] = "medoid"
    trim: float = 0.5
    bootstrap: bool = True
    fit_intercept: bool = True
    max_bins: Literal["auto"] | int = "auto"
    categorical_features: Any = "auto"
    min_category_count: int = 5
    background_size: int = 1000
    keep_bags: bool = False
    warm_start: bool = False
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class TSLParameters(JointParameters):
    """The parameters of :class:`seplearn.TSLRegressor`: also those of the paper, and the loss."""

    _: KW_ONLY
    refine: Literal["joint", "scalars"] = "joint"
    decay: float = 1.0
    loss: str = "squared_error"  # a word of LOSSES
    power: float = 1.5
    quantile: float = 0.5
    products: Literal["difference", "single"] = "difference"
    scalars: Literal["nnls", "ols"] = "nnls"


@dataclass(eq=False, repr=False)
class ClassifierParameters(JointParameters):
    """The parameters of :class:`seplearn.TSLClassifier`."""

    _: KW_ONLY
    class_weight: Any = None


_JOINT = {field.name for field in fields(JointParameters)}
CLASSIFIER_PARAMETERS: tuple[Parameter, ...] = (
    *(parameter for parameter in TSL_PARAMETERS if parameter.name in _JOINT),
    Parameter(
        "class_weight",
        None,
        ClassWeights(),
        "What a row counts besides its ``sample_weight``, by its class: None, 'balanced' (the rows "
        "of every class count the same in all), or a weight per class, as a dict. All rows "
        "together count for the effective number of rows, (sum w)^2 / sum w^2: a few that count "
        "much are few. Probabilities are then those of a table in which the classes have these "
        "shares.",
    ),
)


_SHARED = {
    "categorical_features", "min_category_count", "background_size", "random_state", "n_jobs",
}  # fmt: skip
SEPALS_PARAMETERS: tuple[Parameter, ...] = (
    Parameter("rank", 2, Interval(1, whole=True), "Number of products in the sum."),
    Parameter(
        "basis",
        "tent",
        Choice(("tent", "monomial")),
        "Functions that are combined to a factor: piecewise linear tents on ever finer levels, or "
        "powers on [-1, 1].",
    ),
    Parameter(
        "degree",
        4,
        Interval(1, 12, whole=True),
        "Highest power, or finest level of tents: level l has 2**(l - 1) of them. The time of a "
        "sweep grows with the cube of ``rank`` times the functions of a feature.",
    ),
    Parameter(
        "ridge",
        0.1,
        Interval(0),
        "Penalty on the squared coefficients. It is added to the sum over rows of squared errors, "
        "with y in standard deviations, so it matters less the more rows there are.",
    ),
    Parameter(
        "smoothness",
        1.0,
        Interval(0),
        "Penalty on the squared coefficients, each weighted as ``penalty_kind`` says; it is added "
        "in the same way as ``ridge``.",
    ),
    Parameter(
        "penalty_kind",
        "degree2",
        Choice(("degree", "degree2", "tent_level")),
        "The weight of a squared coefficient in the smoothness penalty. 'degree': its degree (for "
        "a tent, its level). 'degree2': the square of that. 'tent_level': its level, which for a "
        "power k is 1 + floor(log2 k).",
    ),
    Parameter(
        "max_sweeps", 50, Interval(1, whole=True), "Largest number of sweeps over all features."
    ),
    Parameter(
        "tol",
        1e-6,
        Interval(0),
        "The fit ends when a sweep changes the loss by a smaller share than this.",
    ),
    Parameter("n_init", 3, Interval(1, whole=True), "Number of random starts; the best is kept."),
    Parameter("fit_intercept", True, Flag(), "Whether the model has a constant."),
    Parameter(
        "max_bins",
        1023,
        Interval(2, MAX_BINS, whole=True),
        "Largest number of bins per numeric feature; curves are constant within a bin.",
    ),
    *(parameter for parameter in TSL_PARAMETERS if parameter.name in _SHARED),
)


@dataclass(eq=False, repr=False)
class SepALSParameters:
    """The parameters of :class:`seplearn.SepALSRegressor`, in the same way."""

    rank: int = 2
    _: KW_ONLY
    basis: Literal["tent", "monomial"] = "tent"
    degree: int = 4
    ridge: float = 0.1
    smoothness: float = 1.0
    penalty_kind: Literal["degree", "degree2", "tent_level"] = "degree2"
    max_sweeps: int = 50
    tol: float = 1e-6
    n_init: int = 3
    fit_intercept: bool = True
    max_bins: int = 1023
    categorical_features: Any = "auto"
    min_category_count: int = 5
    background_size: int = 1000
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None


def check_parameters(table: tuple[Parameter, ...], values: Mapping[str, Any]) -> None:
    """Raise for the first value that breaks its rule."""
    for parameter in table:
        parameter.rule.check(parameter.name, values[parameter.name])


def documented(table: tuple[Parameter, ...]) -> Callable[[_Class], _Class]:
    """Class decorator: write the table's parameters where the docstring says ``{parameters}``."""

    def decorate(cls: _Class) -> _Class:
        lines = []
        for parameter in table:
            lines.append(f"{parameter.name} : {parameter.rule}, default={parameter.default!r}")
            lines.append(f"    {parameter.meaning}")
        # From Python 3.13 on docstrings are dedented already; before, it is done here.
        cls.__doc__ = cleandoc(cls.__doc__ or "").replace("{parameters}", "\n".join(lines))
        return cls

    return decorate
