"""What is shown while a fit runs."""

import io

import numpy as np
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets


class Terminal(io.StringIO):
    """A stream that a bar may be drawn on."""

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def data():
    return datasets.masked_interaction(200, random_state=0)


def lines_of(capfd, model, X, y, **arguments):
    model.set_params(verbose=1).fit(X, y, **arguments)
    return capfd.readouterr().err.splitlines()


def test_every_part_of_a_fit_has_a_line_where_there_is_no_terminal(data, capfd):
    lines = lines_of(capfd, TSLRegressor(2, n_bootstrap=2, random_state=0), *data)
    doing = [line.split(";")[0] for line in lines]
    assert doing[:2] == [
        "fit: choosing the size, stage 1 of at most 2",
        "fit: choosing the size, stage 2 of at most 2",
    ]
    assert doing[2].startswith("fit: finishing 2 stages")
    assert doing[3:] == ["fit: bands, 2 refits"]
    assert "held-out loss" in lines[1]


def test_a_terminal_has_one_bar_over_everything(data, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    TSLRegressor(2, n_bootstrap=2, random_state=0, verbose=1).fit(*data)
    drawn = screen.getvalue()
    assert "choosing the size" in drawn
    assert "fit: done 100%" in drawn
    assert drawn.count("\n") == 1  # the bar is redrawn in its line


def test_nothing_is_said_that_was_not_asked_for(data, capfd):
    TSLRegressor(1, random_state=0, n_bootstrap=1).fit(*data)
    assert capfd.readouterr() == ("", "")


def test_why_growth_ended_is_said(data, capfd):
    X, y = data
    asked = lines_of(capfd, TSLRegressor(3, random_state=0), X, y, callback=lambda *_: True)
    assert "fit: growth stopped after 1 stage: the callback asked for it" in asked
    noise = np.random.default_rng(0).normal(size=len(y))
    with pytest.warns(UserWarning, match="no stage improves"):
        enough = lines_of(capfd, TSLRegressor(8, random_state=0), X, noise)
    assert any(line.endswith("more stages predict held-out rows no better") for line in enough)
    X = np.zeros((40, 1))
    X[20:] = 1.0
    fixed = TSLRegressor(6, early_stopping=False, random_state=0)
    nothing_left = lines_of(capfd, fixed, X, X[:, 0] + noise[:40])
    assert any(line.endswith("no further stage finds anything") for line in nothing_left)


def test_stages_are_counted_from_those_that_a_warm_start_has(data, capfd):
    X, y = data
    model = TSLRegressor(1, early_stopping=False, warm_start=True, random_state=0).fit(X, y)
    lines = lines_of(capfd, model.set_params(n_stages=2), X, y)
    assert lines[0] == "fit: growing, stage 2 of 2"
    model.set_params(n_stages=3, early_stopping=True)
    lines = lines_of(capfd, model, X, y, eval_set=(X, y))
    assert lines[0] == "fit: choosing the size, stage 3 of at most 3"


def test_progress_changes_no_bit_of_a_model(data):
    X, y = data
    three = np.digitize(y, [-1.0, 1.0])
    for model, target, method in (
        (TSLRegressor(2, n_starts=2, n_bootstrap=2, random_state=0, n_jobs=2), y, "predict"),
        (TSLClassifier(8, early_stopping=False, random_state=0), three, "decision_function"),
    ):
        silent = getattr(model.fit(X, target), method)(X)
        shown = getattr(model.set_params(verbose=1).fit(X, target), method)(X)
        np.testing.assert_array_equal(shown, silent)


def test_a_callback_sees_losses_in_the_unit_of_y(data):
    X, y = data
    seen = []
    model = TSLRegressor(1, loss="quantile", early_stopping=False, random_state=0)
    model.fit(X, 1000.0 * y, callback=lambda _, record: seen.append(record.loss))
    # The last sweeps follow the callback: about the same, not the same.
    np.testing.assert_allclose(seen, [record.loss for record in model.history_], rtol=0.5)
