"""Rows of a database file that came from outside, copied into a schema that this build makes.

A file's schema is its writer's: a trigger in it writes whenever we do, a view answers in a table's
place, a generated column or an index computes what its writer chose. So nothing of it is taken
over. The file is opened for reading alone, with an authorizer that allows nothing else and calls no
function; its tables have to be those of its version, column by column; each value has to be of its
column's type; and the rows go into tables, and under indices, that were made here. What holds no
rows of ours (triggers, views, further indices) is left out, and told.

The text index is made anew from what it indexes. Tokens are revoked, and their secrets destroyed,
unless they are asked for: who wrote the file knows which it lets in. Otherwise what the rows say is
that person's word, and is checked as far as replay checks it (``cli.backups``).
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from ordain.errors import ConfigurationError, JournalCorrupt, StorageUnavailable
from ordain.ports.writes import RowTable
from ordain.store import schema
from ordain.store.access_operations import revoke_every_token
from ordain.store.folder import no_room
from ordain.store.schema_shape import (
    SHARED,
    WORD_INDEX,
    Column,
    column_difference,
    columns_of,
    shown,
)
from ordain.store.tables import make_tables
from ordain.store.word_index import index_again

VALUE_BYTES = 64 * 1024 * 1024
"""Largest value, and row, that is taken: payloads and catalogs are far smaller."""
_TABLE = "CREATE TABLE "
"""What SQLite itself writes: a virtual table or a view has other words, whatever else its row
says.
"""
_STATISTICS = frozenset({"sqlite_stat1", "sqlite_stat4"})
_SEQUENCE = "sqlite_sequence"
_ANEW = frozenset({"word_indexes"})
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "TEXT": (str,),
    "BLOB": (bytes,),
    "": (int, float, str, bytes),
}


class Restored(Struct, frozen=True, kw_only=True):
    """What was done: ``version`` is the file's schema; ``left_out`` names what was not taken over;
    ``unsettled`` counts runs that go on when served.

    ``revoked`` names the tokens that were good in the file and are not any more, ``kept`` counts
    those that still are.
    """

    version: int
    rows: int
    left_out: tuple[str, ...]
    revoked: tuple[str, ...]
    kept: int
    unsettled: int


def restore(file: Path, made: Path, *, keep_tokens: bool, by: str, at: int) -> Restored:
    """Copy the rows of ``file``, which is not written to, into the new database ``made``; ``at`` is
    when, in microseconds since 1970, ``by`` who did it.

    Raises:
        ConfigurationError: ``no_backup`` of what is no database or holds nothing,
            ``foreign_database``, ``newer_schema``, ``foreign_schema`` or ``foreign_value``, with
            what it is; ``made`` is then of no use.
        JournalCorrupt: the file is damaged.
        StorageUnavailable: ``no_room``.
    """
    with (
        _named_errors(),
        closing(_opened(file)) as source,
        closing(sqlite3.connect(made, isolation_level=None)) as target,
    ):
        version = _version_of(source)
        target.execute("PRAGMA trusted_schema=OFF")
        target.execute("PRAGMA journal_mode=OFF")  # a copy that was cut off is thrown away
        target.execute("PRAGMA synchronous=OFF")
        schema.make(target, version)
        tables, left_out = _compare(source, target)
        target.execute("BEGIN")
        rows = _copy(source, target, tables, room=file.stat().st_size)
        target.execute("COMMIT")
        schema.prepare(target)
        target.execute("BEGIN")
        if version >= schema.WORD_INDEX_EACH:
            index_again(target)
        revoked = revoke_every_token(target, by, at) if not keep_tokens else ()
        target.execute(
            "DELETE FROM token_secrets WHERE token NOT IN (SELECT no FROM tokens)"
        )  # else the next token that is made had them too
        (kept,) = target.execute("SELECT count(*) FROM tokens WHERE revoked_at IS NULL").fetchone()
        (unsettled,) = target.execute(
            f"SELECT count(*) FROM runs WHERE {schema.UNSETTLED}"  # noqa: S608 - our own words
        ).fetchone()
        target.execute("COMMIT")
        return Restored(
            version=version,
            rows=rows,
            left_out=left_out,
            revoked=revoked,
            kept=kept,
            unsettled=unsettled,
        )


@contextmanager
def _named_errors() -> Generator[None]:
    try:
        yield
    except UnicodeDecodeError as error:  # of the schema, which is read before any value
        raise _foreign_value("a text that is not UTF-8") from error
    except sqlite3.DataError as error:
        raise _foreign_value(f"a value exceeds {VALUE_BYTES} bytes") from error
    except sqlite3.IntegrityError as error:
        raise _foreign_value(f"rows that cannot stand beside each other: {error}") from error
    except sqlite3.OperationalError as error:
        if "decode" in str(error):
            raise _foreign_value("a text that is not UTF-8") from error
        if no_room(error):
            raise StorageUnavailable(
                f"the copy cannot be written, which has no room or a disk that fails: {error}",
                code="no_room",
            ) from error
        raise ConfigurationError(
            f"it cannot be read as a backup: {error}", code="no_backup"
        ) from error
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise ConfigurationError("it is no database", code="no_backup") from error
        raise JournalCorrupt(f"the file is damaged: {error}") from error


def _opened(file: Path) -> sqlite3.Connection:
    """For reading, whatever stands in it: nothing is written beside it either."""
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
    )
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
    for pragma in (
        "trusted_schema=OFF",
        "query_only=ON",
        "cell_size_check=ON",
        "ignore_check_constraints=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")
    connection.set_authorizer(_only_reading)
    return connection


def _only_reading(
    action: int, _first: str | None, _second: str | None, _database: str | None, within: str | None
) -> int:
    """Tables and pragmas may be read; no function is called, and nothing through a view or a
    trigger (``within``).
    """
    return sqlite3.SQLITE_OK if action in _READING and within is None else sqlite3.SQLITE_DENY


def _version_of(source: sqlite3.Connection) -> int:
    (version,), (application,) = (
        source.execute(f"PRAGMA {name}").fetchone() for name in ("user_version", "application_id")
    )
    if not version and not application:
        raise ConfigurationError("it holds nothing", code="no_backup")
    if application != schema.APPLICATION_ID:
        raise ConfigurationError(
            f"its application id is {application:#x}, and not Ordain's", code="foreign_database"
        )
    if version > schema.VERSION:
        raise ConfigurationError(
            f"it has schema version {version}, this build knows {schema.VERSION}: use a newer "
            "Ordain",
            code="newer_schema",
        )
    if version < 1:
        raise ConfigurationError(
            f"it has schema version {version}, which no build wrote", code="foreign_schema"
        )
    return int(version)


def _compare(
    source: sqlite3.Connection, target: sqlite3.Connection
) -> tuple[list[str], tuple[str, ...]]:
    """The tables to copy, which ``target`` then has, and what is left out.

    Raises:
        ConfigurationError: ``foreign_schema``.
    """
    ours = dict(target.execute("SELECT name, type FROM sqlite_master"))
    real, shared, left_out = set[str](), list[RowTable](), list[str]()
    for kind, name, root, made in source.execute(
        "SELECT type, name, rootpage, sql FROM main.sqlite_master"
    ):
        if kind == "table":
            if (
                ours.get(name) != "table"
                and name not in _STATISTICS
                and not WORD_INDEX.fullmatch(name)
            ):
                if not root or not str(name).startswith(SHARED) or not str(made).startswith(_TABLE):
                    raise _foreign_schema(f"table {shown(name)}, which is none of Ordain's")
                shared.append(_shared_table(name, columns_of(source, name)))
            if root and str(made).startswith(_TABLE):
                real.add(name)
        elif ours.get(name) == "table":
            raise _foreign_schema(f"{kind} {shown(name)} in place of the table")
        elif name not in ours and not str(name).startswith("sqlite_autoindex_"):
            left_out.append(f"{kind} {shown(name)}")
    tables = [name for name, kind in ours.items() if kind == "table" and name not in _ANEW]
    for name in tables:
        if name not in real:
            raise _foreign_schema(f"no table {name}")
        if name != _SEQUENCE:
            told = column_difference(name, columns_of(source, name), columns_of(target, name))
            if told:
                raise _foreign_schema(told)
    make_tables(target, shared)
    return [*tables, *(table.stored for table in shared)], tuple(left_out)


def _shared_table(name: str, columns: Sequence[Column]) -> RowTable:
    """What an embedder's shared decision keeps, by its form: made anew from the names alone."""
    key = tuple(column for column, _, _, place, _ in columns if place)
    try:
        table = RowTable(
            name=name.removeprefix(SHARED),
            key=key[1:],
            columns=tuple(column for column, _, _, place, _ in columns if not place),
        )
    except ValueError as error:
        raise _foreign_schema(f"table {shown(name)}, which is none of Ordain's: {error}") from error
    made = ["workspace", *table.key, *table.columns]
    if [column for column, *_ in columns] != made or any(
        kind or hidden for _, kind, _, _, hidden in columns
    ):
        raise _foreign_schema(
            f"table {shown(name)}, which is not of the form of a shared decision's"
        )
    return table


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, tables: Sequence[str], *, room: int
) -> int:
    """Copy every row; ``room`` is the size of the file, which an honest one's values have together
    at most.
    """
    copied = 0
    for table in (one for one in tables if one != _SEQUENCE):
        ((damage, *_), *_) = source.execute(f'PRAGMA main.quick_check("{table}")')
        if damage != "ok":
            raise JournalCorrupt(f"the file is damaged: {shown(damage)}")
        columns = columns_of(target, table)
        names, marks = ", ".join(f'"{one[0]}"' for one in columns), ", ".join("?" * len(columns))
        rows = _Rows(table, columns, room)
        target.executemany(
            f'INSERT INTO "{table}"({names}) VALUES ({marks})',  # noqa: S608 - the names are our schema's own
            rows.checked(source.execute(f'SELECT {names} FROM main."{table}" NOT INDEXED')),  # noqa: S608 - as above
        )
        room, copied = rows.room, copied + rows.count
    if _SEQUENCE in tables:
        _copy_sequences(source, target)
    return copied


def _copy_sequences(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Numbers that were given are not given again, also where their rows are gone."""
    for name, reached in source.execute(f"SELECT name, seq FROM main.{_SEQUENCE}").fetchall():  # noqa: S608 - SQLite's own name
        if name not in {"items", "vectors"} or type(reached) is not int:
            raise _foreign_value(f"{_SEQUENCE} with a number of {shown(name)}")
        given = target.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (reached, name)
        )
        if not given.rowcount:
            target.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (name, reached))


class _Rows:
    """The rows of one table on their way, each value looked at."""

    def __init__(self, table: str, columns: Sequence[Column], room: int) -> None:
        self.table, self.columns, self.room, self.count = table, columns, room, 0
        self._fits = [
            (*_TYPES[kind], *(() if notnull else (type(None),)))
            for _, kind, notnull, _, _ in columns
        ]

    def checked(self, rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
        """One by one: a row may be large.

        Raises:
            ConfigurationError: ``foreign_value``.
        """
        fits = self._fits
        for row in rows:
            for place, value in enumerate(row):
                kind = type(value)
                if kind not in fits[place]:
                    name, declared, *_ = self.columns[place]
                    raise _foreign_value(
                        f"table {self.table} with a value of type {kind.__name__} in column "
                        f"{name} ({declared or 'any'})"
                    )
                if isinstance(value, str | bytes):
                    self.room -= len(value)
            if self.room < 0:
                raise _foreign_value(
                    "more values than the file is large: parts of it are said to be several things"
                )
            self.count += 1
            yield row


def _foreign_schema(what: str) -> ConfigurationError:
    return ConfigurationError(
        f"it is no backup that Ordain made: it holds {what}", code="foreign_schema"
    )


def _foreign_value(what: str) -> ConfigurationError:
    return ConfigurationError(
        f"it is no backup that Ordain made: it holds {what}", code="foreign_value"
    )
