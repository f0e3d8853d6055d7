#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Without the module: the values of the host that programs of bpf/gather answer with, between
the kernel's own before and after."""
import os
import platform
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kernel_values  # noqa: E402
from answers import Asker, Comparison, Question, ROUNDS, Tap, for_this_kernel  # noqa: E402

# Memory comes and goes while the files are read, so it need not agree in each round.
MOST = ROUNDS // 2
# In the order of enum cpu_usage_stat.
CPU_TIMES = "user nice system softirq irq idle iowait steal guest guest_nice".split()
# Members of struct softnet_data, and names of their values.  Since Linux 7.1 there are two
# counters of dropped packets.
SOFTNET = {"processed": "processed", "time_squeeze": "time_squeeze",
           "received_rps": "received_rps", "dropped": "dropped",
           "drop_counters.drops0": "dropped", "drop_counters.drops1": "dropped"}
# Some members of irq_cpustat_t; since Linux 7.2 they are numbers of an array.
IRQS = ("__nmi_count", "apic_timer_irqs", "irq_spurious_count", "irq_resched_count",
        "irq_call_count", "irq_tlb_count")
IRQ_NUMBERS = {"counts": ("__nmi_count", "apic_timer_irqs", "irq_spurious_count", None, None, None,
                          None, "irq_resched_count", "irq_call_count", "irq_tlb_count")}


def events():
    names = [line.split()[0] for line in kernel_values.lines("/proc/vmstat")]
    return names[names.index("pgpgin"):]


def softirqs():
    return [line.split(":")[0].strip().lower()
            for line in kernel_values.lines("/proc/softirqs")[1:]]


def ask(name, questions, *takers):
    asker = Asker(f"gather/{name}", for_this_kernel(questions))
    comparison = Comparison(asker, takers)
    asker.close()
    return comparison


tap = Tap()

counters = ask(
    "host",
    [Question("cpustat,member=kernel_cpustat.cpustat", copies=True, fields=CPU_TIMES),
     Question("vmstat,member=vm_event_state.event,sum=1", fields=events()),
     Question("kstat,member=kernel_stat.softirqs", "softirqs", True, softirqs()),
     *(Question(f"softnet,member=softnet_data.{member}", "softnet", True, [field])
       for member, field in SOFTNET.items()),
     *(Question(f"irq_stat,member=irq_cpustat_t.{member}", "irqs", True, fields)
       for member, fields in [*((name, [name]) for name in IRQS), *IRQ_NUMBERS.items()])],
    kernel_values.take_cpus, kernel_values.take_vmstat)
tap.agree("times of CPUs", counters, "cpustat/")
tap.agree("events of memory", counters, "vmstat/")
tap.agree("softirqs", counters, "softirqs/")
tap.agree("packets per CPU", counters, "softnet/")
if platform.machine() == "x86_64":  # the only one that counts interrupts there
    tap.agree("interrupts", counters, "irqs/")

memory = ask(
    "memory",
    [Question("memory"), Question("node:memory", copies=True),
     Question("node:zones", copies=True)],
    kernel_values.take_memory)
tap.agree("memory of the host", memory, "memory/", MOST)
tap.agree("memory of nodes", memory, "node:memory/", MOST)
tap.agree("zones of nodes", memory, "node:zones/", MOST)

load = ask("load", [Question("load"), Question("cpus", copies=True)],
           kernel_values.take_load, kernel_values.take_cpus, kernel_values.take_topology)
tap.agree("load", load, "load/")
tap.agree("places of CPUs", load, "cpus/")

# With a budget that allows 64 IDs in a run.
kinds = [Question("processes")]
for budget_ns, text in ("200000", "processes"), ("1", "processes, counted in many runs"):
    asker = Asker("gather/processes", kinds, "--budget", budget_ns)
    processes = Comparison(asker, [kernel_values.take_processes])
    asker.ask()
    runs = asker.runs
    asker.close()
    tap.agree(text, processes, "processes/", MOST)
tap.check("a walk over the processes goes on in the next run", runs > 1, f"{runs} runs")
tap.finish()
