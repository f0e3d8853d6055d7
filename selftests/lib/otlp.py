# SPDX-License-Identifier: GPL-2.0-only
"""Decodes ExportMetricsServiceRequest of OTLP, from the specification alone: a field that the
controller has no reason to send, or that comes twice, is an error.

Each point becomes a sample of Prometheus' as "Prometheus and OpenMetrics Compatibility" of
OpenTelemetry says: service.name is job, service.instance.id is instance, a histogram is its
buckets.
"""
import re
import struct

NO_RECORDED_VALUE = 1
CUMULATIVE = 2
# The base units of Prometheus as UCUM writes them.
UNITS = {"s": "seconds", "By": "bytes", "Hz": "hertz", "Cel": "celsius", "1": "ratio"}
SCOPE = "dart-controller"
# What a metric contains, by the field of its data: its types, and the fields of its points.
GAUGE, SUM, HISTOGRAM = 5, 7, 9
TYPES = {GAUGE: ("gauge", "unknown"), SUM: ("counter",), HISTOGRAM: ("histogram",)}
ATTRIBUTES = {GAUGE: 7, SUM: 7, HISTOGRAM: 9}


def number(data, at):
    """A varint, and the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number of the field, its value) of a message; texts and messages are bytes."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = number(data, at)
            assert at + size <= len(data), "a field ends after its message"
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def message(data, single=(), repeated=()):
    """{number: value, or list of values}; fields that are missing are missing."""
    found = {field: [] for field in repeated}
    for field, value in fields(data):
        if field in repeated:
            found[field].append(value)
        else:
            assert field in single and field not in found, f"field {field} of {data!r}"
            found[field] = value
    return found


def attributes(pairs):
    found = {}
    for pair in pairs:
        pair = message(pair, single=(1, 2))
        key = pair[1].decode()
        assert key not in found, f"{key} is there twice"
        found[key] = message(pair[2], single=(1,))[1].decode()
    return found


def host_of(instance):
    """The host in HOST:PORT or [V6]:PORT."""
    match = re.fullmatch(r"\[(.+)\]:\d+|([^:]+):\d+", instance)
    return match.group(1) or match.group(2) if match else instance


def labels_of(resource):
    """The labels of a resource."""
    labels = attributes(message(resource, repeated=(1,))[1])
    instance = labels.pop("service.instance.id")
    if labels.get("host.name") == host_of(instance):
        del labels["host.name"]
    assert all("." in key for key in labels), labels
    labels["instance"] = instance
    if "service.name" in labels:
        labels["job"] = labels.pop("service.name")
    return labels


def packed(data):
    return [struct.unpack_from("<Q", data, at)[0] for at in range(0, len(data), 8)]


def doubles(data):
    return [struct.unpack_from("<d", data, at)[0] for at in range(0, len(data), 8)]


def buckets_of(point):
    """(le, cumulated count) of a point of a histogram; None for stale ones."""
    is_stale = point.get(10, 0) == NO_RECORDED_VALUE
    counts, bounds = packed(point[6]), doubles(point.get(7, b""))
    assert len(counts) == len(bounds) + 1 and bounds == sorted(set(bounds))
    assert is_stale or sum(counts) == point[4]
    total = 0
    for bound, count in zip([repr(bound) for bound in bounds] + ["+Inf"], counts):
        total += count
        yield bound, None if is_stale else float(total)


def points_of(kind, name, data):
    """(name, further labels, value, time) of the samples of a point."""
    if kind == HISTOGRAM:
        point = message(data, single=(3, 4, 6, 7, 10), repeated=(9,))
        for bound, value in buckets_of(point):
            yield name + "_bucket", {"le": bound}, value, point[3]
        return
    point = message(data, single=(3, 4, 8), repeated=(7,))
    assert (4 in point) != (point.get(8) == NO_RECORDED_VALUE), point
    yield name, {}, struct.unpack("<d", struct.pack("<Q", point[4]))[0] if 4 in point \
        else None, point[3]


class Metric:
    """A metric of the page: name, type, unit and help."""

    def __init__(self, data):
        parts = message(data, single=(1, 2, 3, GAUGE, SUM, HISTOGRAM), repeated=(12,))
        (self.kind,) = {GAUGE, SUM, HISTOGRAM} & parts.keys()
        self.name = parts[1].decode()
        self.help = parts.get(2, b"").decode()
        unit = parts.get(3, b"").decode()
        self.unit = UNITS.get(unit, unit)
        (self.type,) = attributes(parts[12]).values()
        assert attributes(parts[12]) == {"prometheus.type": self.type}
        assert self.type in TYPES[self.kind], self.type
        data = message(parts[self.kind], single=(2, 3), repeated=(1,))
        self.points = data.pop(1)
        assert self.points, f"{self.name} has no point"
        assert data == {GAUGE: {}, SUM: {2: CUMULATIVE, 3: 1},
                        HISTOGRAM: {2: CUMULATIVE}}[self.kind], data

    def samples(self, of_resource):
        """(name, labels, value, or None for the end, time in ns)."""
        for data in self.points:
            own = attributes(value for field, value in fields(data)
                             if field == ATTRIBUTES[self.kind])
            for name, further, value, time in points_of(self.kind, self.name, data):
                assert not own.keys() & of_resource.keys(), own
                yield name, {**of_resource, **own, **further}, value, time


def metrics(body):
    """(labels of the resource, Metric) of a request without compression."""
    for resource in message(body, repeated=(1,))[1]:
        resource = message(resource, single=(1,), repeated=(2,))
        labels = labels_of(resource[1])
        for scope in resource[2]:
            scope = message(scope, single=(1,), repeated=(2,))
            assert message(scope[1], single=(1,))[1].decode() == SCOPE
            for metric in scope[2]:
                yield labels, Metric(metric)


def lines(body, known):
    """
    A line for each sample, NAME{LABELS} VALUE TIME; before it "# NAME TYPE UNIT" for each metric
    that is not in the set @known.
    """
    for resource, metric in metrics(body):
        about = f"# {metric.name} {metric.type} {metric.unit}".rstrip()
        if about not in known:
            known.add(about)
            yield about
        for name, labels, value, time in metric.samples(resource):
            text = ",".join(f'{label}="{labels[label]}"' for label in sorted(labels))
            yield f"{name}{{{text}}} {'stale' if value is None else repr(value)} {time}"
