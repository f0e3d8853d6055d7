#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The order in which eBPF programs write the rows of <dart/control.h>, in their instructions for a
processor that reorders stores (.output/bpf/ordered).

A function writes a row between two exchanges of its first sequence.  The kernel makes a full
barrier of each: so no store of a value becomes visible before all sequences are odd, nor after the
first of them is even.
"""
import os
import struct
import sys

TOP = os.path.dirname(os.path.abspath(__file__)).split("/selftests/")[0]
LINE = 64
CLASS_STX, MODE_MEM, MODE_ATOMIC = 3, 0x60, 0xc0
XCHG, FETCH = 0xe1, 1
EXECUTABLE, SYMBOLS = 4, 2
FUNCTION = 2


def functions(path):
    """The instructions of each function of an object: (code, register, offset, immediate)."""
    with open(path, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    found = {}
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != SYMBOLS:
            continue
        names = sections[link][4]
        for at in range(offset, offset + length, 24):
            name, info, _, where, value, bytes_ = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 != FUNCTION or not sections[where][2] & EXECUTABLE:
                continue
            text = data[names + name:data.index(b"\0", names + name)].decode()
            begin = sections[where][4] + value
            found[text] = [(code, registers & 15, displacement, immediate)
                           for code, registers, displacement, immediate in
                           struct.iter_unpack("<BBhi", data[begin:begin + bytes_])]
    return found


def is_exchange(instruction):
    code, _, offset, immediate = instruction
    return code == CLASS_STX | MODE_ATOMIC and immediate == XCHG and offset == 0


def is_store(instruction):
    return instruction[0] & 7 == CLASS_STX and instruction[0] & 0xe0 == MODE_MEM


def faults(instructions, length):
    """What is wrong with a function that updates a row of this length."""
    exchanges = [i for i, one in enumerate(instructions) if is_exchange(one)]
    pairs = [pair for pair in zip(exchanges, exchanges[1:])
             if instructions[pair[0]][1] == instructions[pair[1]][1]]
    if not pairs:
        return ["no two exchanges of one row"]
    begin, end = pairs[0]
    row = instructions[begin][1]
    ends = {line + end for line in range(0, length, LINE) for end in (0, LINE - 4)}
    written, found = [0, 0, 0], []
    for i, one in enumerate(instructions):
        if not is_store(one) or one[1] != row:
            continue
        phase = (i > begin) + (i > end)
        written[phase] += 1
        if (one[2] in ends) != (phase != 1):
            found.append(f"instruction {i} stores at {one[2]} in phase {phase}")
    if written[0] < len(ends) - 1 or written[2] < len(ends) - 1 or not written[1]:
        found.append(f"{written} stores before, between and after the exchanges")
    return found


def main():
    wanted = {"tcpconn": (2 * LINE, {"dart_set_state", "dart_connect", "dart_rcv_established",
                                     "dart_rcv_state_process", "dart_retransmit",
                                     "dart_existing"}),
              "cgroupnet": (LINE, {"take_row", "retry_row"})}
    failed = False
    print(f"1..{len(wanted)}")
    for number, (name, (length, writers)) in enumerate(wanted.items(), 1):
        known = functions(f"{TOP}/.output/bpf/ordered/{name}.bpf.o")
        found = [f"{function}: {fault}" for function in sorted(writers)
                 for fault in faults(known[function], length)]
        failed |= bool(found)
        for line in found:
            print(f"# {line}")
        print(f"{'not ok' if found else 'ok'} {number} - {name} changes values of a row only"
              " between exchanges of its first sequence, all others before or after both")
    return failed


sys.exit(main())
