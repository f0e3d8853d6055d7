#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints the values of this host as the kernel's own files show them.

The output is one JSON object: {"ENTRY/COPY/FIELD": [LOW, HIGH]}, with the names of the
entries of a whole host, without the interval. A counter with the value V now is LOW or
more, and below HIGH: files round down. A gauge may be anything from LOW to HIGH.
"""
import ctypes
import glob
import json
import os
import re

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
GAUGE = 16 << 20  # bytes by which memory may change meanwhile, in either direction
# By how much a file may differ from the values of one moment.
EXACT = {
    "load": 11,  # the kernel rounds 2048ths of a task to two decimals
    "open": 64 * os.cpu_count(),  # a CPU keeps a count of its own of files
    # Processes that run for a moment.
    "running": 3, "sleeping": 3, "idle": 3, "procs_running": 3, "procs_blocked": 3,
}
CLONE_NEWNET = 0x40000000
UNLIMITED_MEMORY = (1 << 63) - PAGE
UNLIMITED_PIDS = 4194305
RANDOM_READY = 256  # bits
STA_NANO = 0x2000  # of the status of adjtimex(2)
# In the order of IF_OPER_*.
OPERSTATES = "unknown notpresent down lowerlayerdown testing dormant up".split()
MINOR_BITS = 20  # of the number of a device

# Lines of /proc/interrupts, and the members of the kernel's struct with their counts.
INTERRUPTS = {
    "NMI": "__nmi_count", "LOC": "apic_timer_irqs", "SPU": "irq_spurious_count",
    "PMI": "apic_perf_irqs", "IWI": "apic_irq_work_irqs", "RTR": "icr_read_retry_count",
    "PLT": "x86_platform_ipis", "RES": "irq_resched_count", "CAL": "irq_call_count",
    "TLB": "irq_tlb_count", "TRM": "irq_thermal_count", "THR": "irq_threshold_count",
    "DFR": "irq_deferred_error_count", "HYP": "irq_hv_callback_count",
    "HRE": "irq_hv_reenlightenment_count", "HVS": "hyperv_stimer0_count",
    "PIN": "kvm_posted_intr_ipis", "NPI": "kvm_posted_intr_nested_ipis",
    "PIW": "kvm_posted_intr_wakeup_ipis",
}
# Since Linux 7.2 they are numbers of an array.
INTERRUPTS_NUMBERED = {
    "NMI": "nmi", "LOC": "apic_timer", "SPU": "spurious", "PMI": "apic_perf", "IWI": "irq_work",
    "RTR": "icr_read_retry", "PLT": "x86_platform_ipi", "RES": "reschedule",
    "CAL": "call_function", "TLB": "tlb", "TRM": "thermal_apic", "THR": "threshold_apic",
    "DFR": "deferred_error", "MCE": "mce_exception", "MCP": "mce_poll",
    "HYP": "hypervisor_callback", "HRE": "hyperv_reenlightenment", "HVS": "hyperv_stimer0",
    "PIN": "posted_intr", "NPI": "posted_intr_nested", "PIW": "posted_intr_wakeup",
}

values = {}
# Without room for changes between a file and the value: for a caller that reads the files
# before and after it.
is_exact = False


def lines(path):
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:  # no such controller, device or line
        return []


def put(entry, copy, field, value, unit=1, slack=0):
    """Adds a value of the kernel; copy is the row, or "sum" for a sample of one row. The file
    rounds the value down to a multiple of unit, and a gauge may change by slack meanwhile."""
    if is_exact:
        slack = EXACT.get(field.rstrip("0123456789"), 0)
    values[f"{entry}/{copy}/{field}"] = [value - slack, value + unit + slack]


def put_bytes(entry, copy, field, value):
    put(entry, copy, field, value, 1024, GAUGE)


def plain(name):
    """Converts the name of a line of meminfo to the name of a field."""
    words = re.sub(r"[()]", "_", name.removeprefix("Mem"))
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).strip("_").lower()


def take_cpus():
    names = "user nice system idle iowait irq softirq steal guest guest_nice".split()
    for line in lines("/proc/stat"):
        name, *numbers = line.split()
        if re.fullmatch(r"cpu\d+", name):
            for field, number in zip(names, numbers):
                # The times of an idle CPU end when it was asked, not with a tick.
                slack = 2 * TICK if field in ("idle", "iowait") else 0
                put("cpustat", name[3:], field, int(number) * TICK, TICK, slack)
        elif name in ("ctxt", "processes"):
            put("tasks", "sum", name, int(numbers[0]))
        elif name in ("procs_running", "procs_blocked"):
            put("tasks", "sum", name, int(numbers[0]), slack=100)
        elif name == "btime":
            put("load", "sum", "boot_time", int(numbers[0]) * 10**9, 10**9)
    for line in lines("/proc/net/softnet_stat"):
        columns = [int(column, 16) for column in line.split()]
        for column, field in ((0, "processed"), (1, "dropped"), (2, "time_squeeze"),
                              (9, "received_rps")):
            put("softnet", columns[12], field, columns[column])
    take_columns("/proc/softirqs", "softirqs", str.lower)
    for names in INTERRUPTS, INTERRUPTS_NUMBERED:
        take_columns("/proc/interrupts", "irqs", names.get)


def take_topology():
    files = {"package": "physical_package_id", "die": "die_id", "core": "core_id"}
    for path in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology"):
        cpu = re.search(r"cpu(\d+)/", path)[1]
        for field, file in files.items():
            for number in lines(f"{path}/{file}"):
                put("cpus", cpu, field, int(number))
    for path in glob.glob("/sys/devices/system/node/node[0-9]*/cpu[0-9]*"):
        node, cpu = re.search(r"node(\d+)/cpu(\d+)$", path).groups()
        put("cpus", cpu, "node", int(node))


def take_columns(path, entry, field_of):
    cpus, *rows = lines(path)
    cpus = [cpu.removeprefix("CPU") for cpu in cpus.split()]
    for row in rows:
        name, *numbers = row.split()
        field = field_of(name.rstrip(":"))
        for cpu, number in zip(cpus, numbers):
            if field and number.isdigit():
                put(entry, cpu, field, int(number))


def take_vmstat():
    is_event = False
    for line in lines("/proc/vmstat"):
        name, number = line.split()
        is_event = is_event or name == "pgpgin"
        # pgpgin and pgpgout are counted in sectors and shown in KiB.
        unit = 2 if name in ("pgpgin", "pgpgout") else 1
        if is_event and name != "nr_unstable":
            put("vmstat", "sum", name, int(number) * unit, unit)
        if re.match("pg(refill|scan|steal)_?(kswapd|direct|khugepaged|proactive|anon|file|)$", name):
            # A CPU keeps pages to itself until it has many, which a file adds up.
            put("reclaim", "sum", name, int(number), slack=125 * os.cpu_count())


def take_memory():
    pages = {"HugePages_Total": "total", "HugePages_Free": "free",
             "HugePages_Rsvd": "reserved", "HugePages_Surp": "surplus"}
    for line in lines("/proc/meminfo"):
        name, number = line.replace(":", "").split()[:2]
        put_bytes("memory", "sum", plain(name), int(number) * 1024)
        if name in ("SwapTotal", "SwapFree"):
            put_bytes("swap", "sum", plain(name)[5:], int(number) * 1024)
        if name == "CommitLimit":
            put_bytes("swap", "sum", "commit_limit", int(number) * 1024)
        if name in pages:
            put("hugepages", "sum", pages[name], int(number))
        if name in ("Hugepagesize", "Hugetlb"):
            put_bytes("hugepages", "sum", {"Hugepagesize": "size"}.get(name, "hugetlb"),
                      int(number) * 1024)
    for path in glob.glob("/sys/devices/system/node/node*/meminfo"):
        for line in lines(path):
            _, node, name, number = line.replace(":", "").split()[:4]
            put_bytes("node:memory", node, plain(name), int(number) * 1024)
    node, zone = "", ""
    for line in lines("/proc/zoneinfo"):
        words = line.replace(",", "").split()
        if words[0] == "Node":
            node, zone = words[1], words[3].lower()
            put("node:zones", node, "page_size", PAGE)
        field, number = (words[-2], words[-1]) if len(words) in (2, 3) else ("", "")
        if field in ("free", "min", "low", "high", "present", "managed"):
            key = f"node:zones/{node}/{zone}.{field}"
            if key not in values:  # a line in the list of a CPU uses the same name
                put_bytes("node:zones", node, f"{zone}.{field}", int(number) * PAGE)


def take_load():
    *loads, tasks, _ = lines("/proc/loadavg")[0].split()
    for field, load in zip(("load1", "load5", "load15"), loads):
        put("load", "sum", field, int(float(load) * 2048), slack=2048)
    put("tasks", "sum", "threads", int(tasks.split("/")[1]), slack=100)
    uptime = float(lines("/proc/uptime")[0].split()[0])
    put("load", "sum", "uptime", int(uptime * 10**9), TICK)
    put("load", "sum", "online_cpus", os.cpu_count())
    entropy = int(lines("/proc/sys/kernel/random/entropy_avail")[0])
    put("load", "sum", "random_ready", int(entropy >= RANDOM_READY))
    for field, file in (("threads_max", "threads-max"), ("pid_max", "pid_max")):
        put("tasks", "sum", field, int(lines(f"/proc/sys/kernel/{file}")[0]))
    fields = (("file-nr", ("open", None, "open_max")),
              ("inode-nr", ("inodes", "inodes_unused")),
              ("dentry-state", ("dentries", "dentries_unused", None, None,
                                "dentries_negative")))
    for file, names in fields:
        numbers = lines(f"/proc/sys/fs/{file}")[0].split()
        for field, number in zip(names, numbers):
            if field:
                put("files", "sum", field, int(number), slack=10000)


def take_sockets(suffix):
    of_all = ("tcp_orphan", "tcp_alloc", "tcp_mem", "udp_mem")
    for path in ("/proc/self/net/sockstat", "/proc/self/net/sockstat6"):
        for line in lines(path):
            family, *words = line.split()
            prefix = "" if family == "sockets:" else family.lower().rstrip(":") + "_"
            for field, number in zip(words[::2], words[1::2]):
                unit = PAGE if field == "mem" else 1
                if prefix + field not in of_all:
                    # Of fragments the file shows bytes.
                    put(f"sockets{suffix}", "sum", prefix + field, int(number), slack=100)
                elif not suffix:
                    put("sockets:host", "sum", prefix + field, int(number) * unit, unit,
                        slack=100 * unit)
    if not suffix:
        put("sockets:host", "sum", "page_size", PAGE)
        take_tracked_connections()


def take_tracked_connections():
    """Of the own network namespace, if nf_conntrack is loaded."""
    for field, file in (("entries", "count"), ("limit", "max")):
        for number in lines(f"/proc/sys/net/netfilter/nf_conntrack_{file}"):
            put("sockets", "sum", f"conntrack_{field}", int(number))
    header, *cpus = lines("/proc/self/net/stat/nf_conntrack") or [""]
    columns = header.split()
    for field in "invalid insert_failed drop early_drop".split():
        if field in columns:
            place = columns.index(field)
            put("sockets", "sum", f"conntrack_{field}",
                sum(int(cpu.split()[place], 16) for cpu in cpus))


class Timex(ctypes.Structure):
    """struct timex of adjtimex(2)"""
    _fields_ = [("modes", ctypes.c_uint),
                *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
                ("status", ctypes.c_int),
                *((name, ctypes.c_long) for name in ("constant", "precision", "tolerance", "sec",
                                                     "usec", "tick", "ppsfreq", "jitter")),
                ("shift", ctypes.c_int),
                *((name, ctypes.c_long) for name in ("stabil", "jitcnt", "calcnt", "errcnt",
                                                     "stbcnt")),
                ("tai", ctypes.c_int), ("pad", ctypes.c_int * 11)]


def adjtimex(**members):
    """Calls adjtimex(2), which changes the clock only if there are members."""
    libc = ctypes.CDLL(None, use_errno=True)
    timex = Timex(**members)
    if libc.adjtimex(ctypes.byref(timex)) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")
    return timex


def take_clock():
    timex = adjtimex()
    for field, value in (("status", timex.status), ("maxerror", timex.maxerror * 1000),
                         ("esterror", timex.esterror * 1000), ("frequency", timex.freq),
                         ("time_constant", timex.constant), ("tick", timex.tick),
                         ("tai", timex.tai)):
        put("clock", "sum", field, value)
    unit = 1 if timex.status & STA_NANO else 1000
    put("clock", "sum", "offset", timex.offset * unit, unit)


def take_inotify():
    """Of all processes: the root of the machine sees them."""
    counts = {"inotify_instances": 0, "inotify_watches": 0}
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path) == "anon_inode:inotify":
                counts["inotify_instances"] += 1
                info = lines(path.replace("/fd/", "/fdinfo/"))
                counts["inotify_watches"] += sum(line.startswith("inotify ") for line in info)
        except OSError:  # a process has ended
            pass
    for field, count in counts.items():
        put("files", "sum", field, count, slack=100)


def take_processes():
    states = {"R": "running", "S": "sleeping", "D": "disk_sleep", "T": "stopped",
              "t": "tracing_stop", "Z": "zombie", "P": "parked", "I": "idle"}
    counts = dict.fromkeys(states.values(), 0)
    for path in glob.glob("/proc/[0-9]*/stat"):
        for line in lines(path):
            state = line.rpartition(") ")[2][0]
            counts[states.get(state, "running")] += 1
    counts["total"] = sum(counts.values())
    for field, count in counts.items():
        put("processes", "sum", field, count, slack=100)


def take_pressure(entry, directory, suffix):
    for resource in ("cpu", "memory", "io", "irq"):
        for line in lines(f"{directory}/{resource}{suffix}"):
            kind, *_, total = line.split()
            field = f"{resource}_{kind}"
            if entry != "pressure" or field != "cpu_full":  # no such thing
                put(entry, "sum", field, int(total.split("=")[1]) * 1000, 1000)


def take_devices():
    names = ("read_ios read_merges read_sectors read_ticks write_ios write_merges "
             "write_sectors write_ticks in_flight io_ticks time_in_queue discard_ios "
             "discard_merges discard_sectors discard_ticks flush_ios flush_ticks").split()
    for line in lines("/proc/diskstats"):
        _, _, disk, *numbers = line.split()
        for field, number in zip(names, numbers):
            put(f"disk:io@{disk}", "sum", field, int(number))
    for path in glob.glob("/sys/class/net/*/statistics"):
        device = path.split("/")[4]
        for field in os.listdir(path):
            put(f"netdev:link@{device}", "sum", field, int(lines(f"{path}/{field}")[0]))
        for field in ("carrier", "carrier_changes", "mtu"):
            for number in lines(f"{path}/../{field}"):
                put(f"netdev:link@{device}", "sum", field, int(number))
        for state in lines(f"{path}/../operstate"):
            put(f"netdev:link@{device}", "sum", "operstate", OPERSTATES.index(state))


def take_rdma_ports():
    for port in glob.glob("/sys/class/infiniband/*/ports/*"):
        number = int(os.path.basename(port))
        for device in lines(f"{port}/gid_attrs/ndevs/0"):
            for path in glob.glob(f"{port}/hw_counters/*"):
                field = os.path.basename(path)
                if field != "lifespan":
                    put(f"rdma:ports@{device}", number - 1, field, int(lines(path)[0]))


def take_namespace(suffix):
    families = {"Ip:": "ip", "IpExt:": "ip", "Tcp:": "tcp", "TcpExt:": "tcpext",
                "Udp:": "udp", "Icmp:": "icmp"}
    for path in ("/proc/self/net/snmp", "/proc/self/net/netstat"):
        pairs = iter(lines(path))
        for header in pairs:
            family, *names = header.split()
            for name, number in zip(names, next(pairs).split()[1:]):
                # A whole host leaves out the many counters of TcpExt in other namespaces.
                if family in families and not (suffix and family == "TcpExt:"):
                    # The only gauge: the shell on the host keeps a connection.
                    put(f"snmp:{families[family]}{suffix}", "sum", name.lower(),
                        int(number), slack=2 if name == "CurrEstab" else 0)
    for line in lines("/proc/self/net/snmp6"):
        name, number = line.split()
        found = re.match(r"(Ip6|Icmp6|Udp6)(?!Lite)(.*)", name)
        if found:
            put(f"snmp:{found[1].lower()}{suffix}", "sum", found[2].lower(),
                int(number))


def take_namespaces():
    libc = ctypes.CDLL(None, use_errno=True)
    take_namespace("")
    take_sockets("")
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    for name in sorted(os.listdir("/run/netns")):
        namespace = os.open(f"/run/netns/{name}", os.O_RDONLY)
        if libc.setns(namespace, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {name}")
        take_namespace(f"@{name}")
        take_sockets(f"@{name}")
        os.close(namespace)
    if libc.setns(home, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def take_bandwidth(entry, path):
    for line in lines(f"{path}/cpu.max"):
        quota, period = line.split()
        put(entry, "sum", "quota", -1 if quota == "max" else int(quota) * 1000)
        put(entry, "sum", "period", int(period) * 1000)


def take_io(entry, path):
    if not os.path.exists(path):
        return
    sums = dict.fromkeys("rbytes wbytes rios wios dbytes dios".split(), 0)
    for line in lines(path):
        for pair in line.split()[1:]:
            field, number = pair.split("=")
            if field in sums:
                sums[field] += int(number)
    for field, number in sums.items():
        put(entry, "sum", field, number)


def take_limit(entry, field, path, unlimited):
    for line in lines(path):
        put(entry, "sum", field, unlimited if line == "max" else int(line))


def take_cgroup(path, name):
    for line in lines(f"{path}/cpu.stat"):
        field, number = line.split()
        if field == "usage_usec":
            put(f"cgroup:cpu@{name}", "sum", "sum_exec_runtime", int(number) * 1000, 1000)
        elif field == "nice_usec":
            put(f"cgroup:cpu@{name}", "sum", "ntime", int(number) * 1000, 1000)
        elif field.startswith("nr_"):
            put(f"cgroup:bandwidth@{name}", "sum", field, int(number))
        elif field == "throttled_usec":
            put(f"cgroup:bandwidth@{name}", "sum", "throttled_time",
                int(number) * 1000, 1000)
    take_bandwidth(f"cgroup:bandwidth@{name}", path)
    take_io(f"cgroup:io@{name}", f"{path}/io.stat")
    take_pressure(f"cgroup:pressure@{name}", path, ".pressure")
    memory, pids = f"cgroup:memory@{name}", f"cgroup:pids@{name}"
    for file in ("current", "peak", "min", "low", "high", "max", "swap.current"):
        take_limit(memory, file.replace(".", "_"), f"{path}/memory.{file}",
                   UNLIMITED_MEMORY)
    for file in ("current", "peak", "max"):
        take_limit(pids, file, f"{path}/pids.{file}", UNLIMITED_PIDS)
    for entry, file, prefix in ((memory, "memory.stat", ""),
                                (memory, "memory.events", "events_"),
                                (pids, "pids.events", "events_")):
        for line in lines(f"{path}/{file}"):
            field, number = line.split()
            put(entry, "sum", prefix + field, int(number))


def take_cgroups():
    root = "/sys/fs/cgroup"
    for path, directories, _ in os.walk(root):
        if path != root:
            take_cgroup(path, path.removeprefix(root))


def take_filesystems():
    """Of disks, each by its shortest path."""
    paths = {}
    for line in lines("/proc/self/mounts"):
        device, path, kind = line.split()[:3]
        if kind.startswith(("ext", "xfs", "btrfs")):
            paths[device] = min(paths.get(device, path), path, key=len)
    for path in paths.values():
        entry = f"filesystem@{path}"
        stat = os.statvfs(path)
        for field, number in (("size", stat.f_blocks), ("free", stat.f_bfree),
                              ("available", stat.f_bavail)):
            put(entry, "sum", field, number * stat.f_frsize, slack=GAUGE)
        put(entry, "sum", "files", stat.f_files)
        put(entry, "sum", "files_free", stat.f_ffree, slack=100)
        put(entry, "sum", "read_only", int(stat.f_flag & os.ST_RDONLY != 0))


def take_disks_of_cgroup(path, name):
    """The lines of io.stat, each in the row with the number of its device."""
    for line in lines(f"{path}/io.stat"):
        device, *pairs = line.split()
        major, minor = (int(number) for number in device.split(":"))
        for field, number in (pair.split("=") for pair in pairs):
            put(f"cgroup:disks@{name}", major << MINOR_BITS | minor, field, int(number))


def take_disk_stats(disk):
    """The per-CPU counters of a disk: of its line in /proc/diskstats, times in ms."""
    columns = ("ios.read merges.read sectors.read nsecs.read ios.write merges.write "
               "sectors.write nsecs.write - - - ios.discard merges.discard sectors.discard "
               "nsecs.discard ios.flush nsecs.flush").split()
    for line in lines("/proc/diskstats"):
        _, _, name, *numbers = line.split()
        for field, number in zip(columns, numbers if name == disk else ()):
            unit = 1_000_000 if field.startswith("nsecs.") else 1
            if field != "-":
                put(f"disk:stats@{disk}", "sum", field, int(number) * unit, unit)


def take_veth_stats(device):
    """The per-CPU counters of a veth device, which counts the packets that it sends."""
    for entry, fields in (("netdev:stats", ("tx_packets", "tx_bytes")),
                          ("netdev:core", ("rx_dropped", "tx_dropped", "rx_nohandler"))):
        for field in fields:
            path = f"/sys/class/net/{device}/statistics/{field}"
            put(f"{entry}@{device}", "sum", field, int(lines(path)[0]))


def take_host():
    """All sources of a whole host."""
    take_cpus()
    take_topology()
    take_vmstat()
    take_memory()
    take_load()
    take_processes()
    take_pressure("pressure", "/proc/pressure", "")
    take_devices()
    take_rdma_ports()
    take_namespaces()
    take_cgroups()
    take_clock()
    take_inotify()
    take_filesystems()


def main():
    take_host()
    print(json.dumps(values))


if __name__ == "__main__":
    main()
