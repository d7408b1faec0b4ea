"""Fits on a Dask cluster: the model of the rows in memory, whoever dies on the way."""

from __future__ import annotations

import os
import signal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="dask and distributed are not installed")

import dask.array as da
import dask.dataframe as dd
from dask import delayed
from distributed import Client, LocalCluster

from seplearn import TSLClassifier, TSLRegressor, datasets
from seplearn.dask import DaskTSLClassifier, DaskTSLRegressor, rows, shares
from seplearn.table import blocks
from seplearn.table.blocks import Branches

# distributed and its event loop warn of their own affairs, such as ports in use.
pytestmark = pytest.mark.filterwarnings("default")

N = 700
PARAMETERS = {"n_stages": 1, "random_state": 0, "early_stopping": False}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks, and a model that grows on some of the rows."""
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 130)
    monkeypatch.setattr(blocks, "ROWS_LOOKED_AT", 400)
    monkeypatch.setattr(rows, "_POLL_SECONDS", 0.2)


@pytest.fixture(scope="module")
def table():
    X, y = datasets.rents(N, random_state=0)
    X.loc[N - 5 :, "district"] = "Outskirts"  # a level that only the last partition has
    X.loc[:30, "area"] = np.nan
    weight = np.random.default_rng(1).choice([0.0, 0.7, 1.3], N)
    return X.assign(rent=y, w=weight, shift=np.log(np.linspace(0.5, 2.0, N)))


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
    assert client.run(_n_shares) == dict.fromkeys(client.nthreads(), 0)  # nothing is left there


def _n_shares():
    return len(shares._SHARES)


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


def test_neither_the_number_of_shares_nor_the_files_change_anything(
    client, table, monkeypatch, tmp_path
):
    """Dask reads a single column in larger partitions, unless it is told not to."""
    slots = [worker for worker in sorted(client.nthreads()) for _ in range(2)]
    monkeypatch.setattr(rows.Shares, "_slots", lambda _: slots)
    for k in range(4):
        table[100 * k : 100 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    read = dd.read_parquet(str(tmp_path))
    numbers = table[["area", "rooms"]][:400]
    expected = TSLRegressor(**PARAMETERS).fit(numbers, table["rent"][:400])
    model = DaskTSLRegressor(client, **PARAMETERS).fit(read[["area", "rooms"]], read["rent"])
    np.testing.assert_array_equal(model.to_local().predict(numbers), expected.predict(numbers))


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


def test_a_worker_that_is_killed_changes_nothing(client, table, monkeypatch):
    numbers, chosen = table[["area", "rooms"]], PARAMETERS | {"loss": "poisson"}
    expected = TSLRegressor(**chosen).fit(numbers, table["rent"], offset=table["shift"])
    killer = _Killer(client, 40, monkeypatch)
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
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(rent=t["rent"].where(t.index != 500)), "partition 3: y .* nan in"),
        (lambda t: t.assign(w=t["w"].where(t.index != 200, -1.0)), "partition 2: sample_weight"),
        (lambda t: t.assign(area=pd.Timestamp("2020-01-01")), "partition [023]: .* dates"),
    ],
)  # fmt: skip
def test_one_error_that_names_the_partition(client, table, change, message):
    parts = in_parts(change(table))
    model = DaskTSLRegressor(client, **PARAMETERS)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(parts[FEATURES], parts["rent"], parts["w"])
    assert not hasattr(model.to_local(), "model_")


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
        shares.build(place.key, place.first_block, place.starts, place.pieces, *place.coded)
        share = shares._SHARES[place.key]
        assert share.starts == [int(block.target[0]) for block in share.blocks]
        found += [block.target.tolist() for block in share.blocks]
        shares.forget([place.key])
    assert found == [table[part].tolist() for part in blocks.block_parts(700)]
