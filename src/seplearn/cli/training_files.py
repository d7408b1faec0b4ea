"""Several training tables, read part by part; cells of a CSV mean what they mean in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seplearn.cli.cells import (
    as_class_type,
    as_classes,
    as_floats,
    as_plain_text,
    check_numbers,
    texts_as_missing,
)
from seplearn.cli.csv_text import CsvText
from seplearn.cli.tables import LIBRARY, check_columns, column_names, opened
from seplearn.cli.training import MissingTexts, Roles, refused_dates_of
from seplearn.cli.training_cells import ROWS_FOR_CODES, TrainingColumn, TrainingTable, note_codes
from seplearn.table.files import RowFiles, Source, is_csv, source_of_file


def open_training_files(paths: list[Path], roles: Roles) -> RowFiles:
    """The rows of several files, CSVs among them as what all their cells together hold."""
    _check_columns(paths, roles)
    csvs = [str(path) for path in paths if is_csv(path)]
    missing = MissingTexts(roles.missing)
    columns = _looked_at(csvs, roles, missing)
    typed = {path: source_of_file(path) for path in paths if not is_csv(path)}
    _check_types(typed.values(), roles)
    kind = _kind_of_classes(typed.values(), roles)
    sources = [
        _of_typed(typed[path], roles, kind)
        if path in typed
        else _of_csv(str(path), columns, roles.missing, bool(typed))
        for path in paths
    ]
    _note_codes(typed.values(), roles)
    if not typed:
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


def _of_csv(
    path: str, columns: dict[str, TrainingColumn], missing: tuple[str, ...], beside_typed: bool
) -> Source:
    """A CSV as what all of them hold; a column without values is of the type that others give."""
    with _opened_csv(path) as table:
        names, delimiter = table.names, table.delimiter
    # Columns that are left out are never read, and may be anything.
    untyped = {name for name, own in columns.items() if beside_typed and own.is_empty}
    known = columns.keys() - untyped
    types = [columns[name].type if name in known else pa.null() for name in names]

    def read(wanted: list[str]) -> Iterator[pa.Table]:
        for name in wanted:
            columns[name].begin(delimiter, path)
        with _opened_csv(path) as table:
            for _, part in table.parts(wanted):
                cells = (texts_as_missing(as_plain_text(part[name]), missing) for name in wanted)
                read = [
                    pa.nulls(len(own)) if name in untyped else columns[name].read(own)
                    for name, own in zip(wanted, cells, strict=True)
                ]
                yield pa.table(read, wanted)

    return Source(path, pa.schema(list(zip(names, types, strict=True))), read)


def _of_typed(source: Source, roles: Roles, kind: Any) -> Source:
    """A file whose columns have types: values that are missing made so, classes as one table's."""
    target = roles.target
    if not roles.missing and kind is None:
        return source

    def read(wanted: list[str]) -> Iterator[pa.Table]:
        for batch in source.read(wanted):
            columns = (as_plain_text(batch.column(name)) for name in wanted)
            found = [texts_as_missing(column, roles.missing) for column in columns]
            if kind is not None and target in wanted:
                place = wanted.index(target)
                found[place] = as_class_type(found[place], kind)
            yield pa.table(found, wanted)

    schema = source.schema
    if kind is not None:
        schema = schema.set(schema.get_field_index(target), pa.field(target, kind))
    return replace(source, schema=schema, read=read)


def _check_types(sources: Iterable[Source], roles: Roles) -> None:
    """Raise, before any row is read, for columns that should hold numbers and do not."""
    numbers = roles.numeric + [roles.target] * (roles.task in ("regression", "count"))
    for source in sources:
        for name in numbers:
            kind = as_plain_text(pa.array([], source.schema.field(name).type)).type
            if name == roles.target and pa.types.is_temporal(kind):
                raise refused_dates_of(name)
            try:
                check_numbers(name, pa.array([], kind))
            except ValueError as error:
                raise ValueError(f"{source.name}: {error}") from error


def _kind_of_classes(sources: Iterable[Source], roles: Roles) -> Any:
    """The type of the classes that numbers of a target with a type stand for, if they do."""
    found: set[Any] = set()
    for source in sources if roles.task == "classification" else ():
        kind = source.schema.field(roles.target).type
        if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return None
        for batch in source.read([roles.target]):
            column = texts_as_missing(batch.column(roles.target), roles.missing)
            found |= set(pc.unique(column.cast(pa.float64())).to_pylist())
    return (
        as_classes(pa.chunked_array([pa.array(list(found), pa.float64())])).type if found else None
    )


def _note_codes(sources: Iterable[Source], roles: Roles) -> None:
    """Note whole numbers of typed columns that look like codes, by the first rows of the table."""
    files = list(sources)
    others = {*roles.no_features, *roles.exclude, *roles.categorical}
    fields = list(files[0].schema) if files else []
    names = [f.name for f in fields if pa.types.is_integer(f.type) and f.name not in others]
    if not names:
        return
    read: list[pa.Table] = []
    for batch in (batch for source in files for batch in source.read(names)):
        read.append(pa.table([batch.column(name) for name in names], names))
        if sum(part.num_rows for part in read) >= ROWS_FOR_CODES:
            break
    for name in names if read else ():
        column = pa.concat_tables(read, promote_options="permissive")[name]
        note_codes(name, np.asarray(as_floats(texts_as_missing(column, roles.missing)).drop_null()))


def distinct_values(files: RowFiles, name: str, enough: int | None = None) -> set[Any]:
    """The different values of a column, missing ones aside; or as many of them as are enough."""
    found: set[Any] = set()
    for part in files.parts([name]):
        values = pc.unique(part.table[name]).to_pylist()
        found |= {value for value in values if value is not None and value == value}  # noqa: PLR0124
        if enough is not None and len(found) >= enough:
            break
    return found
