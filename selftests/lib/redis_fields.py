# SPDX-License-Identifier: GPL-2.0-only
"""The fields of INFO and the values in the memory of Redis, as Documentation/redis.md has them.

A field is a line of the page's tables: (field, "exact", "formula" or "not", formula, family or "",
why).  Values are those of the entry "redis", {field: value}, with "time", the time of the row in us.
"""
import functools
import os
import re

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Documentation/redis.md")
# INFO prints words where the memory has numbers.
WORDS = {"ok": 1, "err": 0, "yes": 1, "no": 0, "standalone": 0, "sentinel": 1, "cluster": 2,
         "master": 1, "slave": 0, "noeviction": 1792, "no-failover": 0}
# INFO itself, or the time that passes, changes them between both looks.
DISTURBED = {
    "used_memory", "used_memory_peak_perc", "used_memory_peak", "mem_clients_normal",
    "allocator_allocated", "mem_fragmentation_ratio", "mem_fragmentation_bytes",
}


def parse_info(text):
    """{field: text} of the answer to INFO"""
    return dict(line.split(":", 1) for line in text.replace("\r", "").splitlines() if ":" in line)


def read_page(info):
    """{field of INFO: field} for the version that answered"""
    version = "Redis " + info["redis_version"]
    if "valkey_version" in info:
        version = "Valkey " + info["valkey_version"]
    with open(PAGE, encoding="utf-8") as page:
        tables = re.split(r"\n## (?=Redis|Valkey)", page.read())
    wanted = [tables[0]] + [table for table in tables[1:]
                            if version.startswith(table.partition("\n")[0])]
    return {line[0]: line for table in wanted for line in re.findall(
        r"^\| `(\w+)` \| (exact|formula|not) \| `?([^`|]*)`? ?\| *`?(\w*)`? *\| *(.*?) *\|$",
        table, re.M)}


def number(text):
    if text in WORDS:
        return WORDS[text]
    try:
        return float(text.rstrip("%"))
    except ValueError:
        return text


@functools.lru_cache(None)
def code_of(formula):
    return compile(formula, PAGE, "eval")


def computed(formula, row):
    try:
        # Our own page.
        return eval(code_of(formula), {"__builtins__": {"sum": sum, "max": max}}, row)
    except ZeroDivisionError:
        return 0


def lies_between(value, before, after):
    """Within the precision that INFO prints."""
    values = [number(before), number(after)]
    if isinstance(value, str) or isinstance(values[0], str):
        return value in (before, after)
    digits = max((len(text.rstrip("%").partition(".")[2]) for text in (before, after)),
                 default=0)
    slack = 10 ** -digits if digits else 0
    return min(values) - slack <= value <= max(values) + slack


def values_of(field, kind, text, row):
    if kind == "exact":
        return [row[field]]
    value = computed(text, row)
    return list(value) if isinstance(value, tuple) else [value]


def texts_of(field, text):
    """db0 is keys=1,expires=0,avg_ttl=0"""
    if field == "db0":
        return [part.partition("=")[2] for part in text.split(",")][:3]
    return [text]
