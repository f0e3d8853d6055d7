#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""SIGHUP adds a receiver to a controller that runs, removes one, changes one, and gives back one that
is wrong: a receiver that stays gets each sample meanwhile, and one that goes gets all until then."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../../../receivers"))
sys.path.insert(0, os.path.join(HERE, "../../../controllers"))
import programs  # noqa: E402
import scene  # noqa: E402

HOSTS = 5
INTERVAL_MS = 200
UPDATE = re.compile(r'dart_fleet_row_update_total\{.*instance="([^"]*)".*\} (\d+)(?:\.0)? \d+$')
points = programs.Points()


class Receiver(scene.Process):
    """Writes down all samples."""

    def __init__(self, directory, name):
        super().__init__(f"{directory}/{name}-log")
        self.file = f"{directory}/{name}"
        self.port = programs.free_ports()
        self.run([sys.executable, os.path.join(HERE, "../../../lib/receiver.py"), str(self.port),
                  self.file], stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def output(self, **settings):
        return {"remote_write": f"http://127.0.0.1:{self.port}/", "version": 1, "delay": "200ms",
                **settings}

    def updates(self, hosts):
        """[updates] of all hosts."""
        found = [set() for _ in range(HOSTS)]
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as lines:
                for line in lines:
                    match = UPDATE.match(line)
                    if match:
                        found[hosts.number(match[1])].add(int(match[2]))
        return found

    def gets_more(self, hosts, count=5):
        """Waits until it has @count more updates of each host than now."""
        before = self.updates(hosts)
        return scene.soon(lambda: all(len(now) >= len(old) + count for now, old in
                                      zip(self.updates(hosts), before)))


class Controller(scene.Process):
    def __init__(self, directory, hosts):
        super().__init__(f"{directory}/controller-log")
        self.directory = directory
        self.hosts = hosts

    def write(self, outputs):
        config = {"interval": f"{INTERVAL_MS}ms", "transport": "tcp",
                  "entries": [f"fleet:row+{INTERVAL_MS}ms"],
                  "tls": {"certificate": f"{self.directory}/controller.pem",
                          "key": f"{self.directory}/controller.key",
                          "authorities": f"{self.directory}/authority.pem"},
                  "agents": [{"host": "127.0.0.1", "port": self.hosts.first_port + host}
                             for host in range(HOSTS)],
                  "outputs": outputs}
        with open(f"{self.directory}/new.yaml", "w", encoding="ascii") as file:
            json.dump(config, file)
        os.rename(f"{self.directory}/new.yaml", f"{self.directory}/controller.yaml")

    def start(self, outputs):
        self.write(outputs)
        self.run([scene.CONTROLLER, "--config", f"{self.directory}/controller.yaml", "--socket",
                  f"{self.directory}/socket"], stdout=subprocess.DEVNULL)

    def reload(self, outputs):
        self.write(outputs)
        self.send(signal.SIGHUP)

    def ports(self):
        """The ports of the receivers in its status."""
        answer = subprocess.run(
            [scene.CONTROLLER, "status", "-j", "--socket", f"{self.directory}/socket"],
            capture_output=True, timeout=20, check=False)
        outputs = json.loads(answer.stdout)["outputs"] if not answer.returncode else []
        return sorted(int(output["to"].split(":")[2].rstrip("/")) for output in outputs
                      if output["output"] == "remote_write")

    def has(self, receivers):
        return scene.soon(lambda: self.ports() == sorted(each.port for each in receivers))

    def has_said(self, text, times):
        with open(self.log, encoding="utf-8") as log:
            return log.read().count(text) >= times

    def said(self, text):
        return self.has_said(text, 1)


def lost(updates, answers):
    """Answers between the first and the last update that a receiver has, and that it lacks."""
    for host, own in enumerate(updates):
        if not own:
            yield f"host {host}: nothing"
        missing = [update for update in answers[host]
                   if own and min(own) < update < max(own) and update not in own]
        if missing:
            yield f"host {host}: {len(missing)} answers, the first is {missing[0]}"


def run(directory, hosts, controller, receivers):
    stays, goes, comes = receivers

    def problem(happened):
        return "" if happened else scene.tail(controller.log)

    controller.start([stays.output(), goes.output()])
    points.say("two receivers get samples", problem(stays.gets_more(hosts) and
                                                    goes.gets_more(hosts)))
    controller.reload([stays.output(), comes.output()])
    points.say("one comes, and gets samples", problem(comes.gets_more(hosts)))
    points.say("one goes, and is in no status", problem(controller.has([stays, comes])))
    spool = os.path.join(directory, "spool")
    os.mkdir(spool)
    controller.reload([comes.output(spool=spool), stays.output()])
    points.say("one is changed, and gets samples", problem(
        scene.soon(lambda: os.listdir(spool)) and comes.gets_more(hosts)))
    # Two receivers cannot share a directory: the second one waits until the first one has ended.
    controller.reload([comes.output(spool=spool, delay="100ms"), stays.output()])
    points.say("it is changed again, with the same spool", problem(
        scene.soon(lambda: controller.ports() == sorted([stays.port, comes.port]) and
                   controller.said("has ended")) and comes.gets_more(hosts)))
    controller.reload([comes.output(spool=spool, token_file=f"{directory}/token"), stays.output()])
    points.say("one with that spool whose token is missing changes nothing", problem(
        scene.soon(lambda: controller.said("receivers stay as they were")) and
        controller.has([stays, comes]) and comes.gets_more(hosts)))
    with open(f"{directory}/token", "w", encoding="ascii") as file:
        file.write("secret")
    controller.reload([comes.output(spool=spool, token_file=f"{directory}/token"), stays.output()])
    points.say("with the token it is changed", problem(
        scene.soon(lambda: controller.has_said("has ended", 4)) and
        controller.has([stays, comes]) and comes.gets_more(hosts)))
    with open(f"{directory}/file", "w", encoding="ascii"):
        pass
    controller.reload([stays.output(), comes.output(spool=f"{directory}/file/spool")])
    points.say("one that cannot begin changes nothing", problem(
        scene.soon(lambda: controller.has_said("receivers stay as they were", 2)) and
        controller.has([stays, comes]) and comes.gets_more(hosts)))
    hosts.hold()
    controller.send(signal.SIGTERM)
    points.say("it ends", problem(scene.soon(lambda: not controller.is_running())))
    answers = hosts.answers()
    points.say_differences("the one that stays has each answer", lost(stays.updates(hosts), answers))
    points.say_differences("the one that went has each until then",
                           lost(goes.updates(hosts), answers))


def main():
    for path in (scene.CONTROLLER, f"{scene.HELPERS}/fleet_hosts", f"{scene.HELPERS}/tls_files"):
        if not os.path.exists(path):
            print(f"1..0 # SKIP {path} is not built")
            sys.exit(4)
    with tempfile.TemporaryDirectory(prefix="dart-receivers.") as directory:
        hosts = scene.Hosts(directory, HOSTS, INTERVAL_MS)
        controller = Controller(directory, hosts)
        receivers = [Receiver(directory, name) for name in ("stays", "goes", "comes")]
        try:
            reason = hosts.start()
            points.say("the hosts start", reason)
            if not reason:
                run(directory, hosts, controller, receivers)
        finally:
            for process in (controller, hosts, *receivers):
                process.kill()
    sys.exit(points.finish())


main()
