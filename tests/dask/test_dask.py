"""Fits on a Dask cluster: the model of the rows in memory, whoever dies on the way."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
from itertools import pairwise
from multiprocessing import get_all_start_methods

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="dask and distributed are not installed")

import dask
import dask.array as da
import dask.dataframe as dd
from dask import delayed
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from seplearn import TSLClassifier, TSLRegressor, datasets
from seplearn.dask import DaskTSLClassifier, DaskTSLRegressor, partitions, rows, shares
from seplearn.dask.tasks import Tasks
from seplearn.fitting import effort, jointly, selection
from seplearn.fitting.joint import classes as several
from seplearn.fitting.joint import fit as joint
from seplearn.table import blocks
from seplearn.table.blocks import Branches

# distributed and its event loop warn of their own affairs, such as ports in use.
pytestmark = pytest.mark.filterwarnings("default")

N = 700
PARAMETERS = {"n_stages": 1, "random_state": 0, "early_stopping": False}


@pytest.fixture(scope="module")
def cluster():
    """Two processes, made from one that has imported what they need: imports take seconds."""
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    size = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    with dask.config.set({"distributed.worker.multiprocessing-method": method}):
        get_mp_context().set_forkserver_preload(["seplearn.dask", "dask.dataframe"])
        with LocalCluster(**size, dashboard_address=None) as cluster:
            yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture(autouse=True)
def small_fits(monkeypatch):
    """Several blocks, a model that grows on some of the rows, and few sweeps: each is alike."""
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 130)
    monkeypatch.setattr(blocks, "ROWS_LOOKED_AT", 400)
    monkeypatch.setattr(rows, "_POLL_SECONDS", 0.2)
    monkeypatch.setattr(joint, "STAGE_SWEEPS", 16)
    monkeypatch.setattr(several, "_SWEEPS_OF_ALL", 1)
    for module in (joint, several, effort, jointly):
        monkeypatch.setattr(module, "LAST_SWEEPS", 2)
        monkeypatch.setattr(module, "SWEEPS_AFTER_PRUNING", 1)


@pytest.fixture(scope="module")
def table():
    X, y = datasets.rents(N, random_state=0)
    X.loc[N - 5 :, "district"] = "Outskirts"  # a level that only the last partition has
    X.loc[:30, "area"] = np.nan
    rng = np.random.default_rng(1)
    more = {"rent": y, "w": rng.choice([0.0, 0.7, 1.3], N), "house": rng.integers(0, 250, N)}
    return X.assign(**more, shift=np.log(np.linspace(0.5, 2.0, N)))


FEATURES = ["area", "rooms", "district"]


def in_parts(table, ends=(0, 150, 150, 480, N)):
    """Partitions of different lengths, one of them without rows."""
    pieces = [table[a:b] for a, b in pairwise(ends)]
    return dd.from_delayed([delayed(piece) for piece in pieces], meta=table[:0])


def test_the_model_is_that_of_the_rows_in_memory(client, table):
    parts, X = in_parts(table), table[FEATURES]
    chosen, held_out = PARAMETERS | {"early_stopping": True}, (X[:200], table["rent"][:200])
    expected = TSLRegressor(**chosen).fit(X, table["rent"], table["w"], eval_set=held_out)
    model = DaskTSLRegressor(client, **chosen)
    model.fit(parts[FEATURES], parts["rent"], parts["w"], eval_set=held_out)
    local, wanted = model.to_local(), expected.predict(X)
    np.testing.assert_allclose(local.predict(X), wanted, rtol=1e-9)
    lazy = model.predict(parts[FEATURES])
    assert isinstance(lazy, dd.Series)
    np.testing.assert_allclose(lazy.compute(), wanted, rtol=1e-9)
    assert local.stage_names_ == expected.stage_names_
    found, asked = (one.predict_interval(X, kind="outcome") for one in (local, expected))
    np.testing.assert_allclose(found, asked, rtol=1e-9)
    assert local.provenance_.n_rows == expected.provenance_.n_rows
    assert local.provenance_.weight == pytest.approx(expected.provenance_.weight, rel=1e-12)
    assert_nothing_is_left(client)


def _held():
    return sum(isinstance(one, (shares.Share, partitions.Used)) for one in gc.get_objects())


def _n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def assert_nothing_is_left(client):
    """No task on the scheduler and no rows on workers, which are told a little later."""
    until = time.monotonic() + 30.0
    while client.run_on_scheduler(_n_tasks) or any(client.run(_held).values()):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_several_classes_from_arrays(client, table):
    X = table[["area"]].to_numpy()
    size = np.digitize(table["rent"], [700.0, 1000.0])
    expected = TSLClassifier(**PARAMETERS, class_weight="balanced").fit(X, size)
    arrays = da.from_array(X, chunks=200), da.from_array(size, chunks=300)
    model = DaskTSLClassifier(client, **PARAMETERS, class_weight="balanced").fit(*arrays)
    found = model.predict_proba(arrays[0])
    assert found.shape == (N, 3)
    np.testing.assert_allclose(found.compute(), expected.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(arrays[0]).compute(), expected.predict(X))


def test_classes_are_balanced_by_what_their_rows_weigh(client, tmp_path):
    """In memory, from files and on a cluster alike; labels that are texts stay such in Parquet."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] > 0.5, "yes", "no")
    frame["w"] = np.where(np.arange(300) % 7, rng.uniform(0.1, 3.0, 300), 0.0)
    X, y, w = frame[["a", "b"]], frame["y"], frame["w"]
    asked = PARAMETERS | {"n_stages": 1, "class_weight": "balanced"}
    expected = TSLClassifier(**asked).fit(X, y, sample_weight=w).decision_function(X)
    for k, part in enumerate((frame[:120], frame[120:])):
        part.to_parquet(tmp_path / f"{k}.parquet")
    files = TSLClassifier(**asked).fit_files(f"{tmp_path}/*.parquet", target="y", sample_weight="w")
    np.testing.assert_array_equal(files.decision_function(X), expected)
    parts = dd.from_pandas(frame, npartitions=3)
    model = DaskTSLClassifier(client, **asked)
    model.fit(parts[["a", "b"]], parts["y"], sample_weight=parts["w"])
    np.testing.assert_array_equal(model.to_local().decision_function(X), expected)
    predicted = model.predict(parts[["a", "b"]])
    assert predicted.dtype == predicted.compute().dtype
    predicted.to_frame("label").to_parquet(tmp_path / "out")
    assert set(pd.read_parquet(tmp_path / "out")["label"]) == {"no", "yes"}


def test_weights_with_decimals_give_the_same_bits(table, client):
    X, y = table[FEATURES], table["rent"]
    for seed in range(4):  # sums by partition had another last bit with one of them
        weight = pd.Series(0.1 * np.random.default_rng(seed).random(len(X)), X.index, name="w")
        expected = TSLRegressor(**PARAMETERS).fit(X, y, sample_weight=weight)
        parts = dd.from_pandas(X.assign(rent=y, w=weight), npartitions=3)
        model = DaskTSLRegressor(client, **PARAMETERS)
        model.fit(parts[list(X.columns)], parts["rent"], sample_weight=parts["w"])
        np.testing.assert_array_equal(model.to_local().predict(X), expected.predict(X))


@pytest.mark.parametrize("early_stopping", [True, False])
def test_whole_weights_and_copies_give_the_same_bits(table, client, early_stopping):
    """They tell less than their sum, which the workers hear of; the model knows the sum."""
    X, y = pd.concat([table[FEATURES]] * 2), pd.concat([table["rent"]] * 2)
    X, y = X.reset_index(drop=True), y.reset_index(drop=True)
    weight = pd.Series(1.0 + np.arange(len(X)) % 3, X.index, name="w")
    parameters = PARAMETERS | {"early_stopping": early_stopping}
    expected = TSLRegressor(**parameters).fit(X, y, sample_weight=weight)
    parts = dd.from_pandas(X.assign(rent=y, w=weight), npartitions=3)
    model = DaskTSLRegressor(client, **parameters)
    model.fit(parts[list(X.columns)], parts["rent"], sample_weight=parts["w"])
    np.testing.assert_array_equal(model.to_local().predict(X), expected.predict(X))
    assert model.to_local().provenance_ == expected.provenance_
    assert expected.provenance_.weight == weight.sum()


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_a_wild_outcome_gives_the_same_bits(table, client, loss):
    X, y = table[FEATURES], table["rent"].astype(float).copy()
    y.iloc[7] = 1e9
    parameters = PARAMETERS | {"loss": loss}
    expected = TSLRegressor(**parameters).fit(X, y).predict(X)
    assert np.ptp(expected) > 0.0
    parts = dd.from_pandas(X.assign(rent=y), npartitions=3)
    model = DaskTSLRegressor(client, **parameters)
    model.fit(parts[list(X.columns)], parts["rent"])
    np.testing.assert_array_equal(model.to_local().predict(X), expected)


@pytest.fixture(params=[1, 2, 4])
def some_workers(cluster, client, request):
    """A cluster of another size for a while."""
    yield _scaled(cluster, client, request.param)
    _scaled(cluster, client, 2)


def _scaled(cluster, client, n_workers):
    cluster.scale(n_workers)
    until = time.monotonic() + 60.0
    while len(client.nthreads()) != n_workers:
        assert time.monotonic() < until
        time.sleep(0.05)
    return client


def test_neither_the_number_of_workers_nor_the_files_change_anything(some_workers, table, tmp_path):
    """Dask reads a single column in larger partitions, unless it is told not to."""
    client = some_workers
    for k in range(4):
        table[100 * k : 100 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    read = dd.read_parquet(str(tmp_path))
    numbers = table[["area", "rooms"]][:400]
    expected = TSLRegressor(**PARAMETERS).fit(numbers, table["rent"][:400])
    model = DaskTSLRegressor(client, **PARAMETERS).fit(read[["area", "rooms"]], read["rent"])
    np.testing.assert_array_equal(model.to_local().predict(numbers), expected.predict(numbers))


def test_groups_are_held_out_together(client, table, monkeypatch):
    """As in memory, and only names of groups of rows that are looked at leave the workers."""
    monkeypatch.setattr(selection, "N_FOLDS", 2)
    chosen = PARAMETERS | {"early_stopping": True, "main_effects": False}
    numbers = table[["area", "rooms"]]
    expected = TSLRegressor(**chosen).fit(
        numbers, table["rent"], table["w"], groups=table["house"].astype(float)
    )
    pieces = [table[a:b] for a, b in pairwise((0, 150, 150, 480, N))]
    pieces[0] = pieces[0].astype({"house": float})  # 1.0 is the group 1 of other partitions
    parts = dd.from_delayed([delayed(p) for p in pieces], meta=table[:0], verify_meta=False)
    gathered = []
    given = Tasks.gathered

    def keep(own, futures):
        found = given(own, futures)
        gathered.extend(found)
        return found

    monkeypatch.setattr(Tasks, "gathered", keep)
    model = DaskTSLRegressor(client, **chosen)
    model.fit(parts[["area", "rooms"]], parts["rent"], parts["w"], groups=parts["house"])
    found = model.to_local()
    np.testing.assert_allclose(found.predict(numbers), expected.predict(numbers), rtol=1e-9)
    assert found.size_paths_ == expected.size_paths_
    without = TSLRegressor(**chosen).fit(numbers, table["rent"], table["w"])
    assert found.size_paths_ != without.size_paths_
    used = table["house"][table["w"] > 0].to_numpy()
    looked_at = set(used[blocks.rows_looked_at(len(used))].astype(float).astype(str))
    names = [
        one[0] for one in gathered if isinstance(one, tuple) and isinstance(one[0], np.ndarray)
    ]
    assert set(np.concatenate(names)) == looked_at < set(used.astype(float).astype(str))


def _with_dates(house):
    return pd.Series(pd.Timestamp("2020-01-01"), house.index).where(house.index != 500)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.where(g.index != 500), "partition 3: groups .* missing .* got nan in row 20"),
        (_with_dates, "partition 3: groups .* missing .* got NaT in row 20"),
        (lambda g: g * 0, "groups must hold at least two groups, got only '0'"),
    ],
)  # fmt: skip
def test_groups_that_are_missing_or_only_one(client, table, change, message):
    parts = in_parts(table.assign(house=change(table["house"])))
    with pytest.raises(ValueError, match=message):
        DaskTSLRegressor(client).fit(parts[["area"]], parts["rent"], groups=parts["house"])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda g: g.repartition(npartitions=2), ValueError, r"groups .* of X \(4\), got 2"),
        (lambda g: g.map_partitions(lambda s: s[:300]), ValueError,
         r"partition 2: groups must have one value per row of X \(330\), got shape \(300,\)"),
        (lambda g: g.compute(), TypeError, "groups must be a dask DataFrame, Series or Array"),
    ],
)  # fmt: skip
def test_groups_that_do_not_belong_to_the_rows(client, table, change, error, message):
    parts = in_parts(table)
    with pytest.raises(error, match=message):
        DaskTSLRegressor(client).fit(parts[["area"]], parts["rent"], groups=change(parts["house"]))


def test_groups_need_a_choice_of_stages(client, table):
    parts = in_parts(table)
    model = DaskTSLRegressor(client, **PARAMETERS)
    with pytest.raises(ValueError, match="groups is for choosing the number of stages"):
        model.fit(parts[["area"]], parts["rent"], groups=parts["house"])


@pytest.mark.parametrize(
    ("types", "expected"),
    [(["i8", "f8"], "f8"), (["M8[s]", "M8[ns]"], "M8[ns]"), (["O", "i8"], None), (["U3"], None)],
)
def test_groups_of_several_types(types, expected):
    found = partitions.common_group_type({np.dtype(kind) for kind in types})
    assert found == (None if expected is None else np.dtype(expected))


def test_groups_of_kinds_that_have_no_names_in_common():
    with pytest.raises(TypeError, match=r"groups must .* one kind .* datetime64\[ns\] and int"):
        partitions.common_group_type({np.dtype("i8"), np.dtype("M8[ns]")})


def test_warm_start_goes_on_as_in_memory(client, table):
    parts, X = in_parts(table), table[["area", "rooms"]]
    chosen = PARAMETERS | {"warm_start": True}
    expected, model = TSLRegressor(**chosen), DaskTSLRegressor(client, **chosen)
    for n_stages in (1, 2):
        expected.set_params(n_stages=n_stages).fit(X, table["rent"])
        model.set_params(n_stages=n_stages).fit(parts[["area", "rooms"]], parts["rent"])
    found = model.to_local()
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-9)
    assert len(found.stages_) == len(expected.stages_)
    assert len(found.history_) == len(expected.history_) == 2
    with pytest.raises(ValueError, match="columns of the fit that warm_start goes on from"):
        model.fit(parts[["area"]], parts["rent"])


class _Killer:
    """Kills a worker as a given order goes out, once."""

    def __init__(self, client, number, monkeypatch):
        self.killed = None
        given = rows.Shares.order

        def order(own, *arguments):
            if len(own._orders) >= number and self.killed is None:
                worker = own._places[0].worker
                self.killed = client.run(os.getpid)[worker]
                os.kill(self.killed, signal.SIGKILL)
            return given(own, *arguments)

        monkeypatch.setattr(rows.Shares, "order", order)


def test_answers_that_take_longer_than_a_look_at_the_workers_arrive(client, table, monkeypatch):
    monkeypatch.setattr(rows, "_POLL_SECONDS", 1e-4)
    parts, X = in_parts(table[["area", "rent"]]), table[["area"]]
    expected = TSLRegressor(**PARAMETERS).fit(X, table["rent"]).predict(X)
    for _ in range(3):  # a wait that was given up may only show in the next one
        model = DaskTSLRegressor(client, **PARAMETERS).fit(parts[["area"]], parts["rent"])
        np.testing.assert_allclose(model.to_local().predict(X), expected, rtol=1e-9)


def test_offsets_of_an_array_belong_to_the_rows_of_a_frame(client, table):
    parts = in_parts(table)
    model = DaskTSLRegressor(client, **PARAMETERS).fit(parts[["area"]], parts["rent"])
    lengths = tuple(parts.map_partitions(len).compute())
    offset = da.from_array(table["shift"].to_numpy(), chunks=(lengths,))
    found = model.predict(parts[["area"]], offset=offset).compute()
    np.testing.assert_array_equal(found, model.to_local().predict(table[["area"]], table["shift"]))


def test_a_worker_that_is_killed_changes_nothing(client, table, monkeypatch):
    numbers, chosen = table[["area", "rooms"]], PARAMETERS | {"loss": "poisson"}
    expected = TSLRegressor(**chosen).fit(numbers, table["rent"], offset=table["shift"])
    killer = _Killer(client, 20, monkeypatch)
    parts = in_parts(table)
    model = DaskTSLRegressor(client, **chosen)
    model.fit(parts[["area", "rooms"]], parts["rent"], offset=parts["shift"])
    assert killer.killed is not None
    with pytest.raises(ProcessLookupError):
        os.kill(killer.killed, 0)
    np.testing.assert_allclose(
        model.to_local().predict(numbers, table["shift"]),
        expected.predict(numbers, table["shift"]),
        rtol=1e-9,
    )
    assert_nothing_is_left(client)
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("is_in_order", [True, False])
def test_a_client_that_goes_away_leaves_nothing(cluster, client, table, monkeypatch, is_in_order):
    """Before an order is sent, or while its answer is waited for."""
    parts, given, closing = in_parts(table), rows.Shares._told, []

    def told(own, place, first, orders):
        if first < 15 or closing:
            return given(own, place, first, orders)
        closing.append(threading.Thread(target=other.close))
        sent = None if is_in_order else own._submit(place, time.sleep, 1.5)
        closing[0].start()
        if is_in_order:
            closing[0].join()
        return sent or given(own, place, first, orders)

    monkeypatch.setattr(rows.Shares, "_told", told)
    with Client(cluster, set_as_default=False) as other:
        model = DaskTSLRegressor(other, **PARAMETERS)
        with pytest.raises(RuntimeError, match="client must stay open until the fit ends"):
            model.fit(parts[["area", "rooms"]], parts["rent"])
        closing[0].join()
    with pytest.raises(NotFittedError):
        model.to_local()
    assert_nothing_is_left(client)


def test_a_share_may_be_moved_or_put_on_a_disk():
    rows_ = shares.CodedRows(np.zeros((1, 2), np.uint8), np.arange(2.0), np.ones(2), np.zeros(2))
    share = shares.Share(0, [0], [rows_])
    share.follow(0, [pickle.dumps(("column", ("target",)))])
    moved = pickle.loads(pickle.dumps(share))
    assert moved.n_done == 1
    assert moved.follow(1, [pickle.dumps(("column", ("target",)))]).tolist() == [0.0, 1.0]
    with pytest.raises(shares.LostShareError, match="order 1 after 0"):
        shares.Share(0, [0], [rows_]).follow(1, [pickle.dumps(("column", ("target",)))])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(rent=t["rent"].where(t.index != 500)), "partition 3: y .* nan in"),
        (lambda t: t.assign(w=t["w"].where(t.index != 200, -1.0)), "partition 2: sample_weight"),
        (lambda t: t.assign(area=pd.Timestamp("2020-01-01")), "partition [023]: .* dates"),
        (lambda t: t.assign(rent=pd.Timestamp("2020-01-01")), "partition [023]: y .* datetime64"),
        (lambda t: t.assign(rent=t["rent"] + 1j), "partition [023]: y .* complex"),
        (lambda t: t.assign(w=0.0), "sample_weight must have a positive sum"),
        (lambda t: t[:0], r"X must have at least 1 sample, got 4 partition\(s\)"),
    ],
)  # fmt: skip
def test_one_error_that_names_the_partition(client, table, change, message):
    parts = in_parts(change(table))
    model = DaskTSLRegressor(client, **PARAMETERS)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(parts[FEATURES], parts["rent"], parts["w"])
    with pytest.raises(NotFittedError):
        model.to_local()
    assert_nothing_is_left(client)  # though the error and its traceback are still there


@pytest.mark.parametrize(
    ("names", "other"),
    [(["a", "b"], ["b", "a"]), (["a", "b"], ["a", "c"]), ([0, 1], [1, 0]), (["a", "b"], ["a"])],
)
def test_columns_of_partitions_that_are_not_the_same(client, table, names, other):
    whole = table[["area", "rooms"]].set_axis(names, axis=1)
    last = table[["area", "rooms"]].iloc[480:, : len(other)].set_axis(other, axis=1)
    parts = dd.from_delayed([delayed(whole[:480]), delayed(last)], whole[:0], verify_meta=False)
    y = in_parts(table[["rent"]], (0, 480, N))["rent"]
    with pytest.raises(ValueError, match="partition 1: columns must be"):
        DaskTSLRegressor(client).fit(parts, y)


def test_rows_of_weight_zero_may_fill_a_partition(client, table):
    weight = np.where(np.arange(N) < 480, 1.0, 0.0)
    parts = in_parts(table.assign(w=weight))
    expected = TSLRegressor(**PARAMETERS).fit(table[["area"]], table["rent"], weight)
    model = DaskTSLRegressor(client, **PARAMETERS)
    found = model.fit(parts[["area"]], parts["rent"], parts["w"]).to_local()
    np.testing.assert_array_equal(found.predict(table[["area"]]), expected.predict(table[["area"]]))


def test_arrays_whose_chunks_have_no_known_sizes(client, table):
    """And a target in the only column of an array, infinite numbers among the features."""
    whole = table[["area", "rooms"]].replace(5.0, np.inf)
    parts = in_parts(whole.assign(rent=table["rent"]))
    X, y = parts[["area", "rooms"]].values, parts[["rent"]].values
    assert np.isnan(X.shape[0])
    expected = TSLRegressor(**PARAMETERS).fit(whole.to_numpy(), table["rent"])
    model = DaskTSLRegressor(client, **PARAMETERS).fit(X, y)
    wanted = expected.predict(whole.to_numpy())
    np.testing.assert_array_equal(model.predict(X).compute(), wanted)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["a", 1], TypeError, "y must have labels of one kind, got strings and numbers"),
        (["a", None], ValueError, "partition 1: y must not have missing values, got None in row 0"),
        ([f"{k} EUR" for k in range(N)], ValueError, "y must have classes that repeat, got"),
    ],
)
def test_labels_of_other_partitions(client, table, labels, error, message):
    each = labels if len(labels) == N else [labels[k >= 350] for k in range(N)]
    y = da.from_array(np.array(each, dtype=object), chunks=350)
    X = da.from_array(table[["area"]].to_numpy(), chunks=350)
    with pytest.raises(error, match=message):
        DaskTSLClassifier(client).fit(X, y)


def test_categories_of_any_order(client, table):
    levels = table["district"].unique().tolist()
    pieces = [
        table[["area", "district"]][a:b].astype({"district": pd.CategoricalDtype(own)})
        for a, b, own in [(0, 480, levels), (480, N, levels[::-1])]
    ]
    parts = dd.from_delayed([delayed(p) for p in pieces], pieces[0][:0], verify_meta=False)
    y = in_parts(table[["rent"]], (0, 480, N))["rent"]
    expected = TSLRegressor(**PARAMETERS).fit(table[["area", "district"]], table["rent"])
    model = DaskTSLRegressor(client, **PARAMETERS).fit(parts, y).to_local()
    X = table[["area", "district"]]
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9)


def test_predictions_are_refused_before_anything_is_computed(client, table):
    parts, X = in_parts(table), da.from_array(table[["area", "rooms"]].to_numpy(), chunks=350)
    for kind, method in ((DaskTSLRegressor, "predict"), (DaskTSLClassifier, "predict_proba")):
        with pytest.raises(NotFittedError):
            getattr(kind(client), method)(X)
    fitted = DaskTSLRegressor(client, **PARAMETERS)
    fitted._local.fit(table[["area", "district"]], table["rent"])
    with pytest.raises(ValueError, match=r"X must have the columns .* missing \['district'\]"):
        fitted.predict(parts[["area", "rooms"]])
    with pytest.raises(ValueError, match="X has 1 features, but DaskTSLRegressor is expecting 2"):
        fitted.predict(X[:, :1])
    with pytest.raises(ValueError, match=r"offset must have the partitions of X \(4\), got 1"):
        fitted.predict(parts, parts["shift"].repartition(npartitions=1))


def test_copies_have_no_connection_of_their_own(client):
    model = DaskTSLRegressor(client, n_stages=3)
    assert clone(model).client is client
    assert clone(model).get_params()["n_stages"] == 3
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params() | {"client": None}


def test_partitions_of_other_types_count_as_one_column(client, table):
    """Texts in one partition and numbers in another are levels, as they are in memory."""
    mixed = table[["area", "rooms"]].astype({"rooms": int}).astype({"rooms": object})
    mixed.loc[600:, "rooms"] = "many"
    pieces = [mixed[:480].astype({"rooms": float}), mixed[480:]]
    parts = dd.from_delayed([delayed(p) for p in pieces], meta=mixed[:0], verify_meta=False)
    y = in_parts(table[["rent"]], (0, 480, N))["rent"]
    expected = TSLRegressor(**PARAMETERS).fit(mixed, table["rent"])
    model = DaskTSLRegressor(client, **PARAMETERS).fit(parts, y).to_local()
    np.testing.assert_allclose(model.predict(mixed), expected.predict(mixed), rtol=1e-9)


def test_what_is_no_dask_collection_is_refused(client, table):
    parts = in_parts(table)
    with pytest.raises(TypeError, match="X must be a dask DataFrame"):
        DaskTSLRegressor(client).fit(table[FEATURES], parts["rent"])
    with pytest.raises(ValueError, match="y must have the partitions of X"):
        DaskTSLRegressor(client).fit(parts[FEATURES], parts["rent"].repartition(npartitions=1))
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client"):
        DaskTSLRegressor("here").fit(parts[FEATURES], parts["rent"])
    with pytest.raises(ValueError, match="fit requires y"):
        DaskTSLRegressor(client).fit(parts[FEATURES], None)
    with pytest.raises(ValueError, match=r"X must have two dimensions, .* got 1"):
        DaskTSLRegressor(client).fit(parts["area"], parts["rent"])


def test_no_client_at_all(table, monkeypatch):
    monkeypatch.setattr("distributed.client._get_global_client", lambda: None)
    monkeypatch.setattr("distributed.worker.get_worker", _no_worker)
    parts = in_parts(table)
    with pytest.raises(ValueError, match="client must be given where none is running"):
        DaskTSLRegressor().fit(parts[FEATURES], parts["rent"])


def _no_worker():
    raise ValueError("no worker found")


@pytest.mark.parametrize("n_shares", [1, 2, 3, 5, 11])
def test_sums_do_not_depend_on_how_blocks_are_divided(n_shares):
    sums = np.random.default_rng(0).normal(size=(11, 4)) * 10.0 ** np.arange(-5, 6)[:, None]
    expected = blocks.tree_sum(list(sums))
    cuts = [round(k * 11 / n_shares) for k in range(n_shares + 1)]
    whole = Branches()
    for first, last in pairwise(cuts):
        share = Branches(first)
        for one in sums[first:last]:
            share.add(one)
        for level, branch in share.done:
            whole.add(branch, level)
    np.testing.assert_array_equal(whole.total, expected)


@pytest.mark.parametrize("n_slots", [1, 2, 4, 9])
def test_blocks_are_the_same_whatever_partitions_they_lie_in(n_slots):
    lengths = [150, 0, 330, 220]
    table = np.arange(700.0)
    coded = [
        shares.CodedRows(piece[None], piece, piece, piece)
        for piece in np.split(table, np.cumsum(lengths)[:-1])
    ]
    found = []
    for place in rows._places(coded, lengths, [f"worker {k}" for k in range(n_slots)]):
        share = shares.build(place.first_block, place.starts, place.pieces, *place.coded)
        assert share.starts == [int(block.target[0]) for block in share.blocks]
        found += [block.target.tolist() for block in share.blocks]
    assert found == [table[part].tolist() for part in blocks.block_parts(700)]
