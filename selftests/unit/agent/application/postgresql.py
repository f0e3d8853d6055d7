#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""postgresql.py TOP: compare the series of a PostgreSQL with its views, before and after.

Starts the newest PostgreSQL of Debian that is installed, uses it, and compares each line of the
table in Documentation/postgresql.md with the view that it names, in TAP. Prints a reason to skip if
no layout is for this build.
"""
import glob
import json
import os
import pwd
import re
import signal
import subprocess
import tempfile
import time

import application
from application import point, top

PROGRAMS = max(glob.glob("/usr/lib/postgresql/*/bin"),
               key=lambda path: int(re.search(r"/(\d+)/", path)[1]))
USER = "nobody"  # initdb refuses root
VIEWS = ("pg_stat_archiver", "pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal",
         "pg_stat_slru")
UNITS = {"8kB": 8192, "kB": 1024, "MB": 1 << 20, "": 1}
OPTIONS = ("listen_addresses=''", "archive_mode=on", "archive_command='test -e archive'",
           "track_commit_timestamp=on", "work_mem=5MB", "max_locks_per_transaction=70",
           "track_wal_io_timing=on")
# Changes that the views show: checkpoints, WAL files, subtransactions, notifications.
USES = """
SET client_min_messages TO warning;
DROP TABLE IF EXISTS t;
CREATE TABLE t AS SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i;
SELECT pg_switch_wal();
CHECKPOINT;
DO $$ BEGIN FOR i IN 1..200 LOOP BEGIN INSERT INTO t VALUES (i, ''); EXCEPTION WHEN OTHERS THEN
NULL; END; END LOOP; END $$;
LISTEN a; NOTIFY a, 'b';
UPDATE t SET i = i + 1;
CHECKPOINT;
"""


def run(*words, **options):
    return subprocess.run(["runuser", "-u", USER, "--", *words], check=True,
                          stdout=subprocess.PIPE, text=True, **options).stdout


class Server:
    """A server in a directory, whose views and memory are asked for."""

    def __init__(self, directory):
        self.directory = directory
        self.data = os.path.join(directory, "data")
        run(f"{PROGRAMS}/initdb", "-D", self.data, "-A", "trust", "--no-sync", "-U", "postgres",
            cwd=directory)
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("\n".join((*OPTIONS, f"unix_socket_directories='{directory}'", "")))
        run(f"{PROGRAMS}/pg_ctl", "start", "-w", "-D", self.data, "-l",
            os.path.join(directory, "log"), cwd=directory)
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as file:
            self.pid = int(file.readline())
        self.reader = application.Reader(self.pid)

    def sql(self, text):
        return run(f"{PROGRAMS}/psql", "-XAtq", "-h", self.directory, "-U", "postgres", "postgres",
                   input=text, cwd=self.directory)

    def views(self):
        """{"VIEW.COLUMN" or, of pg_stat_slru, "VIEW.COLUMN" and the name: value}"""
        rows = {}
        names = self.sql("SELECT viewname FROM pg_views").split()
        for view in set(VIEWS) & set(names):
            for line in self.sql(f"SELECT row_to_json(v) FROM {view} v").splitlines():
                row = json.loads(line)
                name = row.pop("name") if view == "pg_stat_slru" else None
                rows.update({(f"{view}.{column}", name): value for column, value in row.items()})
        for line in self.sql("SELECT name, setting, coalesce(unit, '') FROM pg_settings "
                             "WHERE vartype = 'integer'").splitlines():
            name, setting, unit = line.split("|")
            if unit in UNITS:
                rows[f"pg_settings.{name}", None] = int(setting) * UNITS[unit]
        epochs = "SELECT extract(epoch FROM {}) FROM {}"
        for name in ("pg_stat_bgwriter", "pg_stat_checkpointer"):
            if name in names:
                rows[f"{name}.stats_reset", None] = float(
                    self.sql(epochs.format("stats_reset", name)))
        rows["pg_postmaster_start_time()", None] = float(
            self.sql(epochs.format("pg_postmaster_start_time()", "pg_class LIMIT 1")))
        return rows

    def await_view(self, view, column):
        for _ in range(200):
            if self.sql(f"SELECT {column} > 0 FROM {view}").strip() == "t":
                return
            time.sleep(0.05)

    def end(self):
        self.reader.end()
        os.kill(self.pid, signal.SIGINT)
        while os.path.exists(os.path.join(self.data, "postmaster.pid")):
            time.sleep(0.05)


def lines_of_page():
    """(view and column, "exact", "formula" or "not", family or "")"""
    with open(os.path.join(top, "Documentation/postgresql.md"), encoding="utf-8") as page:
        return re.findall(r"^\| `([\w.()]+)` \| (exact|formula|not) \| [^|]* \| `?(\w*)`? \|",
                          page.read(), re.M)


def compare(server, when):
    """Returns the columns that were compared, and the number of values above 0."""
    before = server.views()
    series = server.reader.read()["series"]
    after = server.views()
    wrong, compared, above = [], set(), 0
    listed = dict((column, family) for column, _, family in lines_of_page())
    for (column, name), value in before.items():
        family = listed.get(column)
        if not family:
            if column not in listed and not column.startswith("pg_settings."):
                wrong.append(f"{column} is missing in the page")
            continue
        labels = 'application="test"' + (f',name="{name}"' if name else "")
        found = series.get(f"{family}{{{labels}}}")
        compared.add(column)
        slack = 1e-3 if isinstance(value, float) else 0
        if found is None or not value - slack <= found <= after[column, name] + slack:
            wrong.append(f"{family} {name}: {found}, view {value} and {after[column, name]}")
        elif value and not column.startswith("pg_settings."):
            above += 1
    if series.get('pg_up{application="test"}') != 1:
        wrong.append("pg_up is not 1")
    point(not wrong, f"{when}: {len(compared)} columns equal the views", "; ".join(wrong))
    return compared, above


def main():
    application.skip_without_layout(f"{PROGRAMS}/postgres")
    with tempfile.TemporaryDirectory() as directory:
        user = pwd.getpwnam(USER)
        os.chown(directory, user.pw_uid, user.pw_gid)
        server = Server(directory)
        try:
            compared, _ = compare(server, "a new server")
            server.sql(USES)
            server.await_view("pg_stat_archiver", "failed_count")
            with open(os.path.join(server.data, "archive"), "w", encoding="utf-8"):
                pass
            server.await_view("pg_stat_archiver", "archived_count")
            _, above = compare(server, "a server with changes, checkpoints and archived files")
            point(above >= 25, "the changes moved the values", f"{above} are above 0")
            names = server.sql("SELECT viewname FROM pg_views").split()
            for name in ("archiver", "bgwriter", "checkpointer", "wal"):
                if f"pg_stat_{name}" in names:
                    server.sql(f"SELECT pg_stat_reset_shared('{name}')")
            server.sql("SELECT pg_stat_reset_slru(NULL)")
            compare(server, "after a reset of the statistics")
            server.sql(USES)
            compare(server, "changes after the reset")
            listed = {column for column, kind, family in lines_of_page() if family}
            of_version = {column for column, _ in server.views()}
            missing = (listed & of_version) - compared
            point(not missing, "each line of postgresql.md for this version was compared",
                  ", ".join(sorted(missing)))
        finally:
            server.end()
    application.end()


main()
