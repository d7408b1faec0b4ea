"""Tables in files, read part by part in the order of the files; pyarrow reads them."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seplearn._errors import did_you_mean, wrong_type
from seplearn.table.columns import FrameTable, open_table

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "ipc"}  # how files begin
_CSV = "csv"
_ROWS_READ = 1 << 16
DATE = "date or time"
_KINDS = (
    ("number", ("is_integer", "is_floating", "is_decimal")),
    ("text", ("is_string", "is_large_string", "is_string_view", "is_dictionary")),
    ("truth value", ("is_boolean",)),
    (DATE, ("is_temporal",)),
)


class FilePart(NamedTuple):
    """Some rows: which file they come from, the number of the first there, and their columns."""

    file: str
    first: int
    table: Any  # a pyarrow.Table


@dataclass(frozen=True, eq=False)
class Source:
    """A file or another source of rows: its name, its columns, and how its rows are read."""

    name: str
    schema: Any
    read: Callable[[list[str]], Iterable[Any]]


class RowFiles:
    """Several files with the same columns, one after the other.

    Attributes
    ----------
    names : list of str
        The columns, in the order of the first file.
    library : str
        The data frame library in which explanations are to answer.
    """

    def __init__(self, sources: list[Source], library: str) -> None:
        self._sources, self.library = sources, library
        self.names: list[str] = list(sources[0].schema.names)
        self._types = self._common_types()

    def _common_types(self) -> dict[str, Any]:
        """A type for every column; raises, naming the file, where one has other columns."""
        types: dict[str, Any] = {}
        first = self._sources[0]
        for source in self._sources:
            own = list(source.schema.names)
            twice = [name for name in dict.fromkeys(own) if own.count(name) > 1]
            if twice:
                raise ValueError(f"{source.name}: names of columns must be distinct, got {twice}")
            lacking = [name for name in self.names if name not in own]
            further = [name for name in own if name not in self.names]
            if lacking or further:
                what = [f"lacks {lacking}"] * bool(lacking) + [f"has also {further}"] * bool(
                    further
                )
                raise ValueError(
                    f"{source.name} must have the columns of {first.name}: it {' and '.join(what)}"
                )
            for name in own:
                kind = source.schema.field(name).type
                before = types.setdefault(name, kind)
                if "null" in (_kind(before), _kind(kind)):  # without values there is no type
                    types[name] = kind if _kind(before) == "null" else before
                elif _kind(before) != _kind(kind):
                    raise ValueError(
                        f"{source.name}: column {name!r} must hold the same kind of values as in "
                        f"the files before it, a {_kind(before)} ({before}), got {kind}"
                    )
        return types

    def check_column(self, argument: str, name: Any) -> None:
        """Raise for what is not the name of a column."""
        if not isinstance(name, str):
            raise wrong_type(argument, "the name of a column", name)
        if name not in self.names:
            raise ValueError(
                f"{argument} must be a column of {self._sources[0].name} ({self.names}), got "
                f"{name!r}{did_you_mean(name, self.names)}"
            )

    def kind(self, name: str) -> str:
        """What a column holds: number, text, truth value, date or time, null, or a type."""
        return _kind(self._types[name])

    def head(self, names: list[str]) -> FrameTable:
        """A table of one row of missing values, with the types of the columns."""
        import pyarrow as pa

        table = open_table(pa.table({name: pa.nulls(1, self._types[name]) for name in names}))
        assert isinstance(table, FrameTable)
        return table

    def parts(self, names: list[str]) -> Iterator[FilePart]:
        """The rows of some columns; what goes wrong names the file."""
        import pyarrow as pa

        for source in self._sources:
            first = 0
            try:
                for batch in source.read(names):
                    if batch.num_rows:
                        # A file where a column has no values gives it no type: all have one here.
                        columns = [
                            batch.column(n).cast(self._types[n])
                            if pa.types.is_null(batch.column(n).type)
                            else batch.column(n)
                            for n in names
                        ]
                        yield FilePart(source.name, first, pa.table(columns, names))
                    first += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                raise ValueError(
                    f"{source.name} cannot be read after row {first}: {error}"
                ) from error


def _kind(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_null(kind):
        return "null"
    for name, tests in _KINDS:
        if any(getattr(pa.types, test)(kind) for test in tests if hasattr(pa.types, test)):
            return name
    return str(kind)


def open_files(source: Any, folder: Path) -> RowFiles:
    """Files by path, pattern or list of them, a pyarrow Dataset, or a polars LazyFrame.

    A LazyFrame is run once, into a file of ``folder``.
    """
    try:
        from pyarrow import dataset
    except ImportError as error:
        raise ModuleNotFoundError(
            "tables in files need the package pyarrow: pip install pyarrow"
        ) from error
    if isinstance(source, RowFiles):
        return source
    if isinstance(source, dataset.Dataset):
        return RowFiles(_of_dataset(source), "pyarrow")
    if type(source).__module__.startswith("polars") and hasattr(source, "sink_parquet"):
        path = folder / "rows.parquet"
        source.sink_parquet(path)
        file = source_of_file(path)
        return RowFiles([Source("the lazy frame", file.schema, file.read)], "polars")
    return RowFiles([source_of_file(path) for path in file_paths(source)], "pyarrow")


def file_paths(source: Any) -> list[Path]:
    """The files that are meant, in order; those of a pattern or a folder by name."""
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(given, (list, tuple)) or not all(
        isinstance(one, (str, os.PathLike)) for one in given
    ):
        rule = "a path, a pattern, a list of them, a pyarrow Dataset or a polars LazyFrame"
        raise wrong_type("files", rule, source)
    found: list[Path] = []
    for one in map(os.fspath, given):
        path = Path(one)
        if path.is_dir():
            matching = sorted(p for p in path.rglob("*") if p.is_file() and _is_shown(p, path))
        elif path.exists():
            if not path.is_file():  # a pipe or a device may never end, and is read several times
                raise ValueError(f"files must name files, got {one!r}, a pipe or a device")
            matching = [path]
        else:
            named = map(Path, glob.glob(one, recursive=True))  # noqa: PTH207
            matching = sorted(path for path in named if not path.is_dir())
        if not matching:
            raise FileNotFoundError(f"files must name files, got {one!r}, which names none")
        found += matching
    if not found:
        raise ValueError("files must name at least one file, got none")
    return found


def _is_shown(path: Path, folder: Path) -> bool:
    """Whether neither a file nor a folder that it is in is hidden, as logs of a table are."""
    return all(part[0] not in "._" for part in path.relative_to(folder).parts)


def is_csv(path: Path) -> bool:
    """Whether a file is read as a CSV: it does not begin as other formats do."""
    return _format(path) == _CSV


def _format(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(max(map(len, _MAGIC)))
    return next((own for start, own in _MAGIC.items() if head.startswith(start)), _CSV)


def source_of_file(path: Path) -> Source:
    """A file in one of the formats that pyarrow reads, of which a CSV has no types of its own."""
    import pyarrow as pa
    from pyarrow import dataset

    try:
        kind = _format(path)
        (fragment,) = dataset.dataset(str(path), format=kind).get_fragments()
        read = partial(_read_parquet, path) if kind == "parquet" else _reader(fragment, None)
        if kind == _CSV:
            read = partial(_with_gaps, read)
        return Source(str(path), fragment.physical_schema, read)
    except UnicodeEncodeError as error:
        raise ValueError(f"files must have names in UTF-8, got {str(path)!r}") from error
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error


def _with_gaps(read: Callable[[list[str]], Iterable[Any]], names: list[str]) -> Iterator[Any]:
    """The rows of a CSV, in which a text that is empty is missing, as a number is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in read(names):
        columns = list(batch.columns)
        for j, column in enumerate(columns):
            if pa.types.is_string(column.type):
                is_empty = pc.fill_null(pc.equal(column, ""), True).to_numpy(zero_copy_only=False)
                # Not if_else, which pyarrow 17 to 22 spoils for texts that are part of a longer
                # array, as those of a batch may be.
                columns[j] = column.take(pa.array(np.arange(len(column)), mask=is_empty))
        yield pa.table(columns, batch.schema.names)


def _of_dataset(source: Any) -> list[Source]:
    """The fragments of a dataset, each with all columns of it: partitions add some by their path.

    A dataset that filters or computes columns does so as a whole.
    """
    from pyarrow.dataset import CsvFileFormat

    try:
        fragments = list(source.get_fragments())
    except ValueError:
        return [Source("the dataset", source.schema, lambda names: _scan(source, names))]
    if not fragments:
        raise ValueError("files must have rows, got a dataset without any file")
    sources = []
    for number, fragment in enumerate(fragments):
        name = getattr(fragment, "path", f"part {number} of the dataset")
        schema = fragment.physical_schema
        for field in source.schema:
            by_path = f"({field.name} == " in f"({fragment.partition_expression}"
            if field.name not in schema.names and by_path:
                schema = schema.append(field)
        order = [name for name in source.schema.names if name in schema.names]
        order += [name for name in schema.names if name not in order]
        import pyarrow as pa

        schema = pa.schema([schema.field(name) for name in order])
        read = _reader(fragment, source.schema)
        if isinstance(getattr(fragment, "format", None), CsvFileFormat):
            read = partial(_with_gaps, read)
        sources.append(Source(name, schema, read))
    return sources


def _read_parquet(path: Path, names: list[str]) -> Iterator[Any]:
    """Batches of a file, decoded one by one: a scan would have read all of it ahead."""
    from pyarrow import parquet

    with parquet.ParquetFile(path, pre_buffer=False) as file:
        yield from file.iter_batches(_ROWS_READ, columns=names)


def _reader(fragment: Any, schema: Any) -> Callable[[list[str]], Iterable[Any]]:
    return lambda names: _scan_by_row_group(fragment, names, schema)


def _scan_by_row_group(fragment: Any, names: list[str], schema: Any) -> Iterator[Any]:
    """Batches of a part of a dataset; of Parquet a row group is scanned after the other."""
    split = getattr(fragment, "split_by_row_group", None)
    for part in [fragment] if split is None else split():
        yield from _scan(part, names, schema)


def _scan(source: Any, names: list[str], schema: Any = None) -> Iterable[Any]:
    """Batches in order, few of them read ahead."""
    own = {} if schema is None else {"schema": schema}
    ahead = {"batch_readahead": 2, "fragment_readahead": 1}
    batches: Iterable[Any] = source.to_batches(columns=names, batch_size=_ROWS_READ, **ahead, **own)
    return batches
