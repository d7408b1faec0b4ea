"""Several training tables, read part by part; cells of a CSV mean what they mean in one table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from seplearn.cli.cells import as_plain_text, texts_as_missing
from seplearn.cli.csv_text import CsvText
from seplearn.cli.tables import LIBRARY, check_columns, column_names, opened
from seplearn.cli.training import MissingTexts, Roles
from seplearn.cli.training_cells import TrainingColumn, TrainingTable
from seplearn.table.files import RowFiles, Source, is_csv, source_of_file


def open_training_files(paths: list[Path], roles: Roles) -> RowFiles:
    """The rows of several files, CSVs among them as what all their cells together hold."""
    _check_columns(paths, roles)
    csvs = [str(path) for path in paths if is_csv(path)]
    missing = MissingTexts(roles.missing)
    columns = _looked_at(csvs, roles, missing)
    sources = [
        _of_csv(str(path), columns, roles.missing)
        if is_csv(path)
        else _of_typed(source_of_file(path), roles.missing)
        for path in paths
    ]
    if len(csvs) == len(paths):
        missing.note_absent()
    return RowFiles(sources, LIBRARY)


def _check_columns(paths: list[Path], roles: Roles) -> None:
    """Raise, before any row is read, for files with other columns and for options of none."""
    headers = []
    for path in paths:
        names = source_of_file(path).schema.names if not is_csv(path) else column_names(str(path))
        fields = [(name, pa.null()) for name in names]
        headers.append(Source(str(path), pa.schema(fields), lambda _: ()))
    files = RowFiles(headers, LIBRARY)
    for option, names in roles.by_option.items():
        for name in names:
            files.check_column(option, name)


def _looked_at(paths: list[str], roles: Roles, missing: MissingTexts) -> dict[str, TrainingColumn]:
    """What each column of the CSVs holds, those left out aside."""
    columns: dict[str, TrainingColumn] = {}
    for path in paths:
        with _opened_csv(path) as table:
            names = [name for name in table.names if name not in roles.exclude]
            check_columns(path, names, table.names)
            for name in names:
                column = columns.setdefault(name, TrainingColumn(name, roles.purpose(name)))
                column.begin(table.delimiter, path)
            for _, part in table.parts(names):
                for name in names:
                    columns[name].look_at(missing.applied(as_plain_text(part[name])))
    table_cells = TrainingTable()
    for column in columns.values():
        table_cells.decide(column)
    return columns


def _opened_csv(path: str) -> AbstractContextManager[CsvText]:
    """A file that is not Parquet, by its content, and so a CSV."""
    table = opened(path)
    return cast("AbstractContextManager[CsvText]", table)


def _of_csv(path: str, columns: dict[str, TrainingColumn], missing: tuple[str, ...]) -> Source:
    with _opened_csv(path) as table:
        names, delimiter = table.names, table.delimiter
    # Columns that are left out are never read, and may be anything.
    types = [columns[name].type if name in columns else pa.null() for name in names]

    def read(wanted: list[str]) -> Iterator[pa.Table]:
        for name in wanted:
            columns[name].begin(delimiter, path)
        with _opened_csv(path) as table:
            for _, part in table.parts(wanted):
                cells = (texts_as_missing(as_plain_text(part[name]), missing) for name in wanted)
                read = [columns[n].read(c) for n, c in zip(wanted, cells, strict=True)]
                yield pa.table(read, wanted)

    return Source(path, pa.schema(list(zip(names, types, strict=True))), read)


def _of_typed(source: Source, missing: tuple[str, ...]) -> Source:
    """A file whose columns have types, in which the values ``missing`` are missing."""
    if not missing:
        return source

    def read(wanted: list[str]) -> Iterator[pa.Table]:
        for batch in source.read(wanted):
            columns = (as_plain_text(batch.column(name)) for name in wanted)
            yield pa.table([texts_as_missing(column, missing) for column in columns], wanted)

    return replace(source, read=read)


def distinct_values(files: RowFiles, name: str, enough: int | None = None) -> set[Any]:
    """The different values of a column, missing ones aside; or as many of them as are enough."""
    found: set[Any] = set()
    for part in files.parts([name]):
        values = pc.unique(part.table[name]).to_pylist()
        found |= {value for value in values if value is not None and value == value}  # noqa: PLR0124
        if enough is not None and len(found) >= enough:
            break
    return found
