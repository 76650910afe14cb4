#!/usr/bin/env python3
"""Writes tests/data/schema/NNNN.sql: a database as the release with schema NNNN left it.

schema_dump.py NNNN     applies schema/0001 to NNNN, adds the rows of tests/data/schema/rows.sql whose
                        tables are there, and dumps it. A dump that is checked in is never written again.
"""
import pathlib
import re
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "schema"


def main():
    wanted = int(sys.argv[1])
    target = DATA / f"{wanted:04}.sql"
    if target.exists():
        sys.exit(f"{target} is checked in: a release does not change")
    rows = sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT")
    for file in sorted((ROOT / "schema").glob("*.sql"))[:wanted]:
        rows.executescript(file.read_text())
        rows.execute("INSERT INTO schema_version VALUES (?, ?)", (int(file.name[:4]), file.stem))
    tables = {name for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for statement in (DATA / "rows.sql").read_text().split(";\n"):
        table = re.search(r"INSERT INTO (\w+)", statement)
        if table and table.group(1) in tables:
            rows.execute(statement)
    rows.commit()
    target.write_text("\n".join(rows.iterdump()) + "\n")
    print(f"{target.relative_to(ROOT)}: {len(tables)} tables")


main()
