# SPDX-License-Identifier: GPL-2.0-only
"""Chromium without a window, driven by the DevTools protocol over pipes."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import queue
import time

OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
           "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--hide-scrollbars",
           # A name that another DNS might give to this machine.
           "--host-resolver-rules=MAP elsewhere.test 127.0.0.1",
           "--remote-debugging-pipe"]


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="dart-page.")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def place():
            # Chromium reads commands from 3 and writes answers to 4.
            os.dup2(to_read, 10)
            os.dup2(to_write, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [find(), *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number = 0
        self.answers = {}
        self.events = []
        self.arrived = threading.Condition()
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        pending = b""
        while True:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                return
            pending += piece
            *whole, pending = pending.split(b"\0")
            with self.arrived:
                for text in whole:
                    message = json.loads(text)
                    if "id" in message:
                        self.answers[message["id"]] = message
                    else:
                        self.events.append(message)
                self.arrived.notify_all()

    def call(self, method, session=None, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers, 60):
                raise TimeoutError(method)
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, TimeoutError, RuntimeError):
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """A tab."""

    def __init__(self, browser, width=1400, height=1000, dark=False):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        self.target = target
        for domain in ("Page", "Runtime", "Log", "Audits", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression of JavaScript, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def wait(self, script, seconds=15):
        """Waits until the expression is true; returns its value, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                value = self.run(script)
            except RuntimeError:  # the page is being replaced
                value = None
            if value:
                return value
            time.sleep(0.05)
        return None

    def events(self, method):
        return [event["params"] for event in self.browser.events
                if event["method"] == method and
                event.get("sessionId") == self.session]

    def complaints(self):
        """Complaints of the browser about the page: violations of its policy, errors."""
        found = [event["entry"]["text"] for event in self.events("Log.entryAdded")
                 if event["entry"]["level"] == "error"]
        found += [json.dumps(event["issue"]["details"])
                  for event in self.events("Audits.issueAdded")
                  if "ContentSecurityPolicy" in event["issue"]["code"]]
        found += [event["exceptionDetails"]["exception"].get("description", "?")
                  for event in self.events("Runtime.exceptionThrown")]
        return found

    def picture(self, path, whole=False):
        size = {}
        if whole:
            height = self.run("document.documentElement.scrollHeight")
            width = self.run("innerWidth")
            self.resize(width, min(height, 8000))
            time.sleep(1)
        data = self.call("Page.captureScreenshot", format="png", **size)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
