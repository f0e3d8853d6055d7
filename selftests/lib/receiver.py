#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Receives metrics by remote write 1.0 and 2.0, InfluxDB's line protocol and OTLP/HTTP.

receiver.py PORT FILE [STATUS...]: answers the first requests with these statuses, 0 by closing
the connection, and all others with success. It appends each sample that it takes to FILE, in a
line: NAME{LABELS} VALUE TIME, in ms by remote write and in ns otherwise; stale markers are
"stale". The decoders follow the specifications and share no code with the product.
"""
import gzip
import http.server
import struct
import sys

sys.dont_write_bytecode = True
import otlp  # noqa: E402

STALE = 0x7FF0000000000002


def number(data, at):
    """A varint, and the rest of the bytes."""
    if data[at] < 128:
        return data[at], at + 1
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def unpack(data):
    """The block format of snappy."""
    length, at = number(data, 0)
    out = bytearray()
    while at < len(data):
        tag, at = data[at], at + 1
        if tag & 3 == 0:
            size = tag >> 2
            if size >= 60:
                more = size - 59
                size, at = int.from_bytes(data[at:at + more], "little"), at + more
            out += data[at:at + size + 1]
            at += size + 1
            continue
        if tag & 3 == 1:
            size, offset, at = (tag >> 2 & 7) + 4, tag >> 5 << 8 | data[at], at + 1
        else:
            width = 2 if tag & 3 == 2 else 4
            size = (tag >> 2) + 1
            offset, at = int.from_bytes(data[at:at + width], "little"), at + width
        # A copy may overlap its own output.
        while size:
            start = len(out) - offset
            part = out[start:start + size]
            out += part
            size -= len(part)
    assert len(out) == length
    return bytes(out)


def fields(data):
    """The fields of a message of protobuf: (number, value)."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            size, at = number(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def sample_of(data):
    """The bits of the value, and the time; either may be first."""
    if data[0] == 9 and data[9] == 16:
        return struct.unpack_from("<Q", data, 1)[0], number(data, 10)[0]
    if data[0] == 16:
        time, at = number(data, 1)
        if at == len(data):
            return 0, time
        if data[at] == 9:
            return struct.unpack_from("<Q", data, at + 1)[0], time
    sample = dict(fields(data))
    return struct.unpack("<Q", sample.get(1, bytes(8)))[0], sample[2]


def text_of(bits):
    return "stale" if bits == STALE else repr(struct.unpack("<d", struct.pack("<Q", bits))[0])


def labels_1(fields_of_labels):
    for label in map(dict, map(fields, fields_of_labels)):
        yield label[1].decode(), label[2].decode()


def labels_2(fields_of_labels, symbols):
    for value in fields_of_labels:
        refs, at = [], 0
        while at < len(value):
            ref, at = number(value, at)
            refs.append(symbols[ref].decode())
        yield from zip(refs[::2], refs[1::2])


def name_and_labels(pairs):
    assert pairs == sorted(pairs)
    labels = dict(pairs)
    assert len(labels) == len(pairs)
    name = labels.pop("__name__")
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in labels.items()) + "}"


# Metrics of OTLP whose type and unit were written.
described = set()
# {symbols of a message: {fields of labels: text}}: emulated machines are slow.
known = {}


def lines(body, version):
    message = list(fields(unpack(body)))
    symbols = tuple(value for field, value in message if field == 4)
    texts = known.setdefault(symbols, {})
    for field, series in message:
        if field != (1 if version == 1 else 5):
            continue
        parts = list(fields(series))
        labels = tuple(value for field, value in parts if field == 1)
        if labels not in texts:
            texts[labels] = name_and_labels(list(
                labels_1(labels) if version == 1 else labels_2(labels, symbols)))
        for field, value in parts:
            if field == 2:
                bits, time = sample_of(value)
                yield f"{texts[labels]} {text_of(bits)} {time}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    path_of_file = ""
    statuses = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.headers.get("Content-Type", "")
        if self.statuses:
            status = self.statuses.pop(0)
            if not status:
                self.close_connection = True
                return
            self.answer(status)
            return
        is_otlp = self.path.endswith("/v1/metrics")
        with open(self.path_of_file, "a", encoding="utf-8") as file:
            if is_otlp:
                assert kind == "application/x-protobuf", kind
                for line in otlp.lines(gzip.decompress(body), described):
                    print(line, file=file)
            elif "protobuf" in kind:
                version = 2 if "io.prometheus.write.v2" in kind else 1
                for line in lines(body, version):
                    print(line, file=file)
            else:
                file.write(gzip.decompress(body).decode())
        self.answer(200 if is_otlp else 204)

    def answer(self, status):
        text = b"" if status < 300 else b"it is not taken\n"
        self.send_response(status)
        if status == 204:
            self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
        self.send_header("Content-Length", str(len(text)))
        try:
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            self.close_connection = True  # the sender closed the connection

    def log_message(self, *_):
        pass


def main():
    Handler.path_of_file = sys.argv[2]
    Handler.statuses = [int(status) for status in sys.argv[3:]]
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
