# SPDX-License-Identifier: GPL-2.0-only
"""The names of metrics in schemas/prometheus, and the agent's fields for them.

Appends each fault to findings, in a line.
"""
import glob
import os
import re
import subprocess

import yaml

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
# Fields named by BTF: "ENTRY FIELD..."
FIELDS = "selftests/prometheus_fields"
DESCRIBED = "selftests/prometheus_described"
# The one over libyaml is ten times as fast.
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
findings = []


def found(place, text):
    findings.append(f"{place}: {text}")


def path(name):
    return os.path.join(TOP, name)


def lines_of_fields(file):
    """(line, entry, names) of a file of "ENTRY FIELD...", without comments"""
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            entry, *names = line.split("#")[0].split() or [""]
            if entry:
                yield line, entry, names


def preprocessed(source):
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-I", TOP, "-I", path("uapi"),
               "-I", path("tools/lib/include"), path(source)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read_array(source):
    """{name: (unit, kind)} of an array of struct dart_field"""
    literal = r"\(?((?:\"[^\"]*\"\s*)+)\)?"
    pattern = (rf"\.name = {literal},\s*\.unit = {literal},.*?"
               r"\.kind = DART_CONTROL_FIELD_(\w+)")
    return {"".join(re.findall(r"\"([^\"]*)\"", name)): (unit.strip().strip('"'), kind)
            for name, unit, kind in re.findall(pattern, source, re.S)}


def fields_of_sources():
    """{entry: {field: (unit, kind), or None where BTF says}}, {entry: its selector}"""
    arrays = {}
    body = preprocessed("agent/region/source.c")
    for name, array in re.findall(r"struct dart_field \*(\w+)\(void\)(.*?)return fields;",
                                  body, re.S):
        arrays[name] = read_array(array)
    fields, selectors = {}, {"dartd": "NONE"}
    body = body[body.index("const struct source sources[]"):]
    pattern = (r"\{\s*\"([a-z0-9:]+)\",[^{}]*?SOURCE_SELECTOR_(\w+),"
               r"(?:[^{}]*?\.fields = (\w+))?")
    for name, selector, array in re.findall(pattern, body):
        selectors[name] = selector
        fields[name] = arrays[array] if array else {}
    body = preprocessed("agent/self/self_schema.c")
    body = body[body.index("static const struct dart_field fields[]"):]
    fields["dartd"] = read_array(body)
    for _, entry, names in lines_of_fields(path(FIELDS)):
        if entry not in fields:
            found(FIELDS, f"no source is called {entry}")
        fields.setdefault(entry, {}).update(dict.fromkeys(names))
    for name, has in fields.items():
        if not has:
            found(FIELDS, f"has no fields of {name}")
    for name, described in fields_of_applications().items():
        fields[name] = described
        selectors[name] = "APPLICATION"
    for _, entry, names in lines_of_fields(path(DESCRIBED)):
        fields.setdefault(entry, {}).update(dict.fromkeys(names, ("", "GAUGE")))
        selectors[entry] = "APPLICATION"
    return fields, selectors


def fields_of_applications():
    """{entry: {field: (unit, kind)}} of the descriptions; several can have an entry."""
    fields = {}
    for file in sorted(glob.glob(path("schemas/applications/*.yaml"))):
        with open(file, encoding="utf-8") as text:
            entries = yaml.load(text, LOADER)["entries"]
        for entry in entries:
            fields.setdefault(entry["name"], {}).update(
                {field["name"]: (field.get("unit", ""), field.get("kind", "gauge").upper())
                 for field in entry["fields"]})
    return fields


def read_families():
    """All families, including families of patterns: [(place, name, help, family, series)]"""
    families = []
    for file in sorted(glob.glob(path("schemas/prometheus/*.yaml"))):
        place = os.path.relpath(file, TOP)
        with open(file, encoding="utf-8") as text:
            items = yaml.load(text, LOADER)
        for family in items:
            name, text = family.get("family"), family.get("help", "")
            if name:
                families.append((place, name, text, family, family.get("series", [])))
                continue
            name = family.get("pattern", "")
            if not name.endswith("$name"):
                found(place, f"{name}: does not end with $name")
            all_series = {}
            for series in family.get("series", []):
                for field, end in series.get("fields", {}).items():
                    all_series.setdefault(end, []).append({**series, "fields": {field: {}}})
            for end, of_end in all_series.items():
                families.append((place, name.replace("$name", end),
                                 text.replace("$name", end), family, of_end))
    return families


def terms(value):
    """The fields of a sum, or None for anything else."""
    operands = re.split(r"\s+[+-]\s+", value)
    if not all(re.fullmatch(r"[A-Za-z0-9_.]+", operand) for operand in operands):
        return None
    return [operand for operand in operands if not operand.isdigit()]


def fields_of_series(series):
    return list(series.get("fields", ())) + (terms(series.get("value", "0")) or [])


def generic_name(entry, field, unit, kind):
    """The same rule as in tools/controller/metrics/plan/plan_generic.c."""
    base = {"ns": "seconds", "ms": "seconds", "s": "seconds", "bytes": "bytes",
            "sectors": "bytes", "Hz": "hertz", "times": ""}.get(unit)
    is_count = not base
    if base is None:
        base = re.sub(r"\W+", "_", re.sub(r"^1/\d+ ", "", unit)).lower()
    name = re.sub(r"[^a-zA-Z0-9]+", "_", f"dart_{entry}_{field}").rstrip("_")
    is_total = name.endswith("_total")
    name = name.removesuffix("_total")
    if not is_count:
        name = name.removesuffix("_" + unit)
    if base and not (is_total and is_count) and not name.endswith("_" + base):
        name += "_" + base
    return name + ("_total" if kind == "COUNTER" else "")


def generic_names(families):
    """Names of fields that no family maps, and the beginnings of names of fields whose
    units BTF tells."""
    fields, _ = fields_of_sources()
    named = {(series["entry"], field) for *_, all_series in families
             for series in all_series for field in fields_of_series(series)}
    whole, beginnings = set(), []
    for entry, names in fields.items():
        for field, described in names.items():
            if not described:
                beginnings.append(generic_name(entry, field, "", ""))
            elif (entry, field) not in named:
                whole.add(generic_name(entry, field, *described))
    return whole, tuple(beginnings)
