"""Files that were damaged or made to do harm: refused, or models like any other."""

import json
import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn import ModelFormatError, load_model
from seplearn.model import format as model_format
from seplearn.model.container import LARGEST_HEADER
from seplearn.model.evaluation import Evaluation
from seplearn.model.format import VERSION, decode, read_file
from tests.model.damage import (
    GOLDEN,
    check_refused_or_usable,
    damaged,
    joined,
    parts,
    rewritten,
    sealed,
)

NEWEST = GOLDEN / "joint-v4.tsl"
OLDEST = GOLDEN / "reference-v3.tsl"


@pytest.mark.parametrize("block", range(20))
def test_damaged_files_are_refused_or_usable(block, tmp_path):
    files = [path.read_bytes() for path in sorted(GOLDEN.glob("*.tsl"))]
    path = tmp_path / "damaged.tsl"
    for seed in range(10 * block, 10 * block + 10):
        path.write_bytes(damaged(files[seed % len(files)], seed))
        check_refused_or_usable(path)


def test_untouched_files_are_usable(tmp_path):
    path = tmp_path / "m.tsl"
    for golden in sorted(GOLDEN.glob("*.tsl")):
        for same in (
            golden.read_bytes(),
            joined(*parts(golden.read_bytes())),
            rewritten(golden.read_bytes(), lambda header, outer: None),
        ):
            path.write_bytes(same)
            assert check_refused_or_usable(path), golden.name


def test_every_flipped_bit_is_found():
    data = (GOLDEN / "sepals-v4.tsl").read_bytes()
    decode(data, "file")
    for at in range(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 8
        with pytest.raises(ModelFormatError):
            decode(bytes(flipped), "file")


def test_a_file_without_its_checksum_is_refused():
    header, arrays, _ = parts(NEWEST.read_bytes())
    with pytest.raises(ModelFormatError, match="a checksum belongs to files from version 4 on"):
        decode(joined(header, arrays, None), "file")
    header["version"] = 3  # nor does it pass as an older one
    with pytest.raises(ModelFormatError, match="a checksum belongs to files from version 4 on"):
        decode(joined(header, arrays, np.zeros(32, np.uint8)), "file")


EFFECTS = {
    "a bin too few": (lambda a: a.update(effects=a["effects"][:-1]), "shape or type of 'effects'"),
    "no number": (lambda a: a["effects"].__setitem__(3, math.nan), "'effects' must hold finite"),
    "beyond all sums": (
        lambda a: a["effects"].__setitem__(3, 1e308),
        "'effects' must hold numbers",
    ),
    "no effects": (lambda a: a.pop("effects"), "effects"),
    "none of the replicates": (lambda a: a.pop("replicate_effects"), "replicate_effects"),
    "a replicate too few": (
        lambda a: a.update(replicate_effects=a["replicate_effects"][:-1]),
        "shape or type of 'replicate_effects'",
    ),
    "endless in a replicate": (
        lambda a: a["replicate_effects"].__setitem__((0, 0), math.inf),
        "'replicate_effects' must hold finite",
    ),
}


@pytest.mark.parametrize(("change", "message"), EFFECTS.values(), ids=EFFECTS.keys())
def test_main_effects_that_are_none_are_refused(change, message):
    header, arrays, checksum = parts((GOLDEN / "effects-v4.tsl").read_bytes())
    change(arrays)
    with pytest.raises(ModelFormatError, match=message):
        decode(joined(header, arrays, checksum), "file")


def _descending(arrays):
    arrays["spread_scores"] = arrays["spread_scores"][::-1].copy()


def _too_few(arrays):
    arrays["spread_by_prediction"] = arrays["spread_by_prediction"][1:].copy()


def _none(arrays):
    arrays["spread_scores"] = np.empty(0)


def _half(arrays):
    for name in ("spread_scores", "spread_curves", "spread_edges", "spread_by_prediction"):
        del arrays[name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_descending, "must ascend"),
        (_too_few, "spread_by_prediction"),
        (_none, "number of scores"),
        (_half, "spread of outcomes"),
    ],
)
def test_spreads_of_outcomes_that_are_none_are_refused(change, message):
    header, arrays, checksum = parts((GOLDEN / "outcomes-v4.tsl").read_bytes())
    change(arrays)
    with pytest.raises(ModelFormatError, match=message):
        decode(joined(header, arrays, checksum), "file")


def test_files_of_version_3_have_no_main_effects():
    header, arrays, checksum = parts(OLDEST.read_bytes())
    arrays["effects"] = np.zeros(len(arrays["frequencies"]))
    with pytest.raises(ModelFormatError, match="belong to files from version 4 on"):
        decode(joined(header, arrays, checksum), "file")


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_arbitrary_bytes_are_refused(data):
    with pytest.raises(ModelFormatError):
        decode(data, "file")


@pytest.mark.parametrize("data", [b"", bytes(1000), b"{}", b"\x02" + bytes(7) + b"{}"])
def test_files_of_zeros_and_empty_ones_are_refused(data, tmp_path):
    (tmp_path / "m.tsl").write_bytes(data)
    with pytest.raises(ModelFormatError, match=r"m\.tsl"):
        load_model(tmp_path / "m.tsl")


def state(position=4, words=624, word=1, has_gauss=0, gauss=0.0):
    return {"RandomState": [[word] * words, position, has_gauss, gauss]}


def nested(depth):
    out = []
    for _ in range(depth):
        out = [out]
    return out


def changed_path(**changed):
    return lambda header, _: header["size_paths"][0].update(changed)


EVALUATION = Evaluation.of(np.arange(5.0), np.ones(5)).to_plain()
HOSTILE = {
    "ten gigabytes": (
        lambda h, o: o["sha256"].update(shape=[10**10], data_offsets=[6345, 6345 + 10**10]),
        "its size is not that of its arrays",
    ),
    "arrays that overlap": (lambda h, o: o["edges"].update(data_offsets=[0, 272]), "one after"),
    "an array of another size": (lambda h, o: o["edges"].update(shape=[35]), "size of an array"),
    "a negative shape": (lambda h, o: o["edges"].update(shape=[-2, -17]), "a count must be"),
    "a shape in words": (lambda h, o: o["edges"].update(shape="34"), "shape of an array"),
    "four dimensions": (lambda h, o: o["edges"].update(shape=[1, 1, 1, 34]), "shape of an array"),
    "a type of objects": (lambda h, o: o["edges"].update(dtype="O"), "type of an array"),
    "a type of other numbers": (lambda h, o: o["edges"].update(dtype="I64"), "type of 'edges'"),
    "an unknown array": (lambda h, o: o.update(evil=o.pop("values")), "arrays that no model has"),
    "more metadata": (lambda h, o: o["__metadata__"].update(more="x"), "fields of the header"),
    "another format": (lambda h, o: h.update(format="pickle"), "unknown format"),
    "a later version": (lambda h, o: h.update(version=VERSION + 1), "a newer seplearn may"),
    "version zero": (lambda h, o: h.update(version=0), "not one of 3 to 4"),
    "a version in words": (lambda h, o: h.update(version="one"), "not one of 3 to 4"),
    "a version that is true": (lambda h, o: h.update(version=True), "not one of 3 to 4"),
    "an unknown field": (lambda h, o: h.update(evil=[]), r"unknown fields \['evil'\]"),
    "a missing field": (lambda h, o: h.pop("target"), "fields of the header"),
    "a target in numbers": (lambda h, o: h.update(target=3), "name of the target"),
    "an evaluation of words": (lambda h, o: h.update(evaluation="good"), "fields of the eval"),
    "half an evaluation": (lambda h, o: h.update(evaluation={"rmse": 1.0}), "fields of the eval"),
    "an endless error": (
        lambda h, o: h.update(evaluation=EVALUATION | {"rmse": math.inf}),
        "must be finite",
    ),
    "an error in words": (
        lambda h, o: h.update(evaluation=EVALUATION | {"rmse": "1.5"}),
        "a number is expected",
    ),
    "a list for an error": (
        lambda h, o: h.update(evaluation=EVALUATION | {"rmse": [1.0]}),
        "a number is expected",
    ),
    "a long evaluation": (
        lambda h, o: h.update(evaluation=EVALUATION | {"predicted": [1.0] * 1000}),
        "lengths of lists",
    ),
    "no axes": (lambda h, o: h.update(axes=[], names=False), "at least one feature"),
    "an axis too many": (lambda h, o: h["axes"].append(h["axes"][0]), "too few texts"),
    "unknown axis": (lambda h, o: h["axes"][1].update(kind="date"), "unknown kind of feature"),
    "more of an axis": (lambda h, o: h["axes"][0].update(more=1), "fields of a numeric"),
    "many edges": (lambda h, o: h["axes"][0].update(n_edges=10**9), "a count must be"),
    "edges below zero": (lambda h, o: h["axes"][0].update(n_edges=-1), "a count must be"),
    "edges in halves": (lambda h, o: h["axes"][0].update(n_edges=31.0), "a count must be"),
    "many levels": (lambda h, o: h["axes"][1].update(n_levels=60_001), "a count must be"),
    "rare levels too many": (lambda h, o: h["axes"][1].update(n_rare=50), "too few texts"),
    "texts left over": (lambda h, o: h["axes"][1].update(n_rare=0), "texts are left over"),
    "infinite intercept": (lambda h, o: h.update(intercept=math.inf), "must be finite"),
    "no number": (lambda h, o: h.update(intercept="0"), "a number is expected"),
    "a number of thousand digits": (lambda h, o: h.update(intercept=10**1000), "OverflowError"),
    "unknown branch": (lambda h, o: h["stages"][0].__setitem__(0, "magic"), "kind of branch"),
    "three branches": (lambda h, o: h["stages"][0].append("absent"), "a stage is a pair"),
    "branches left out": (lambda h, o: h["stages"].pop(), "shape or type of 'log_factors'"),
    "a parameter out of range": (lambda h, o: h["params"].update(n_stages=-1), "n_stages must be"),
    "an unknown parameter": (lambda h, o: h["params"].update(evil=1), "evil"),
    "no parameters": (lambda h, o: h.update(params=None), "parameters must be a table"),
    "a nested parameter": (
        lambda h, o: h["params"].update(monotonic_cst=nested(500)),
        "'monotonic_cst' must not be nested",
    ),
    "a random position": (lambda h, o: h["params"].update(random_state=state(10**8)), "0 to 624"),
    "a negative position": (lambda h, o: h["params"].update(random_state=state(-1)), "0 to 624"),
    "a position after the last": (
        lambda h, o: h["params"].update(random_state=state(625)),
        "0 to 624",
    ),
    "a word too few": (lambda h, o: h["params"].update(random_state=state(words=623)), "624 words"),
    "a word too large": (
        lambda h, o: h["params"].update(random_state=state(word=2**32)),
        "a count must be",
    ),
    "a word below zero": (
        lambda h, o: h["params"].update(random_state=state(word=-1)),
        "a count must be",
    ),
    "more than a spare normal": (
        lambda h, o: h["params"].update(random_state=state(has_gauss=2)),
        "a count must be",
    ),
    "a spare NaN": (
        lambda h, o: h["params"].update(random_state=state(gauss=math.nan)),
        "must not be NaN",
    ),
    "a library that is a list": (lambda h, o: h.update(frame=["pandas"]), "library of the table"),
    "values of an axis that has none": (
        lambda h, o: h["axes"][0].update(values=True),
        "too few values",
    ),
    "a range upside down": (lambda h, o: h["axes"][0].update(range=[2.0, 1.0]), "range of a num"),
    "a range of one end": (lambda h, o: h["axes"][0].update(range=[2.0]), "range of a numeric"),
    "a range in words": (lambda h, o: h["axes"][0].update(range="wide"), "range of a numeric"),
    "reference rows of another width": (
        lambda h, o: o["reference_codes"].update(shape=[80, 2]),
        "shape of the reference rows",
    ),
    "another history": (lambda h, o: h["history"][0].pop("loss"), "fields of the history"),
    "a negative loss": (lambda h, o: h["history"][0].update(loss=-1.0), "must not be negative"),
    "many scalars": (lambda h, o: h["history"][0].update(n_scalars=9), "too few scalars"),
    "an unknown estimator": (lambda h, o: h.update(estimator="os.system"), "must be one of"),
    "no paths of sizes": (lambda h, o: h.pop("size_paths"), "fields of the header"),
    "a table of paths": (lambda h, o: h.update(size_paths={}), "must be a list"),
    "a path in words": (lambda h, o: h.update(size_paths=["long"]), "fields of a path"),
    **{
        f"a path with {what}": (changed_path(**changed), reason)
        for what, changed, reason in (
            ("more", {"evil": 1}, "fields of a path"),
            ("a size beyond it", {"chosen": 4}, "from 0 to 3"),
            ("half a size", {"chosen": 1.5}, "from 0 to 3"),
            ("no size taken", {"chosen": None}, "one path of sizes must be chosen"),
            ("an error too few", {"errors": [0.0]}, "lengths of a path"),
            ("nothing", {"errors": [], "losses": []}, "lengths of a path"),
            ("a loss for a list", {"losses": 1.0}, "must hold lists"),
            ("losses in words", {"losses": ["1"] * 4}, "a number is expected"),
            ("a loss that is none", {"losses": [math.nan] * 4}, "must not be NaN"),
            ("errors below zero", {"errors": [-1.0] * 4}, "must not be negative"),
            ("a form in words", {"main_effects": "no"}, "True or False"),
        )
    },
    **{
        f"an evaluation with {name}": (
            lambda h, o, c=change: h.update(evaluation=EVALUATION | c),
            reason,
        )
        for name, change, reason in (
            ("negative residuals", {"residual_counts": [-5.0] * 24}, "residuals of the evaluation"),
            (
                "residuals that fall",
                {"residual_edges": EVALUATION["residual_edges"][::-1]},
                "residuals of the evaluation",
            ),
            ("one class", {"classes": ["a"]}, "classes of the evaluation"),
        )
    },
    "a time below zero": (lambda h, o: h["history"][0].update(seconds=-1.0), "not be negative"),
    "actions below zero": (lambda h, o: h["history"][0].update(mean_actions=-7.0), "not be neg"),
    "two sizes taken": (
        lambda h, o: h["size_paths"][1].update(chosen=0),
        "one path of sizes must be chosen",
    ),
}


@pytest.mark.parametrize(("change", "reason"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_headers_are_refused(change, reason, tmp_path):
    path = tmp_path / "hostile.tsl"
    path.write_bytes(rewritten(NEWEST.read_bytes(), change))
    with pytest.raises(ModelFormatError, match=rf"(?s)hostile\.tsl.*{reason}"):
        load_model(path)


HOSTILE_BEFORE = {
    "levels of numbers": lambda h, o: h["axes"][1].update(levels=[1, 2, 3]),
    "equal levels": lambda h, o: h["axes"][1].update(levels=["a", "a", "b"]),
    "equal names": lambda h, o: h.update(names=["a", "a", "b", "c"]),
    "an unknown field": lambda h, o: h.update(evil=[]),
    "an unknown field of an axis": lambda h, o: h["axes"][0].update(evil=[]),
    "scalars in words": lambda h, o: h["history"][0].update(scalars=[["1", "2"]]),
    "a random position": lambda h, o: h["params"].update(random_state=state(10**8)),
}


@pytest.mark.parametrize("change", HOSTILE_BEFORE.values(), ids=HOSTILE_BEFORE.keys())
def test_hostile_headers_of_version_3_are_refused(change):
    decode(rewritten(OLDEST.read_bytes(), lambda h, o: None), "file")
    with pytest.raises(ModelFormatError):
        decode(rewritten(OLDEST.read_bytes(), change), "file")


def put(name, at, value):
    def change(arrays):
        arrays[name][at] = value

    return change


HOSTILE_ARRAYS = {
    **{
        f"no number in {name}": (put(name, 0, math.nan), "must hold finite")
        for name in ("frequencies", "log_factors", "coefficients", "edges", "history_scalars")
    },
    "edges that fall": (put("edges", 0, 1e9), "edges must ascend"),
    "an edge below all": (put("edges", 0, -math.inf), "edges must ascend|must hold finite"),
    "values in other bins": (put("values", 0, 2.5), "values must lie in their bins"),
    "a factor beyond all numbers": (put("log_factors", (0, 0), 1e9), "at most 1500"),
    "a replicate beyond them": (put("replicate_log_factors", (0, 0, 0), -1e9), "at most 1500"),
    "a coefficient beyond them": (put("coefficients", (0, 1), 710.0), "size of a coefficient"),
    "negative frequencies": (put("frequencies", 0, -0.1), "frequencies must not be negative"),
    "frequencies of more than one": (put("frequencies", 0, 0.9), "must sum to one"),
    "rows in no bin": (put("reference_codes", (0, 0), 65_535), "bins of the reference rows"),
    "rows of another weight": (put("reference_weight", 0, 2.0), "weights of the reference rows"),
    "an end of a name beyond all": (put("name_ends", -1, 2**62), "ends of the texts"),
    "an end of a name before its begin": (put("name_ends", 0, 2**62), "ends of the texts"),
    "names that are no text": (put("names", 0, 255), "UnicodeDecodeError"),
    "equal names": (lambda a: a["names"].__setitem__(slice(None), 97), "ends of the|distinct"),
    "rows without weights": (lambda a: a.pop("reference_weight"), "reference_weight"),
    "weights without rows": (lambda a: a.pop("reference_codes"), "reference_codes"),
}


@pytest.mark.parametrize(("change", "reason"), HOSTILE_ARRAYS.values(), ids=HOSTILE_ARRAYS.keys())
def test_hostile_arrays_are_refused(change, reason):
    header, arrays, checksum = parts(NEWEST.read_bytes())
    change(arrays)
    with pytest.raises(ModelFormatError, match=reason):
        decode(joined(header, arrays, checksum), "file")


def test_stages_without_products_cannot_fill_the_memory():
    header, arrays, checksum = parts(NEWEST.read_bytes())
    n_replicates = len(arrays["replicate_intercepts"])
    empty = [["absent", "absent"]]
    header["stages"] += 2 * empty
    decode(joined(header, arrays, checksum), "file")  # a few may be there
    header["stages"] += (1_000_000 // n_replicates) * empty
    with pytest.raises(ModelFormatError, match="number of stages without products"):
        decode(joined(header, arrays, checksum), "file")


def test_a_large_header_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "m.tsl"
    text = b'{"__metadata__":{"seplearn":"' + b"[]," * (LARGEST_HEADER // 3) + b'"}}'
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match=f"more than {LARGEST_HEADER} bytes"):
        load_model(path)
    assert tracemalloc.get_traced_memory()[1] < LARGEST_HEADER / 10
    tracemalloc.stop()


def test_a_header_of_brackets_is_refused():
    for text in ("[" * 10**6, json.dumps({"format": "seplearn-model", "version": 4}) + "[" * 10**5):
        head = json.dumps({"__metadata__": {"seplearn": text}}).encode()
        with pytest.raises(ModelFormatError):
            decode(len(head).to_bytes(8, "little") + head, "file")
    head = b"[" * 10**6
    with pytest.raises(ModelFormatError):
        decode(len(head).to_bytes(8, "little") + head, "file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_devices_and_pipes_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in ("/dev/zero", "/dev/null", tmp_path / "pipe", tmp_path / "link"):
        with pytest.raises(ModelFormatError, match="must be a file, got a device or a pipe"):
            load_model(path)
    with pytest.raises(IsADirectoryError):
        load_model(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nowhere.tsl")


def test_huge_sparse_files_are_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "m.tsl"
    for start in (b"", NEWEST.read_bytes()):
        path.write_bytes(start)
        os.truncate(path, 2**33)
        with pytest.raises(ModelFormatError, match=r"no header|size is not|larger than the memory"):
            load_model(path)
    path.write_bytes(NEWEST.read_bytes())
    read_file(path)
    monkeypatch.setattr(model_format, "_memory", lambda: 1000.0)
    with pytest.raises(ModelFormatError, match="larger than the memory of this machine"):
        read_file(path)


def test_a_file_that_ends_early_is_refused():
    data = NEWEST.read_bytes()
    for length in (4, 8, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(ModelFormatError):
            decode(data[:length], "file")
        with pytest.raises(ModelFormatError):
            decode(sealed(data[:length]), "file")


DRAW = """
import sys
from seplearn import ModelFormatError, load_model
try:
    load_model(sys.argv[1]).random_state.randint(2**31, size=10**6)
except ModelFormatError:
    print("refused")
"""


def test_a_random_state_beyond_its_words_does_not_end_the_process(tmp_path):
    path = tmp_path / "m.tsl"
    change = HOSTILE["a random position"][0]
    path.write_bytes(rewritten(NEWEST.read_bytes(), change))
    command = [sys.executable, "-c", DRAW, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
