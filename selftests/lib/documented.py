#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""documented.py: the commands in the documentation, each block of Markdown or an example.

documented.py list          prints "FILE: FIRST LINE" of each block
documented.py check BIN     checks each block: selftests/documented.yaml lists it; its
                            syntax is right for bash; the programs in the directory BIN
                            know its options and commands; prints TAP
documented.py run           runs the blocks that, by the list, run in a guest; prints TAP
"""

import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]
LIST = TOP / "selftests/documented.yaml"
PROGRAMS = ("dartctl", "dart-controller", "dartd", "dart-report")
SECONDS = 120  # until a command that goes on prints something, on the slowest machine


def files():
    yield TOP / "README.md"
    yield TOP / "Documentation/install.md"
    yield from sorted((TOP / "Documentation/install").glob("*.md"))
    for pattern in ("agent/*.[1-8].in", "kmod/*.[1-8]", "Documentation/*.[1-8]",
                    "tools/*/*.[1-8]", "tools/*/*.[1-8].in"):
        yield from sorted(TOP.glob(pattern))


class Block:
    """Consecutive lines of commands; "place" is stable while other blocks come and go."""

    def __init__(self, path, line, text):
        self.path = str(path.relative_to(TOP))
        self.line = line
        self.commands = [c for c in commands_of(text) if c]
        self.place = f"{self.path}: {self.commands[0] if self.commands else ''}"


def commands_of(text):
    """The commands, without prompts of root and comments; lines that go on are joined."""
    text = re.sub(r"\\\n\s*", "", text)
    prompts = [line[2:] for line in text.splitlines() if re.match(r"# \S", line)]
    if prompts and text.startswith("# "):
        text = "\n".join(prompts)  # the lines between them are output of the commands
    for line in text.splitlines():
        line = re.sub(r"^[#$] (?=\S)", "", line.strip())
        if line.startswith("#"):
            continue
        yield re.sub(r"\s+# .*$|\s+#$", "", line).strip()


def blocks_of_markdown(path):
    inside, start, lines = None, 0, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.lstrip().startswith("```"):
            lines.append(line)
        elif inside is None:
            inside, start, lines = line.strip()[3:], number + 1, []
        else:
            if inside in ("", "sh", "bash", "shell"):
                yield Block(path, start, "\n".join(lines))
            inside = None


def unroff(text):
    """The text of a line of mdoc."""
    text = text.replace("\\e", "\\").replace("\\&", "").replace("\\-", "-")
    text = text.replace("\\(dq", '"').replace("\\(aq", "'").replace("\\(ti", "~")
    return text


def blocks_of_manual(path):
    """The lines of .Dl, and literal displays, in the section EXAMPLES."""
    is_example, display, start = False, None, 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith(".Sh"):
            is_example = line == ".Sh EXAMPLES"
        elif not is_example:
            continue
        elif line.startswith(".Bd"):
            display, start = [], number + 1
        elif line.startswith(".Ed"):
            yield Block(path, start, "\n".join(display))
            display = None
        elif display is not None:
            display.append(unroff(line))
        elif line.startswith(".Dl"):
            yield Block(path, number, unroff(line[4:]))


def blocks():
    for path in files():
        found = blocks_of_markdown(path) if path.suffix == ".md" else blocks_of_manual(path)
        yield from (block for block in found if block.commands)


class Tap:
    """Points of TAP."""

    def __init__(self):
        self.count = self.failures = 0

    def point(self, name, flaws):
        self.count += 1
        print(f"{'not ok' if flaws else 'ok'} {self.count} - {name}")
        for flaw in flaws:
            print("# " + flaw.replace("\n", "\n# "))
        self.failures += bool(flaws)
        sys.stdout.flush()

    def finish(self):
        print(f"1..{self.count}")
        return 1 if self.failures else 0


def listed():
    with open(LIST, encoding="utf-8") as file:
        return {item["block"]: item for item in yaml.safe_load(file)}


def options_of(program, directory):
    """The long and short options that the help and the manual pages of a program name."""
    known = subprocess.run([directory / program, "--help"], capture_output=True, text=True,
                           check=True).stdout
    for page in TOP.glob(f"*/*/{program}*.[1-8]"):
        text = re.sub(r"\bFl (\S+)", r" -\1", page.read_text())
        known += text
    for page in TOP.glob(f"*/{program}*.[1-8]"):
        known += re.sub(r"\bFl (\S+)", r" -\1", page.read_text())
    return (set(re.findall(r"(--[a-z0-9][a-z0-9-]*)", known)),
            set(re.findall(r"(?<![\w-])(-[A-Za-z])\b", known)), known)


def flaws_of(command, programs):
    """The faults in options and names of commands of our programs."""
    words = shlex.split(command, comments=False)
    program, flaws = None, []
    for index, word in enumerate(words):
        if word in ("|", "&&", "||", ";", "&", ">"):
            program = None
        elif program is None and word in programs:
            program = word
            following = words[index + 1:index + 2]
            if word == "dartctl" and following and not following[0].startswith("-") and \
                    not re.search(rf"(?m)^\s*{re.escape(following[0])}\b", programs[word][2]):
                flaws.append(f"dartctl has no command '{following[0]}'")
        elif program and word.startswith("--"):
            # The fields of a key are options of a query.
            if word.split("=")[0] not in programs[program][0] and "query" not in words:
                flaws.append(f"{program} has no option '{word}'")
        elif program and re.fullmatch(r"-[A-Za-z]", word):
            if word not in programs[program][1]:
                flaws.append(f"{program} has no option '{word}'")
    return flaws


def check(directory):
    tap, known = Tap(), listed()
    programs = {name: options_of(name, Path(directory)) for name in PROGRAMS}
    places = set()
    for block in blocks():
        places.add(block.place)
        item = known.get(block.place)
        if item is None:
            tap.point(block.place, [f"line {block.line}: it is not in {LIST.name}"])
            continue
        if item.get("text"):
            continue
        flaws = []
        for command in block.commands:
            syntax = subprocess.run(["bash", "-n", "-c", command], capture_output=True,
                                    text=True, check=False)
            flaws += [syntax.stderr] if syntax.returncode else flaws_of(command, programs)
        if item.get("run") is not True and not item.get("elsewhere"):
            flaws.append("the list has no reason why it does not run in a guest")
        tap.point(f"{block.path}:{block.line} has correct commands", flaws)
    tap.point("each block of the list is there",
              [f"not there: {place}" for place in sorted(set(known) - places)])
    return tap.finish()


def goes_on(command):
    """Does it run until the test ends it? A controller does, and its output goes on."""
    words = command.split()
    if words[0] == "dart-controller":
        return not {"--once", "doctor", "status", "shard", "dump", "replay"} & set(words)
    return words[:2] in (["dartctl", "monitor"], ["dartctl", "xdp"]) and "|" not in words \
        and "follow" in words or "--watch" in words


class Running:
    """A command that runs until the test ends it."""

    def __init__(self, command, number):
        self.said = f"/run/documented.{number}"
        self.command = command
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(["bash", "-c", "exec " + command], stdout=said,
                                            stderr=said, stdin=subprocess.DEVNULL)

    def text(self):
        with open(self.said, encoding="utf-8", errors="replace") as said:
            return said.read()

    def begins(self):
        """Did it begin its work?"""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            if re.search(r"connected|\{|cpustat", self.text()):
                return []
            time.sleep(0.1)
        return [f"{self.command}: status {self.process.poll()}: {self.text()}"]

    def ends(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(SECONDS)
        return [f"{self.command}: status {status} in the end: {self.text()}"] if status else []


def run_block(block, prefixes):
    running, flaws = [], []
    for command in block.commands:
        if prefixes is not True and not command.startswith(tuple(prefixes)):
            continue
        print(f"# {command}", flush=True)
        if goes_on(command):
            one = Running(command, len(running))
            flaws += one.begins()
            # Later commands may ask it.
            if "--socket" in command:
                running.append(one)
            else:
                flaws += one.ends()
            continue
        done = subprocess.run(["bash", "-ec", "set -o pipefail; " + command], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=5 * SECONDS)
        if done.returncode:
            flaws.append(f"{command}: status {done.returncode}: {done.stdout}")
    for one in reversed(running):
        flaws += one.ends()
    return flaws


def run():
    tap, known = Tap(), listed()
    for block in blocks():
        item = known.get(block.place, {})
        prefixes = item.get("run")
        if prefixes:
            if "before" in item:
                subprocess.run(item["before"], shell=True, check=True)
            tap.point(f"{block.path}:{block.line} runs: {block.commands[0]}",
                      run_block(block, prefixes))
    return tap.finish()


if sys.argv[1:2] == ["check"]:
    sys.exit(check(sys.argv[2]))
elif sys.argv[1:] == ["run"]:
    sys.exit(run())
for block in blocks():
    print(block.place)
