#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that gather add up the CPU times of nested cgroups, before the kernel has moved them from
its CPUs, and while it does.  ROUNDS in the environment says how often the latter, and LEAVES how many
cgroups lie in each of ten."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

from answers import QUESTIONS_MAX, Asker, Tap  # noqa: E402

TOP = "/sys/fs/cgroup/gather_cgroup_cpu"
GROUPS = 10
LEAVES = int(os.environ.get("LEAVES", 9))
LENGTH = 24     # bytes: system, user and run time, in ns; kernels differ behind them
RUN_TIME = 2
ROUNDS = int(os.environ.get("ROUNDS", 25))
FALLS_MAX = max(ROUNDS // 100, 3)

groups = [f"{TOP}/group{group}" for group in range(GROUPS)]
leaves = [f"{group}/leaf{leaf}" for group in groups for leaf in range(LEAVES)]
cgroups = [TOP] + groups + leaves
tap = Tap()


def question(cgroup):
    return f"cgroup:cpu,fd={cgroup},length={LENGTH}"


def run_in(cgroup, cpu, seconds):
    """A child that runs in a cgroup, on one CPU."""
    child = os.fork()
    if child:
        return child
    with open(f"{cgroup}/cgroup.procs", "w") as procs:
        procs.write("0")
    os.sched_setaffinity(0, {cpu})
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    os._exit(0)


def usage(cgroup):
    """Microseconds; the kernel flushes the times of the cgroup and of all below it."""
    with open(f"{cgroup}/cpu.stat") as stat:
        return int(stat.readline().split()[1])


def run_times(askers):
    """ns, by cgroup; None: no answer this time."""
    times = []
    for asker in askers:
        times += [answer["rows"][0]["values"][RUN_TIME] if answer["answer"] == "values" else None
                  for answer in asker.ask()]
    return times


def compare(askers, name):
    """Asks before any reader makes the kernel move times."""
    answers = run_times(askers)
    wrong = [(cgroup, answer, usage(cgroup)) for cgroup, answer in zip(cgroups, answers)
             if answer is None or answer // 1000 != usage(cgroup)]
    tap.check(name, not wrong and answers[0] > 0, *wrong[:5])


def end(children):
    for child in children:
        os.waitpid(child, 0)


def burn(chosen, seconds):
    cpus = sorted(os.sched_getaffinity(0))
    end([run_in(cgroup, cpus[number % len(cpus)], seconds)
         for number, cgroup in enumerate(chosen)])


def visit_leaves():
    """A process runs in one leaf after the other."""
    child = os.fork()
    if not child:
        for leaf in leaves:
            with open(f"{leaf}/cgroup.procs", "w") as procs:
                procs.write("0")
            os.sched_yield()
        os._exit(0)
    end([child])


def compare_in_many_runs():
    """Each run adds the times of a few cgroups, and finds the place of the run before again."""
    with Asker("gather/cgroup_cpu", [question(TOP)], "--budget", "1") as asker:
        runs, wrong, most = 0, [], []
        for _ in range(5):
            visit_leaves()
            ns = run_times([asker])[0]
            runs = max(runs, asker.runs)
            after = usage(TOP)
            if ns is None or ns // 1000 != after:
                wrong.append((asker.runs, ns, after))
            if ns is None or ns // 1000 > after:
                most.append((asker.runs, ns, after))
        tap.check(f"sums that took {runs} runs are never more than cpu.stat",
                  runs > len(cgroups) // 10 and not most, *most)
        # The kernel moves the times of all cgroups every two seconds, perhaps between two runs.
        tap.check("they equal cpu.stat unless the kernel moves times", len(wrong) <= 1, *wrong)


def come_and_go():
    """A process runs in cgroups that are made and removed one after the other."""
    child = os.fork()
    if child:
        return child
    signals = []
    signal.signal(signal.SIGTERM, lambda *_: signals.append(True))
    cpu = min(os.sched_getaffinity(0))
    while not signals:
        for group in groups:
            os.mkdir(f"{group}/passing")
            end([run_in(f"{group}/passing", cpu, 0.0002)])
            os.rmdir(f"{group}/passing")
    os._exit(0)


def flush_forever(chosen):
    child = os.fork()
    if child:
        return child
    while True:
        for cgroup in chosen:
            usage(cgroup)


def storm(name, disturb, rounds, falls_max, *options):
    """While times come in and the kernel moves them."""
    with Asker("gather/cgroup_cpu", [question(cgroup) for cgroup in (TOP, groups[0], leaves[0])],
               *options) as asker:
        cpus = sorted(os.sched_getaffinity(0))
        runners = [run_in(leaves[number % 3], cpu, 20) for number, cpu in enumerate(cpus)]
        disturber = disturb()
        shown, high, falls, unanswered = [0] * 3, [], [], 0
        for _ in range(rounds):
            times = run_times([asker])
            after = [usage(cgroup) for cgroup in (TOP, groups[0], leaves[0])]
            for number, ns in enumerate(times):
                if ns is None:
                    unanswered += 1
                    continue
                if ns // 1000 > after[number]:
                    high.append((number, ns, after[number]))
                if ns < shown[number]:
                    falls.append((number, ns, shown[number]))
                shown[number] = max(shown[number], ns)
        for child in [*runners, disturber]:
            os.kill(child, signal.SIGTERM)
        end([*runners, disturber])
        print(f"# {name}: of {3 * rounds} answers {unanswered} were put off, {len(falls)} fell, by at "
              f"most {max([before - ns for _, ns, before in falls], default=0)} ns")
        tap.check(f"{name}: no time is more than the kernel shows later", not high, *high[:3])
        # dartd shows the highest so far.
        tap.check(f"{name}: times that the kernel moves are seldom missed, or an answer is put off",
                  len(falls) <= falls_max and unanswered <= rounds // 2, *falls[:5])
        final = run_times([asker])
        tap.check(f"{name}: the times equal the kernel's afterwards",
                  [ns // 1000 for ns in final] == [usage(cgroup)
                                               for cgroup in (TOP, groups[0], leaves[0])] and
                  all(ns >= before for ns, before in zip(final, shown)), final, shown)


def main():
    for cgroup in cgroups:
        os.mkdir(cgroup)
    askers = [Asker("gather/cgroup_cpu",
                    [question(cgroup) for cgroup in cgroups[at:at + QUESTIONS_MAX]])
              for at in range(0, len(cgroups), QUESTIONS_MAX)]
    tap.check("cgroups that have not run have no time", set(run_times(askers)) == {0})
    burn(leaves, 0.005)
    compare(askers, f"the times of {len(cgroups)} cgroups equal cpu.stat, which is read later")
    burn(groups[:5] + leaves[::7], 0.01)
    for cgroup in leaves[:len(leaves) // 3] + groups[2:4]:   # and not those above
        usage(cgroup)
    burn(leaves[::11], 0.01)
    compare(askers, "the same after the kernel has moved the times of some cgroups")
    burn(leaves, 0.002)
    compare_in_many_runs()
    for cgroup in leaves[:LEAVES]:
        burn([cgroup], 0.002)
        os.rmdir(cgroup)
    answers = [answer for asker in askers for answer in asker.ask()]
    first = 1 + GROUPS
    tap.check("cgroups that were removed have ended",
              all((answer["answer"] == "ended") == (first <= number < first + LEAVES)
              for number, answer in enumerate(answers)))
    tap.check("the cgroup above keeps their times",
              answers[1]["rows"][0]["values"][RUN_TIME] // 1000 == usage(groups[0]))
    for asker in askers:
        asker.close()
    for cgroup in leaves[:LEAVES]:
        os.mkdir(cgroup)
    storm("the kernel moves times of all", lambda: flush_forever([TOP]), ROUNDS, FALLS_MAX)
    storm("the kernel moves times of some",
          lambda: flush_forever([leaves[0], leaves[1], groups[0]]), ROUNDS, FALLS_MAX)
    # A time moves up when its cgroup ends, perhaps past the place of a sum that takes long.
    storm("cgroups come and go during sums of many runs", come_and_go, ROUNDS // 5, ROUNDS // 10,
          "--budget", "1")
    with Asker("gather/cgroup_cpu", [f"cgroup:cpu,fd=/proc,length={LENGTH}",
                              f"cgroup:cpu,fd={TOP},length=80"]) as asker:
        answers = asker.ask()
        tap.check("a descriptor of something else is no cgroup", answers[0]["answer"] == "ended",
                  answers)
        tap.check("more bytes than the kernel has are no answer",
                  answers[1]["answer"] == "not yet", answers)
    tap.finish()


if __name__ == "__main__":
    main()
