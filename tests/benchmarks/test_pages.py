"""From rows to pages: ratios, ranks, what is missing, figures."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import growth, headline, paper_page, report


def made_rows():
    errors = {"seplearn": [1.0, 2.0], "fast": [2.0, 2.0], "slow": [1.5, np.nan]}
    rows: list[dict[str, Any]] = []
    for rival, values in errors.items():
        for problem, value in zip("ab", values, strict=True):
            for split in (0, 1):
                row: dict[str, Any] = {
                    "problem": problem,
                    "split": split,
                    "rival": rival,
                    "tag": "default",
                }
                if np.isnan(value):
                    rows.append(row | {"status": "failed", "reason": "too slow"})
                else:
                    more = {"cpu_seconds": 2.0 if rival == "slow" else 1.0, "commit": "abc"}
                    rows.append(row | {"status": "ok", "rmse": value * (1 + split)} | more)
    return rows


def test_reports_have_ratios_ranks_and_what_is_missing(tmp_path):
    rows = made_rows()
    logs = report.log_ratios(report.cells(report.FRESH.rows(rows)))
    ratios = {r["model"]: r for r in report.ratio_rows(logs)}
    assert set(ratios) == {"fast", "slow"}
    assert ratios["fast"]["ratio"] == pytest.approx(np.sqrt(0.5))
    assert (ratios["fast"]["wins"], ratios["fast"]["problems"]) == (1, 2)
    assert (ratios["slow"]["problems"], ratios["slow"]["ratio"]) == (1, pytest.approx(1 / 1.5))
    assert ratios["fast"]["worst_problem"] == "b"
    assert ratios["fast"]["interval"] == ""  # of two problems there is none
    assert ratios["fast"]["median"] == pytest.approx(np.sqrt(0.5))
    low, high = map(float, report.summary(np.log(pd.Series(range(1, 9))))["interval"].split(" to "))
    assert low < report.summary(np.log(pd.Series(range(1, 9))))["ratio"] < high
    table = report.with_ranks(np.exp(logs))
    assert table.loc["a", "seplearn"] == "1.000 (***)"
    assert table.loc["a", "fast"] == "2.000 (*)"
    assert table.loc["b", "slow"] == ""
    page, csv, picture = report.write(rows, report.FRESH, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "slow on b (splits 0 and 1): failed, too slow" in text
    assert "| a | 1.5 (***) | 2.000 (*) | 1.500 (**) |" in text
    assert len(pd.read_csv(csv)) == len(rows)
    assert picture.stat().st_size > 5_000


def test_our_variants_share_no_podium():
    ratios = pd.DataFrame({"seplearn": [1.0], "seplearn, 2 stages": [0.9], "fast": [1.1]}, ["a"])
    table = report.with_ranks(ratios)
    assert table.loc["a"].tolist() == ["1.000 (***)", "0.900", "1.100 (**)"]


def test_what_was_never_run_is_named():
    rows = [row for row in made_rows() if (row["rival"], row["problem"]) != ("fast", "b")]
    assert "- fast: not run on b" in report.markdown(rows, report.FRESH)


def test_points_are_of_real_tables_and_of_times_that_were_measured_alone():
    rows = [row | {"cores": 1} for row in made_rows()]
    generated = [row | {"problem": "made:c", "rmse": 99.0, "cores": 1} for row in rows[:4]]
    shared = [row | {"jobs": 2} for row in rows if row["rival"] == "slow"]
    found = report.points(rows + generated, report.FRESH)
    assert found["fast"] == pytest.approx((1.0, np.sqrt(2)))
    assert found["slow"] == pytest.approx((2.0, 1.5))
    untimed = [row | {"cores": None} for row in rows if row["problem"] == "b"]
    partly = [row for row in rows if row["problem"] == "a"] + untimed
    assert "fast (1 tables)" in report.points(partly, report.FRESH)
    alone = [row for row in rows if row["rival"] != "slow"]
    assert "slow" not in report.points(alone + shared, report.FRESH)


def test_generated_problems_are_shown_but_not_counted():
    rows = [row | {"problem": "made:" + row["problem"]} for row in made_rows()]
    logs = report.log_ratios(report.cells(report.FRESH.rows(rows + made_rows())))
    assert {r["problems"] for r in report.ratio_rows(logs)} == {1, 2}
    assert "made:a" in report.markdown(rows + made_rows(), report.FRESH)


def test_ratios_are_taken_on_splits_that_both_have():
    """A rival that lacks the hard split must not look better for it."""
    rows = [row for row in made_rows() if (row["rival"], row["split"]) != ("fast", 1)]
    logs = report.log_ratios(report.cells(report.FRESH.rows(rows)))
    assert np.exp(logs.loc["a", "fast"]) == pytest.approx(2.0)


def test_the_papers_split_has_a_page_of_its_own(tmp_path):
    shared = {"problem": "a", "split": 42, "status": "ok", "cpu_seconds": 1.0, "cores": 1}
    models = [("seplearn", "default", 1.0, 2.0), ("seplearn", "tuned", 0.8, 4.0),
              ("seplearn, 10 stages", "default", 1.1, 3.0), ("ebm", "published", 2.0, None),
              ("seplearn, 10 stages, free", "default", 1.0, 9.0),
              ("seplearn, another seed", "default", 1.25, 2.0)]  # fmt: skip
    rows = made_rows()
    for rival, tag, rmse, cancellation in models:
        facts = {} if cancellation is None else {"cancellation": cancellation}
        rows.append(shared | {"rival": rival, "tag": tag, "rmse": rmse, "facts": facts})
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "paper_results.csv").write_text(
        "dataset,ebm,tsl_r2,tsl_r10,lightgbm_blackbox,random_forest_blackbox,xgboost_blackbox\n"
        "a,4.0,5.0,2.0,1.6,9.0,9.0\n"
    )
    text = report.markdown(rows, report.PAPER, paper_page.lines(rows, tmp_path))
    assert "| ebm, published | 1 | 0.500 |" in text
    assert "| best of 3 black boxes | 0.625 |  | 0.625 | 1 of 1 |" in text
    assert "| best of 3 black boxes, ours tuned | 0.500 |  | 0.500 | 1 of 1 |" in text
    assert "| best of 8 interpretable models | 0.500 |  | 0.500 | 1 of 1 |" in text
    assert "Two seeds end 25.00% apart" in text
    assert "`seplearn, 10 stages`: median 3.00" in text
    assert "RMSE x 1.1000" in text
    assert "slow" not in text


def test_growth_is_told_in_multiples_of_ours(tmp_path):
    rows = [
        {"problem": f"grown:{n}x{p}", "rival": rival, "split": 0, "tag": "default", "cores": 1,
         "status": "ok", "cpu_seconds": slow * n * p / 1e4, "peak_mib": 100.0 * slow}
        for n, p in (*growth.BY_ROWS, *growth.BY_FEATURES)
        for rival, slow in (("seplearn", 1.0), ("ebm", 40.0))
        if not (rival == "ebm" and n == 1_000_000)
    ]  # fmt: skip
    rows.append({"problem": "grown:1000000x10", "rival": "ebm", "split": 0, "tag": "default",
                 "status": "timeout", "reason": "more than 900 s"})  # fmt: skip
    page, picture = growth.write(rows, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "| 1,000 x 10 | 1 | 40 |" in text
    assert "| 1,000,000 x 10 | 1,000 |  |" in text
    assert "ebm on 1000000x10: timeout, more than 900 s" in text
    fewer = [row for row in rows if (row["rival"], row["problem"]) != ("ebm", "grown:10000x200")]
    assert "- ebm on 10000x200: not run" in growth.markdown(fewer)
    assert picture.stat().st_size > 5_000
    more = [row | {"split": 1, "cpu_seconds": 3.0} for row in rows if row["rival"] == "seplearn"]
    assert "| 1,000 x 10 | 2 (1 to 3) | 20 |" in growth.markdown(rows + more)
    assert "Time to fit" not in growth.markdown([row for row in rows if row["rival"] == "ebm"])


def preset_rows():
    """Two presets and a rival on two tables, one of which has rows that repeat."""
    models = [
        ("seplearn", 1.0, 3.0, 4),
        ("seplearn, 2 stages", 1.5, 1.0, 2),
        ("lightgbm", 2.0, 0.5, None),
    ]
    rows: list[dict[str, Any]] = []
    for problem, scale, n_rows in (("a", 1.0, 100), ("b", 4.0, 50), ("distinct:a", 8.0, 90)):
        for rival, rmse, seconds, curves in models:
            facts = {} if curves is None else {"stages": 1, "reading_size": curves, "features": 2}
            worse = 0.5 if rival == "lightgbm" and problem != "a" else 1.0
            rows.append(
                {"problem": problem, "split": 0, "rival": rival, "tag": "default", "status": "ok",
                 "rmse": rmse * scale * worse, "cpu_seconds": seconds, "facts": facts,
                 "rows": n_rows}
            )  # fmt: skip
    return rows


def test_presets_have_their_error_beside_their_size_and_time():
    """0.5 and 1 are the ratios of the default, 0.75 and 1.5 those of two stages."""
    *_, ours, small, _ = headline.lines(preset_rows())
    assert ours == "| `TSLRegressor()` | 1 | 4 (4 to 4) | 2.0 | 0.707 (1 of 2) | 6.0 |"
    assert small == "| `n_stages=2` | 1 | 2 (2 to 2) | 1.0 | 1.061 (1 of 2) | 2.0 |"
    assert headline.lines([]) == []


def test_a_page_says_which_splits_its_models_have():
    rows = [
        {"problem": problem, "split": split, "rival": rival, "tag": "default", "status": "ok"}
        for rival, missing in (("ours", ()), ("theirs", ()), ("slow", (1,)), ("partly", ("b1",)))
        for problem in "ab"
        for split in (0, 1)
        if split not in missing and f"{problem}{split}" not in missing
    ]
    told = "Seeds of the splits: 0 and 1; of slow: 0; on some problems fewer of them: partly."
    assert report.FRESH.seeds(rows) == told
    assert report.FRESH.seeds([]) == "Seeds of the splits: none."


def test_times_of_another_machine_are_not_compared():
    rows = preset_rows()
    for row in rows:
        row["machine"] = {"processor": "one" if row["rival"] == "seplearn" else "other"}
    *_, ours, small, _ = headline.lines(rows)
    assert ours.endswith("| 0.707 (1 of 2) |  |")  # errors are
    assert small.endswith("| 1.061 (1 of 2) |  |")
    rows[2]["machine"] = {"processor": "one"}  # the rival on the first table
    *_, ours, _, _ = headline.lines(rows)
    assert ours.endswith("| 6.0 (on 1 of 2) |")


def test_other_tasks_have_a_line_each():
    """Ours has half of the log-loss for two classes, twice that for three, at thrice the time."""
    rows = [
        {"problem": problem, "split": 0, "rival": rival, "tag": "default", "status": "ok",
         "log_loss": loss, "cpu_seconds": seconds} | more
        for problem, more, losses in (
            ("classes:two", {"auc": 0.9}, (0.1, 0.2)), ("classes:three", {}, (0.4, 0.2)))
        for rival, loss, seconds in zip(("seplearn", "lightgbm"), losses, (3.0, 1.0), strict=True)
    ]  # fmt: skip
    *_, two, three = headline.other_tasks(rows)
    assert two == "| two classes: log-loss | 0.500 (1 of 1) |  |  |  |  | 3.0 |"
    assert three == "| several classes: log-loss | 2.000 (0 of 1) |  |  |  |  | 3.0 |"
    assert headline.other_tasks(preset_rows()) == []


def test_tables_whose_rows_repeat_stand_beside_their_distinct_rows():
    assert "| a | 10.0% | 0.500, 1.000 |" in headline.repeated(preset_rows())
    logs = report.log_ratios(report.cells(report.FRESH.rows(preset_rows())))
    assert {r["problems"] for r in report.ratio_rows(logs)} == {2}
    assert headline.repeated(made_rows()) == []
