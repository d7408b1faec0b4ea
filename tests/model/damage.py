"""Model files, taken apart, damaged and put together again, and what must hold of those that load.

``python -m tests.model.damage 20`` damages files for twenty minutes.
"""

import hashlib
import json
import sys
import tempfile
import time
import traceback
import warnings
from copy import deepcopy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from safetensors.numpy import save
from sklearn.utils import check_random_state

from seplearn import ModelFormatError, explain, load_model, report
from seplearn.table.binning import NumericAxis

GOLDEN = Path(__file__).parents[1] / "golden"
DIGEST_SIZE = 32
NUMBERS = [
    0, 1, 2, -1, 3, 624, 625, 2**16, 2**31, 2**32, 2**53, 2**63, -(2**63), 10**30, 0.0, 0.5, -0.5,
    1e-320, 1e300, -1e308, float("nan"), float("inf"), float("-inf"), 10**8, 59_999,
]  # fmt: skip
THINGS = [None, True, False, "", "a", "numeric", "NaN", [], {}, [[]], [[[[]]]], [1, "a"]]


def parts(data):
    """The header of a file, its arrays, and the checksum, None in version 3."""
    length = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer.pop("__metadata__")["seplearn"])
    types = {"F64": "<f8", "I64": "<i8", "U16": "<u2", "U8": "u1"}
    arrays = {}
    for name, entry in outer.items():
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + length + begin : 8 + length + end], types[entry["dtype"]])
        arrays[name] = raw.reshape(entry["shape"]).copy()
    return header, arrays, arrays.pop("sha256", None)


def joined(header, arrays, checksum):
    """The file of these parts, with a checksum of its own if it had one."""
    text = json.dumps(header)
    if checksum is None:
        return save(arrays, metadata={"seplearn": text})
    return sealed(save(arrays | {"sha256": checksum}, metadata={"seplearn": text}))


def sealed(data):
    """The file with the right checksum at its end, if there is one at all."""
    if b'"sha256"' not in data:
        return data
    return data[:-DIGEST_SIZE] + hashlib.sha256(data[:-DIGEST_SIZE]).digest()


def rewritten(data, change):
    """The file with its header, and the places of its arrays, changed by a function."""
    length = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer["__metadata__"]["seplearn"])
    change(header, outer)
    outer["__metadata__"]["seplearn"] = json.dumps(header)
    text = json.dumps(outer).encode()
    text += b" " * (-len(text) % 8)
    return sealed(len(text).to_bytes(8, "little") + text + data[8 + length :])


def damaged(data, seed):
    """The file with one to three changes, most of them behind a checksum that is right."""
    random = np.random.default_rng(seed)
    kind = random.choice(["bytes", "header", "places", "arrays", "arrays and header"])
    if kind == "bytes":
        return _damaged_bytes(data, random)
    if kind == "places":
        return rewritten(data, lambda _, outer: _damage_places(outer, random))
    header, arrays, checksum = parts(data)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if "header" in kind:
            _damage_tree(header, random)
        if "arrays" in kind:
            _damage_arrays(arrays, random)
    return joined(header, arrays, checksum)


def _damaged_bytes(data, random):
    out = bytearray(data)
    for _ in range(random.integers(1, 6)):
        at = int(random.integers(0, len(out)) if out else 0)
        change = random.choice(["flip", "set", "cut", "insert", "repeat"])
        if change == "cut":
            del out[at:]
        elif change == "insert":
            out[at:at] = random.bytes(int(random.integers(1, 9)))
        elif change == "repeat":
            out[at:at] = out[at : at + 16]
        elif out:
            value = int(random.integers(0, 256))
            out[at] = out[at] ^ (1 << value % 8) if change == "flip" else value
    return sealed(bytes(out)) if random.random() < 0.7 else bytes(out)


def _places(tree):
    """Every place in a tree of lists and tables: what holds it, and under which key."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def _damage_places(outer, random):
    metadata = outer.pop("__metadata__")
    _damage_tree(outer, random)
    outer["__metadata__"] = metadata


def _any(values, random):
    return values[int(random.integers(0, len(values)))]


def _damage_tree(tree, random):
    places = list(_places(tree))
    if not places:
        return
    # Long lists, such as the words of a random state, must not draw all of the changes.
    holders = {id(holder): holder for holder, _ in places}
    holder = _any(list(holders.values()), random)
    keys = [key for owner, key in places if owner is holder]
    key = _any(keys, random)
    change = random.choice(["number", "thing", "drop", "other", "again", "near", "deep"])
    if change == "number":
        holder[key] = _any(NUMBERS, random)
    elif change == "thing":
        holder[key] = deepcopy(_any(THINGS, random))  # which a later change may change
    elif change == "drop":
        del holder[key]
    elif change == "other":
        owner, other = _any(places, random)
        holder[key] = json.loads(json.dumps(owner[other]))
    elif change == "again" and isinstance(holder, list):
        holder.append(json.loads(json.dumps(holder[key])))
    elif change == "near" and isinstance(holder[key], (int, float)):
        holder[key] = holder[key] + _any([-1, 1, 0.5, -1e-9], random)
    elif change == "deep":
        depth = int(_any([5, 300, 3000], random))
        for _ in range(depth if depth < 3000 else 5):
            holder[key] = [holder[key]]
    elif isinstance(holder, dict):
        holder["one more"] = deepcopy(_any(THINGS, random))


@np.errstate(all="ignore")
def _damage_arrays(arrays, random):
    name = _any(sorted(arrays), random)
    array = arrays[name]
    changes = ["item", "item", "items", "scaled", "type", "shape", "shorter", "longer", "drop"]
    change = random.choice(changes)
    if change in ("item", "items") and array.size:
        flat = array.reshape(-1)
        at = slice(None) if change == "items" else int(random.integers(0, flat.size))
        if array.dtype.kind == "f":
            flat[at] = _any([*map(float, NUMBERS), 709.0, -1400.0, 1e4], random)
        else:
            flat[at] = int(random.integers(0, np.iinfo(array.dtype).max))
    elif change == "scaled" and array.dtype.kind == "f":
        arrays[name] = array * _any([-1.0, 0.0, 1e-300, 0.9, 2.0, 50.0, 200.0], random)
    elif change == "type":
        arrays[name] = array.astype(_any(["<f8", "<f4", "<i8", "<u2", "u1"], random))
    elif change == "shape":
        arrays[name] = _any([array.reshape(-1), array[None], array.T.copy(), array[:0]], random)
    elif change == "shorter":
        arrays[name] = array[:-1].copy()
    elif change == "longer" and array.size:
        arrays[name] = np.concatenate([array, array[-1:]])
    elif change == "drop":
        del arrays[name]


def check_refused_or_usable(path):
    """A file is refused, or its model can do all that a model can; returns which."""
    try:
        model = load_model(path)
    except ModelFormatError:
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X = _rows_of(model)
        predictions = sums_of(model, X)
        assert np.isfinite(predictions).all()
        assert np.isfinite(model.predict_stages(X)).all()
        assert np.isfinite(model.predict_effects(X)).all()
        check_random_state(model.random_state).randint(2**31, size=1000)
        for subject in _subjects(model, X):
            _explain(subject, X)
        again = path.with_suffix(".again")
        model.save(again)
        np.testing.assert_array_equal(sums_of(load_model(again), X), predictions)
    return True


def sums_of(model, X):
    """What explanations add up to: the predictions, or the scores of classes."""
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


def _subjects(model, X):
    """The model, or what can be explained of one of several classes; all else is done here."""
    if not hasattr(model, "classes_"):
        model.evaluate(X, np.arange(len(X)))
        if model.model_.replicates:
            assert np.isfinite(model.predict_interval(X, kind="mean")).all()
        if model.model_.spread is not None:
            assert np.isfinite(model.predict_interval(X, 0.1)).all()
        _export(model)
        return [model]
    labels = model.classes_.tolist()
    model.evaluate(X, [labels[k % len(labels)] for k in range(len(X))])
    assert np.isfinite(model.predict_proba(X)).all()
    if model.model_.replicates:
        assert np.isfinite(model.predict_interval(X)).all()
    model.to_dict()
    return [model.for_class(labels[0]), model.for_class(labels[1], against=labels[2])]


def _rows_of(model):
    """Rows of which each feature has values in its bins, outside of them, and none."""
    columns = {}
    for name, axis in zip(model._schema.labels, model.model_.bins.axes, strict=True):
        if isinstance(axis, NumericAxis):
            columns[name] = [0.0, np.nan, np.inf, -1e308, *axis.edges[:3], *axis.edges[-3:]]
        else:
            columns[name] = [None, "never seen", *axis.levels[:6], *axis.rare[:2]]
    return pd.DataFrame({k: [v[i % len(v)] for i in range(12)] for k, v in columns.items()})


def _explain(model, X):
    for s in range(len(model.stages_)):
        explain.curves(model, s).frame()
    if model.model_.effects is not None:
        explain.main_effects(model).frame()
    if model.model_.size_paths:
        choice = explain.size_path(model)
        assert str(choice)
        choice.frame()
        plt.close(choice.plot())
    if not model.model_.is_constant:
        explain.roles(model, background=X).frame()
        explain.importance(model, background=X).frame()
        explain.interactions(model, background=X).frame()
        explain.local(model, X, 0).frame()
        explain.shapley(model, X, background=X).frame()
    explain.partial_dependence(model, 0, background=X).frame()


def _export(model):
    try:
        model.to_dict()
        report.report_html(model)
    except ValueError as error:  # curves of 1e300, which no fit makes
        if "beyond the largest number" not in str(error):
            raise


def _main(minutes):
    files = [path.read_bytes() for path in sorted(GOLDEN.glob("*.tsl"))]
    counts, found = {True: 0, False: 0}, {}
    begin = time.monotonic()
    seed = int(begin)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.tsl"
        while time.monotonic() < begin + 60 * minutes:
            seed += 1
            path.write_bytes(damaged(files[seed % len(files)], seed))
            started = time.monotonic()
            try:
                counts[check_refused_or_usable(path)] += 1
            except Exception:
                text = traceback.format_exc()
                if text not in found:
                    print(f"seed {seed}\n{text}", flush=True)
                found[text] = found.get(text, 0) + 1
            if time.monotonic() - started > 10:
                print(f"seed {seed} took {time.monotonic() - started:.0f} s", flush=True)
    print(f"{counts[False]} refused, {counts[True]} usable, {sum(found.values())} neither")


if __name__ == "__main__":
    _main(float(sys.argv[1]))
