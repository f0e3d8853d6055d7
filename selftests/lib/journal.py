#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""An appender and a model of the memory of a journal, from the text of <dart/journal.h> alone.

journal.py append EXPORT MODEL [NAME=NUMBER...]
    Appends entries of 16 bytes to list 0 of the journal in the file EXPORT (of
    dart_journals(5)): its time in ns, then its number, from 1 on.  Frames get lost, come twice or
    after the next one, on the way out of this program.  Writes to the file MODEL what the part of
    the appender must contain, on top of what MODEL contains already.  NAMEs: entries=10000;
    lost, twice, swapped: frames of 1000; flushed: entries of 1000; rate: frames a second;
    seed; flush=1: the last batch, too, which nothing loses.
journal.py memory JOURNAL
    Prints the memory of a journal of dartd on this host in base64.
journal.py entries EXPORT MEMORY
    Prints the entries in the part 0 of MEMORY, in base64, as hexadecimal digits, a line each; fails
    if a batch is neither whole nor empty.  Entries may be of any length.
journal.py same MODEL MEMORY PART
    Is part PART of MEMORY, in base64, what MODEL says, byte for byte?
journal.py dumped MODEL DUMP [PART]
    Is the output of 'dartctl -j journal dump', of all entries of this part, what a reader finds in
    the memory of MODEL?
journal.py followed MODEL OUTPUT [PART]
    Is the output of 'dartctl -j journal tail' complete up to the last entry: each one found
    once, or its batch missing, in order?  Prints how many were found and missing.
journal.py entered DUMP FLOWS PACKETS ENTERED
    A switch entered the paths of ENTERED of PACKETS packets of as many uniform flows as FLOWS has
    lines, each with the arguments for a key.  Does DUMP, the output of 'dartctl -j journal dump' of
    all lists, have each entry at most once, and tell which batches the others were in?
"""

import array
import base64
import collections
import ipaddress
import json
import os
import random
import socket
import struct
import sys
import time
import zlib

ENTRY = 16


def write_batch(numbers, sequence, start, entries):
    head = (sequence.to_bytes(4, "big") + start.to_bytes(6, "big") +
            bytes([len(entries), ENTRY]))
    body = (head + b"".join(entries)).ljust(2**numbers["batch_log2"] - 4, b"\0")
    return body + zlib.crc32(body).to_bytes(4, "big")


def read_batch(numbers, content, place):
    """(start, sequence, entries), or None if the batch is not whole."""
    sequence, = struct.unpack(">I", content[:4])
    count, length = content[10], content[11]
    if (zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "big") or not sequence or
            (sequence - 1) % 2**numbers["batches_log2"] != place or
            length != numbers["entry_length"] or not 1 <= count <= capacity(numbers) or
            any(content[12 + length * count:-4])):
        return None
    return (int.from_bytes(content[4:10], "big"), sequence,
            [content[12 + length * i:12 + length * (i + 1)] for i in range(count)])


def capacity(numbers):
    return min((2**numbers["batch_log2"] - 16) // numbers["entry_length"], 255)


def inverse_sum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Wire:
    """Frames of batches, of which some get lost, come twice or late; and what they write."""

    def __init__(self, numbers, model, options):
        self.numbers, self.model, self.options = numbers, model, options
        self.random = random.Random(options["seed"])
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind(("eth0", 0))
        with open("/sys/class/net/eth0/address", encoding="ascii") as file:
            own = file.read().strip()
        self.macs = b"".join(bytes.fromhex(mac.replace(":", ""))
                             for mac in (numbers["mac"], own))
        self.psn = numbers["first_psn"]
        self.held = None        # it comes after the next one
        self.sent = 0
        self.due = time.monotonic()

    def frame(self, place, content):
        numbers = self.numbers
        transport = (struct.pack(">BBHII", 0x2A, 0x40, 0xFFFF, numbers["qpn"], self.psn) +
                     struct.pack(">QII", int(numbers["base"], 16) + place * len(content),
                                 numbers["rkey"], len(content)) + content)
        self.psn = (self.psn + 1) % 2**24
        udp = struct.pack(">HHHH", 0xC000, 4791, 8 + len(transport) + 4, 0)
        ip = struct.pack(">BBHHHBBH", 0x45, numbers.get("dscp", 0) << 2,
                         20 + 8 + len(transport) + 4, 0, 0x4000, 64, 17, 0)
        ip += b"".join(ipaddress.ip_address(numbers[name]).packed for name in ("reporter", "ip"))
        ip = ip[:10] + struct.pack(">H", inverse_sum(ip)) + ip[12:]
        masked = bytearray(b"\xff" * 8 + ip + udp + transport)
        for offset in (9, 16, 18, 19, 34, 35, 40):
            masked[offset] = 0xFF
        return (self.macs + b"\x08\x00" + ip + udp + transport +
                struct.pack("<I", zlib.crc32(masked)))

    def deliver(self, item):
        frame, place, content = item
        self.due = max(self.due + 1 / self.options["rate"], time.monotonic() - 0.01)
        while time.monotonic() < self.due:
            time.sleep(0.001)
        while True:
            try:
                self.socket.send(frame)
                break
            except OSError:     # the queue is full
                time.sleep(0.001)
        self.model[place * len(content):(place + 1) * len(content)] = content
        self.sent += 1

    def send(self, sequence, content, is_safe=False):
        happens = lambda name: not is_safe and self.random.random() * 1000 < self.options[name]
        place = (sequence - 1) % 2**self.numbers["batches_log2"]
        item = self.frame(place, content), place, content
        if happens("lost"):
            return
        if not self.held and happens("swapped"):
            self.held = item
            return
        self.deliver(item)
        if happens("twice"):
            self.deliver(item)
        if self.held:
            self.deliver(self.held)
            self.held = None

    def end(self):
        if self.held:
            self.deliver(self.held)


def read_options(words):
    options = {"entries": 10000, "lost": 0, "twice": 0, "swapped": 0, "flushed": 0,
               "rate": 2000, "seed": 0, "flush": 0}
    for word in words:
        name, _, number = word.partition("=")
        if name not in options:
            sys.exit(f"journal.py: there is no option '{name}'")
        options[name] = int(number)
    return options


def read_numbers(path):
    with open(path, encoding="utf-8") as file:
        numbers, = json.load(file)["journals"]
    return numbers


def read_export(path):
    numbers = read_numbers(path)
    if numbers["entry_length"] != ENTRY:
        sys.exit("journal.py: entries must have 16 bytes")
    return numbers


def append(export, path, *words):
    options, numbers = read_options(words), read_export(export)
    state = {"numbers": numbers}
    model = bytearray(2**(numbers["lists_log2"] + numbers["batches_log2"] +
                          numbers["batch_log2"]))
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            model = bytearray(base64.b64decode(json.load(file)["model"]))
    wire = Wire(numbers, model, options)
    start = int(time.time() * 65536)
    sequence, entries = 1, []
    for number in range(1, options["entries"] + 1):
        entries.append(struct.pack(">QQ", time.time_ns(), number))
        if len(entries) == capacity(numbers):
            wire.send(sequence, write_batch(numbers, sequence, start, entries))
            sequence, entries = sequence + 1, []
        elif wire.random.random() * 1000 < options["flushed"]:
            wire.send(sequence, write_batch(numbers, sequence, start, entries))
    wire.end()
    if options["flush"] and entries:
        wire.send(sequence, write_batch(numbers, sequence, start, entries), True)
    state.update(model=base64.b64encode(model).decode(), entries=options["entries"],
                 start=start, sent=wire.sent)
    with open(path, "w", encoding="ascii") as file:
        json.dump(state, file)
    print(f"# {options['entries']} entries, {wire.sent} frames")


def memory(name):
    client = socket.socket(socket.AF_UNIX)
    client.connect("/run/dart/dartd.sock")
    client.send(json.dumps({"request": "journal-open", "name": name}).encode() + b"\n")
    reply, ancillary, _, _ = client.recvmsg(65536, socket.CMSG_SPACE(4))
    if not ancillary:
        sys.exit(f"journal.py: no descriptor: {reply}")
    fds = array.array("i")
    fds.frombytes(ancillary[0][2][:4])
    length = json.loads(reply)["journal"]["bytes"]
    print(base64.b64encode(os.pread(fds[0], length, 0)).decode())


def entries_in(export, memory_path):
    numbers = read_numbers(export)
    with open(memory_path, encoding="ascii") as file:
        content = base64.b64decode(file.read())
    size, ring = 2**numbers["batch_log2"], 2**numbers["batches_log2"]
    for place in range(ring * 2**numbers["lists_log2"]):
        bytes_there = content[place * size:(place + 1) * size]
        batch = read_batch(numbers, bytes_there, place % ring)
        if not batch and any(bytes_there):
            sys.exit(f"the batch at place {place} is not whole")
        for entry in batch[2] if batch else ():
            print(entry.hex())


def load(path):
    with open(path, encoding="ascii") as file:
        state = json.load(file)
    return state, base64.b64decode(state["model"])


def same(path, memory_path, part):
    state, model = load(path)
    with open(memory_path, encoding="ascii") as file:
        found = base64.b64decode(file.read())
    found = found[int(part) * len(model):(int(part) + 1) * len(model)]
    size = 2**state["numbers"]["batch_log2"]
    wrong = [place for place in range(len(model) // size)
             if model[place * size:(place + 1) * size] != found[place * size:(place + 1) * size]]
    if len(found) != len(model) or wrong:
        sys.exit(f"{len(model)} bytes expected, {len(found)} found; wrong places: {wrong[:20]}")
    print(f"# {len(model)} bytes are the same")


def events_of(path, part):
    """One by one: a million at once are more than a virtual machine has memory for."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line) if line.endswith("\n") else None
            if event and event["part"] == int(part):
                yield event


def expected_events(state, model):
    """What a new reader says about the memory of one part: (outcome, sequence, index or batches)."""
    numbers = state["numbers"]
    size = 2**numbers["batch_log2"]
    found = {}
    for place in range(2**numbers["batches_log2"]):
        batch = read_batch(numbers, model[place * size:(place + 1) * size], place)
        if batch:
            found[batch[:2]] = batch[2]
    starts = sorted({start for start, _ in found})
    for start in starts:
        if start != starts[0]:
            yield "restarted", 1, 0, None
        sequences = sorted(sequence for its, sequence in found if its == start)
        first = sequences[0]
        # The batches of a later start that were there first have been overwritten.
        if start != starts[0] and first > 1 and sequences[-1] > 2**numbers["batches_log2"]:
            yield "overwritten", 1, None, None
        for sequence in range(first, sequences[-1] + 1):
            entries = found.get((start, sequence), [])
            for index, entry in enumerate(entries):
                yield "found", sequence, index, entry.hex()
            if len(entries) < capacity(numbers) and sequence != sequences[-1]:
                yield "lost", sequence, 1, None


def dumped(path, dump, part=0):
    state, model = load(path)
    expected = ((sequence, index, entry)
                for outcome, sequence, index, entry in expected_events(state, model)
                if outcome == "found")
    found = lost = 0
    for line in events_of(dump, part):
        if line["outcome"] == "lost":
            lost += line["batches"]
        elif line["outcome"] == "found":
            said, right = (line["sequence"], line["index"], line["entry"]), next(expected, "the end")
            if said != right:
                sys.exit(f"after {found} entries, {right} is expected: {said}")
            found += 1
    missing = next(expected, None)
    if missing:
        sys.exit(f"it ends with {found} entries: {missing} is expected")
    holes = sum(outcome == "lost" for outcome, *_ in expected_events(state, model))
    starts = len({read[0] for read in (
        read_batch(state["numbers"], model[i:i + 2**state["numbers"]["batch_log2"]],
                   i // 2**state["numbers"]["batch_log2"])
        for i in range(0, len(model), 2**state["numbers"]["batch_log2"])) if read})
    # Batches of an earlier start may be overwritten rather than lost.
    if starts == 1 and lost != holes:
        sys.exit(f"{lost} lost batches, {holes} expected")
    print(f"# {found} entries of {starts} starts, {lost} batches lost")


def followed(path, output, part=0):
    state, _ = load(path)
    numbers = state["numbers"]
    sequence, index, found, missing = 1, 0, 0, 0
    for line in events_of(output, part):
        if line["sequence"] != sequence:
            sys.exit(f"sequence {sequence} expected: {line}")
        if line["outcome"] == "found":
            number = int(line["entry"][16:], 16)
            if line["index"] != index or number != (sequence - 1) * capacity(numbers) + index + 1:
                sys.exit(f"entry {index} of {sequence} expected: {line}")
            index, found = index + 1, found + 1
            if index == capacity(numbers):
                sequence, index = sequence + 1, 0
        elif line["outcome"] in ("lost", "overwritten"):
            missing += line["batches"] * capacity(numbers) - index
            sequence, index = sequence + line["batches"], 0
        else:
            sys.exit(f"this cannot be: {line}")
    if (sequence - 1) * capacity(numbers) + index != state["entries"]:
        sys.exit(f"it ends with entry {index} of batch {sequence}")
    if found + missing != state["entries"]:
        sys.exit(f"{found} entries found and {missing} missing are not {state['entries']}")
    print(f"# {found} found, {missing} missing")


def key_of(line):
    words = line.split()
    fields = dict(zip(words[::2], words[1::2]))
    return (ipaddress.ip_address(fields["--src"]).packed +
            ipaddress.ip_address(fields["--dst"]).packed +
            struct.pack(">HHB", *(int(fields[name])
                                  for name in ("--sport", "--dport", "--proto"))))


def entered(dump, flows, packets, count):
    with open(flows, encoding="ascii") as file:
        keys = [key_of(line) for line in file]
    with open(dump, encoding="ascii") as file:
        events = [json.loads(line) for line in file]
    found = [bytes.fromhex(line["entry"]) for line in events if line["outcome"] == "found"]
    lost = sum(line["batches"] for line in events if line["outcome"] == "lost")
    if any(line["outcome"] not in ("found", "lost") for line in events):
        sys.exit("batches are torn or overwritten")
    now = time.time_ns()
    # Uniform flows send a packet in turn.
    left = collections.Counter({key: (int(packets) + len(keys) - 1 - i) // len(keys)
                                for i, key in enumerate(keys)})
    for entry in found:
        left[entry[8:21]] -= 1
        if left[entry[8:21]] < 0 or not 0 < now - int.from_bytes(entry[:8], "big") < 3600 * 10**9:
            sys.exit(f"entry {entry.hex()} was not sent")
    missing = int(count) - len(found)
    print(f"# {count} of {packets} packets entered, {len(found)} entries found, {lost} batches lost")
    # Entries of 41 bytes, of which a batch of 256 bytes takes 5.
    if not 0 <= missing <= 5 * lost:
        sys.exit(f"{missing} entries are missing, but only {lost} batches are known to be lost")


if __name__ == "__main__":
    {"entered": entered, "append": append, "memory": memory, "entries": entries_in, "same": same, "dumped": dumped,
     "followed": followed}[sys.argv[1]](*sys.argv[2:])
