#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""described.py TOP jvm|mmv|varnish: compare memory that describes itself with the program's tool.

Starts the real program, uses it, and compares the values that are read out of its memory with
those of jcmd, pminfo or varnishstat before and after, in TAP. Then the program ends, or its file
goes: no value may be read any more.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
from application import Reader, end, point, top  # noqa: E402

def until(condition, what):
    """Waits for programs that tell nobody when they are ready."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    sys.exit(f"Bail out! {what}")


class Described(Reader):
    """The values of a process whose memory describes itself; its layout is made once."""

    def __init__(self, pid):
        super().__init__(pid, "-", subprocess.PIPE)
        self.series = {}

    def read(self):
        """Values, or the sentence that refuses them."""
        try:
            values = super().read()
        except (BrokenPipeError, json.JSONDecodeError):
            return self.process.stderr.read().strip()
        self.series = values.pop("series")
        return values

    def end(self):
        try:
            super().end()
        except BrokenPipeError:
            self.process.wait()


def why_refused(pid):
    reader = Described(pid)
    answer = reader.read()
    reader.end()
    return answer


TEXT_LENGTH = 48  # bytes of a text that a row has


def lies_between(value, before, after):
    if isinstance(value, str) or isinstance(before, str):
        return value in (before[:TEXT_LENGTH], after[:TEXT_LENGTH])
    return min(before, after) <= value <= max(before, after)


def compare(flat, reader, tool, when):
    """The tool, the memory, and the tool again; returns names of the tool that memory lacks.

    A gauge or a text can go up and down between both looks of the tool, so a few more follow: a
    wrong value stays wrong.
    """
    for _ in range(10):
        before = tool()
        values = flat(reader.read())
        after = tool()
        names = values.keys() & before.keys() & after.keys()
        wrong = [f"{name}: {values[name]}, not {before[name]} to {after[name]}" for name in names
                 if not lies_between(values[name], before[name], after[name])]
        if not wrong:
            break
    point(names and not wrong, f"{when}: {len(names)} values are those of the tool",
          "; ".join(wrong))
    return before.keys() - values.keys()


def families(file):
    """The families of a file of schemas/prometheus that are not patterns."""
    with open(os.path.join(top, "schemas/prometheus", file), encoding="utf-8") as text:
        return set(re.findall(r"^- family: (\w+)", text.read(), re.M))


def check_series(reader, file, expected):
    """Each family has a series, and these series have these values."""
    reader.read()
    missing = families(file) - {name.partition("{")[0] for name in reader.series}
    point(not missing, f"each family of {file} has a series", ", ".join(missing))
    found = {name: reader.series.get(name) for name in expected}
    point(found == expected, f"series of {file} have the values of the tool", str(found))


# ---- a Java virtual machine

# The prologue, which jcmd shows as counters, and command lines, which may contain passwords.
NOT_COUNTERS = {"majorVersion", "minorVersion", "overflow", "size", "timestamp", "used"}
COMMAND_LINES = {"java.rt.vmArgs", "sun.rt.javaCommand"}


def jcmd(pid, command):
    return subprocess.run(["jcmd", str(pid), command], capture_output=True, text=True).stdout


def perf_counters(pid):
    found = {}
    for name, value in re.findall(r"^([\w.]+)=(.*)$", jcmd(pid, "PerfCounter.print"), re.M):
        found[name] = value[1:-1] if value.startswith('"') else int(value)
    return found


def test_jvm(directory):
    java = subprocess.Popen(
        ["java", "-Xmx64m", "-Dpassword=secret", "-m", "java.rmi/sun.rmi.registry.RegistryImpl",
         "0"], stdout=subprocess.DEVNULL)
    try:
        until(lambda: "sun.rt" in jcmd(java.pid, "PerfCounter.print"), "no java")
        reader = Described(java.pid)
        lacking = compare(lambda values: values["jvm"][0], reader,
                          lambda: perf_counters(java.pid), "a JVM at rest")
        counters = perf_counters(java.pid)
        lacking = {name for name in lacking
                   if not (name.startswith("sun.perfdata.") and
                           name.rpartition(".")[2] in NOT_COUNTERS)}
        # The last method may have had a long name when the layout was made.
        left_out = {name for name in lacking
                    if isinstance(counters[name], str) and
                    (len(counters[name]) >= TEXT_LENGTH or name == "sun.ci.lastMethod")}
        point(lacking - left_out - COMMAND_LINES == set(), "nothing else is missing",
              ", ".join(lacking - left_out))
        point(COMMAND_LINES <= lacking and "secret" not in json.dumps(reader.read()),
              "command lines are not shown")
        collections = reader.read()["jvm"][0]["sun.gc.collector.1.invocations"]
        jcmd(java.pid, "GC.run")
        compare(lambda values: values["jvm"][0], reader, lambda: perf_counters(java.pid),
                "after a collection")
        point(reader.read()["jvm"][0]["sun.gc.collector.1.invocations"] == collections + 1,
              "the collection was counted")
        java.send_signal(signal.SIGSTOP)
        row = reader.read()["jvm"][0]
        space = "sun.gc.generation.1.space.0"
        check_series(reader, "jvm.yaml", {
            'jvm_threads_live_threads{application="test"}': row["java.threads.live"],
            'jvm_memory_used_bytes{application="test",area="nonheap",id="Metaspace"}':
                row["sun.gc.metaspace.used"],
            f'jvm_memory_used_bytes{{application="test",area="heap",id="{row[space + ".name"]}"}}':
                row[space + ".used"]})
        point("jvm" in reader.read(), "a stopped JVM is read")
        java.kill()
        java.wait()
        answer = reader.read()
        point(isinstance(answer, str) and "No such process" in answer,
              "no value is left of a killed JVM, whose file stays", str(answer))
        reader.end()
    finally:
        java.kill()
        java.wait()


# ---- PCP

PMDA = "/var/lib/pcp/pmdas/mmv/pmda_mmv.so"
MMV_WRITER = """
import sys
import cpmapi
from pcp import mmv
from pcp.pmapi import pmUnits

COUNTER, INSTANT = cpmapi.PM_SEM_COUNTER, cpmapi.PM_SEM_INSTANT
METRICS = (
    ("jobs", cpmapi.PM_TYPE_U64, COUNTER, pmUnits(0, 0, 1, 0, 0, 0), 0),
    ("queue", cpmapi.PM_TYPE_U32, INSTANT, pmUnits(1, 0, 0, 1, 0, 0), 0),
    ("temperature", cpmapi.PM_TYPE_32, INSTANT, pmUnits(), 0),
    ("load", cpmapi.PM_TYPE_DOUBLE, INSTANT, pmUnits(), 0),
    ("state", cpmapi.PM_TYPE_STRING, INSTANT, pmUnits(), 0),
    ("requests.total", cpmapi.PM_TYPE_U64, COUNTER, pmUnits(0, 0, 1, 0, 0, 0), 7),
    ("requests.size", cpmapi.PM_TYPE_64, INSTANT, pmUnits(1, 0, 0, 0, 0, 0), 7),
    ("requests.note", cpmapi.PM_TYPE_STRING, INSTANT, pmUnits(), 7),
)
values = mmv.MemoryMappedValues("dartjobs", 0, 42)
methods = mmv.mmv_indom(7, "methods", "methods")
methods.set_instances([mmv.mmv_instance(0, "GET"), mmv.mmv_instance(3, "a b")])
values.add_indoms([methods])
metrics = []
for item, (name, kind, semantics, unit, indom) in enumerate(METRICS, 1):
    metrics.append(mmv.mmv_metric(name, item, kind, semantics, unit, indom))
    metrics[-1].semantics, metrics[-1].dimension = semantics, unit
values.add_metrics(metrics)
values.start()
for line in sys.stdin:
    number = int(line)
    values.lookup_set("jobs", None, number)
    values.lookup_set("queue", None, number % 1000)
    values.lookup_set("temperature", None, -number)
    values.lookup_set("load", None, number / 3)
    values.lookup_set_string("state", None, f"step {number}")
    for index, instance in enumerate(("GET", "a b")):
        values.lookup_set("requests.total", instance, number + index)
        values.lookup_set("requests.size", instance, -index * number)
        values.lookup_set_string("requests.note", instance, f"note {index}")
    print("done", flush=True)
"""


class MmvWriter:
    def __init__(self, directory):
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", MMV_WRITER], text=True,
                                        env=dict(os.environ, PCP_TMP_DIR=directory),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.write(1)

    def write(self, number):
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def end(self):
        self.process.kill()
        self.process.wait()


def pminfo(directory):
    """Values by "METRIC" or "METRIC[INSTANCE]"."""
    names = os.path.join(directory, "names")
    with open(names, "w", encoding="ascii") as file:
        file.write("root {\n\tmmv 70:*:*\n}\n")
    text = subprocess.run(["pminfo", "-n", names, "-L", "-K", "clear", "-K",
                           f"add,70,{PMDA},mmv_init", "-f", "mmv.dartjobs"],
                          env=dict(os.environ, PCP_TMP_DIR=directory), capture_output=True,
                          text=True).stdout
    found = {}
    for block in text.split("\n\n"):
        name = block.strip().split("\n")[0].removeprefix("mmv.dartjobs.")
        for instance, value in re.findall(
                r'^ +(?:inst \[\d+ or "([^"]*)"\] )?value (.*)$', block, re.M):
            found[f"{name}[{instance}]" if instance else name] = \
                value[1:-1] if value.startswith('"') else \
                float(value) if "." in value else int(value)
    return found


def flat_mmv(values):
    found = dict(values["mmv"][0])
    for row in values["mmv:7"]:
        found |= {f"{name}[{row['instance']}]": row[name] for name in row if name != "instance"}
    return found


def test_mmv(directory):
    os.mkdir(os.path.join(directory, "mmv"))
    path = os.path.join(directory, "mmv/dartjobs")
    writer = MmvWriter(directory)
    try:
        reader = Described(writer.process.pid)
        for number in (42, 12345):
            writer.write(number)
            lacking = compare(flat_mmv, reader, lambda: pminfo(directory), f"step {number}")
            point(lacking == {"load"}, "only a floating-point number is missing",
                  ", ".join(lacking))
        monitor = subprocess.Popen(
            ["/usr/bin/python3", "-c",
             f"import mmap; file = open({path!r}); "
             "memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ); "
             "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        monitor.stdout.readline()
        answer = why_refused(monitor.pid)
        point("to write to" in answer, "a process that only reads the file is refused", answer)
        monitor.communicate(b"\n")
        os.unlink(path)
        writer.write(77)
        point(flat_mmv(reader.read())["jobs"] == 77, "values go on after the file was unlinked")
        writer.end()
        answer = reader.read()
        point(isinstance(answer, str) and "No such process" in answer,
              "no value is left of a writer that was killed", str(answer))
        reader.end()
    finally:
        writer.end()
    writer = MmvWriter(directory)
    try:
        reader = Described(writer.process.pid)
        reader.read()
        os.truncate(path, 0)
        answer = reader.read()
        point(isinstance(answer, str) and "Bad address" in answer,
              "no value is left of a file that was truncated", str(answer))
        reader.end()
    finally:
        writer.end()


# ---- Varnish

VCL = """vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "9"; }
backend other { .host = "127.0.0.1"; .port = "10"; }
sub vcl_recv { if (req.url == "/other") { set req.backend_hint = other; } }
"""


def flat_varnish(values):
    prefixes = {"lck": "LCK", "main": "MAIN", "mempool": "MEMPOOL", "mgt": "MGT", "sma": "SMA",
                "vbe": "VBE"}
    found = {}
    for entry, (row,) in values.items():
        kind, _, instance = entry.removeprefix("varnish:").partition("@test")
        prefix = f"{prefixes[kind]}.{instance[1:-1]}" if instance else prefixes[kind]
        found |= {f"{prefix}.{name}": value for name, value in row.items()}
    return found


def varnishstat(directory):
    text = subprocess.run(["varnishstat", "-n", directory, "-1", "-j"], capture_output=True,
                          text=True).stdout
    return {name: counter["value"] for name, counter in json.loads(text)["counters"].items()}


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def varnishadm(directory, *words):
    return subprocess.run(["varnishadm", "-n", directory, *words], capture_output=True,
                          text=True).stdout


def test_varnish(directory):
    vcl = os.path.join(directory, "test.vcl")
    state = os.path.join(directory, "state")
    with open(vcl, "w", encoding="ascii") as file:
        file.write(VCL)
    manager = subprocess.Popen(
        ["varnishd", "-F", "-n", state, "-a", "127.0.0.1:0", "-f", vcl, "-s", "malloc,10m",
         "-p", "ban_lurker_sleep=0", *(["-j", "none"] if os.geteuid() == 0 else [])],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: "running" in varnishadm(state, "status"), "no varnishd")
        until(lambda: "MEMPOOL.sess1.live" in varnishstat(state), "no pools")
        child, = children(manager.pid)
        address = varnishadm(state, "debug.listen_address").split()
        reader = Described(child)
        lacking = compare(flat_varnish, reader, lambda: varnishstat(state), "varnishd at rest")
        point(not lacking, "no counter is missing", ", ".join(lacking))
        for _ in range(3):
            try:
                urllib.request.urlopen(f"http://{address[1]}:{address[2]}/other")
            except urllib.error.HTTPError:
                pass
        compare(flat_varnish, reader, lambda: varnishstat(state), "after requests")
        until(lambda: reader.read()["varnish:main"][0]["client_req"] == 3, "no requests")
        values = flat_varnish(reader.read())
        failed = {name: values[f"VBE.boot.{name}.fail_econnrefused"]
                  for name in ("default", "other")}
        point(failed["other"] > failed["default"] == 0, "backends are told apart", str(failed))
        check_series(reader, "varnish.yaml", {
            'varnish_main_client_req{application="test"}': 3,
            'varnish_main_sessions_total{application="test"}': 3,
            'varnish_backend_fail_econnrefused{application="test",backend="boot.other",'
            'server="unknown"}': failed["other"],
            'varnish_sma_g_space{application="test",type="s0"}': values["SMA.s0.g_space"]})
        os.kill(child, signal.SIGKILL)
        until(lambda: child not in children(manager.pid), "the child lives")
        answer = reader.read()
        point(isinstance(answer, str) and "No such process" in answer,
              "no value is left of a killed child", str(answer))
        reader.end()
        until(lambda: "running" in varnishadm(state, "status"), "no new child")
        until(lambda: "MEMPOOL.sess1.live" in varnishstat(state), "no new pools")
        reader = Described(children(manager.pid)[0])
        compare(flat_varnish, reader, lambda: varnishstat(state), "a new child")
        reader.end()
    finally:
        manager.terminate()
        manager.wait()


def main():
    with tempfile.TemporaryDirectory() as directory:
        {"jvm": test_jvm, "mmv": test_mmv, "varnish": test_varnish}[sys.argv[2]](directory)
    end()


main()
