"""The parameters of the estimator as options: names, rules, defaults and texts of its table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from seplearn._params import TSL_PARAMETERS, Parameter
from seplearn._rules import Choice, Flag, Interval, Rule, WordOr

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Defaults that differ from those of the estimator.
DEFAULTS: dict[str, Any] = {"random_state": 0, "n_jobs": -1}
# Parameters under a name that reads well in a shell.
OWN_NAMES = {
    "n_stages": "--stages",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "categorical_features": "--categorical",
    "monotonic_cst": "--monotone",
}
_NO_OPTIONS = {"categorical_features", "monotonic_cst", "verbose", "keep_bags", "warm_start"}
_FLAGS = {True: "yes", False: "no"}
_DIRECTIONS = {"up": 1, "+1": 1, "1": 1, "down": -1, "-1": -1}


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # not generic in the oldest click allowed


class RuleType(_ParamType):
    """A value that the rule of a parameter allows."""

    name = "value"

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        parsed = _parse(self._parameter.rule, value) if isinstance(value, str) else value
        try:
            self._parameter.rule.check(self._parameter.name, parsed)
        except (TypeError, ValueError):
            self.fail(f"must be {self._parameter.rule}, got {value!r}", param, ctx)
        return parsed


def _parse(rule: Rule, text: str) -> Any:
    """A text as a value that the rule may allow; the rule checks it afterwards."""
    if isinstance(rule, Choice):
        return text
    if isinstance(rule, WordOr):
        return text if text == rule.word else _parse(rule.otherwise, text)
    if isinstance(rule, Flag):
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower(), text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _metavar(rule: Rule) -> str:
    if isinstance(rule, Choice):
        return "|".join(rule.options)
    if isinstance(rule, WordOr):
        return f"{rule.word}|{_metavar(rule.otherwise)}"
    if isinstance(rule, Flag):
        return "yes|no"
    whole = not isinstance(rule, Interval) or rule.whole
    return "integer" if whole else "number"


class TwoSections(click.Command):
    """A command whose help has the estimator's parameters in a section of their own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, wanted in (("Options", False), ("Parameters of the model", True)):
            parts = [p for p in self.get_params(ctx) if isinstance(p.type, RuleType) is wanted]
            records = [record for p in parts if (record := p.get_help_record(ctx)) is not None]
            with formatter.section(title):
                formatter.write_dl(records)


def estimator_options(function: _Function) -> _Function:
    """Add an option for every parameter of the estimator but those in ``_NO_OPTIONS``."""
    for parameter in reversed(TSL_PARAMETERS):
        if parameter.name in _NO_OPTIONS:
            continue
        default = DEFAULTS.get(parameter.name, parameter.default)
        decorate = click.option(
            option_name(parameter.name),
            parameter.name,
            type=RuleType(parameter),
            metavar=_metavar(parameter.rule),
            default=_FLAGS[default] if isinstance(default, bool) else default,
            show_default=True,
            help=_in_a_shell(parameter.meaning),
        )
        function = decorate(function)
    return function


def option_name(name: str) -> str:
    """What a parameter is called in a shell."""
    return OWN_NAMES.get(name, "--" + name.replace("_", "-"))


def _in_a_shell(text: str) -> str:
    """A meaning as plain text, other parameters named as options and flags as yes and no."""
    names, quote = {parameter.name for parameter in TSL_PARAMETERS}, "'"

    def plain(found: re.Match[str]) -> str:
        name, _, value = found[1].partition("=")
        return f"{option_name(name)} {value.strip(quote)}".strip() if name in names else found[1]

    text = re.sub(r":\w+:`([^`]*)`", r"\1", text)
    text = re.sub(r"``([^`]*)``", plain, text)
    return re.sub(r"\b(True|False)\b", lambda found: _FLAGS[found[1] == "True"], text)


def directions(texts: tuple[str, ...], option: str = "--monotone") -> dict[str, int] | None:
    """``area=up`` in the form of the parameter ``monotonic_cst``."""
    out: dict[str, int] = {}
    for text in texts:
        name, _, word = text.rpartition("=")
        if not name or word not in _DIRECTIONS:
            raise ValueError(f"{option} must be COLUMN=up or COLUMN=down, got {text!r}")
        if out.setdefault(name, _DIRECTIONS[word]) != _DIRECTIONS[word]:
            raise ValueError(f"{option} must name one direction for {name!r}, got up and down")
    return out or None
