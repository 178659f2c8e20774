# SPDX-License-Identifier: Apache-2.0
# A headless Chromium that a test drives over its debugging pipe, with nothing but Python: load a file, run JavaScript, move
# and press the mouse, type, take a picture, and hear every complaint of the console. It gets no network, so a page that
# asks for anything from outside fails here.
"""Drives Chromium by its debugging protocol. Usage: browser.py PAGE PICTURE   (the picture of docs/report.md: docs/figures/report.png)"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The browser's path; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A page of the size of a laptop's window. `complaints`: errors of the console and of scripts, and requests that failed."""

    def __init__(self, width=1500, height=1000):
        self.be_patient()
        self.complaints = []
        self.requests = []
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        def wire():
            # The protocol's descriptors are 3 and 4; whatever had these numbers must not be lost on the way.
            one, other = os.dup(to_read), os.dup(from_write)
            os.dup2(one, 3)
            os.dup2(other, 4)

        self._process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", "--proxy-server=127.0.0.1:1", f"--user-data-dir={self._profile.name}",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self._buffer = b""
        self._number = 0
        self._session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def be_patient(self, limit_s=60):
        """Begins anew to count the time in which everything must be answered."""
        self.deadline = time.monotonic() + limit_s

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def call(self, method, **parameters):
        """Sends a command and waits for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._hear(answer)

    def _receive(self):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0, self.deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser did not answer in time")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self._buffer += data
        raw, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(raw)

    def _hear(self, event):
        method, given = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    def run(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return answer["result"].get("value")

    def until(self, expression):
        """Waits for a condition to hold."""
        while not self.run(expression):
            if time.monotonic() > self.deadline:
                raise TimeoutError(f"this never came to hold: {expression}")
            self.frame()

    def frame(self):
        """Waits for the next two pictures, so that what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def load(self, path):
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        self.until("document.readyState === 'complete'")

    def mouse(self, kind, x, y, **rest):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **rest)

    def wheel(self, x, y, up):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=-up)
        self.frame()

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.frame()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.frame()

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Enter": 13}.get(key, 0))
        self.frame()

    def picture(self, path, whole=False):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))


def show_the_dearest(window, page):
    """Brings up the causes and, in the timeline below, the task that cost most, with its life under the pointer."""
    window.load(page)
    window.until("document.body.dataset.ready === 'yes'")
    window.run("commtask.timeline.showTask(Number(document.querySelector('#delays [data-task]').dataset.task))")
    window.run("document.getElementById('findings').scrollIntoView()")
    window.frame()
    window.mouse("mouseMoved", *window.run("""(() => {
        const t = commtask.timeline, { tasks } = t.data, k = t.selected, [from, to] = t.range(), { left, top } = t.canvas.getBoundingClientRect();
        const row = t.index.tasks.get(`${tasks.rank[k]}/${tasks.row[k]}`), middle = (tasks.posted[k] + taskEnd(t.data, k)) / 2;
        return [left + GUTTER + (middle - from) / (to - from) * (t.width - GUTTER), top + AXIS + row.top + row.height / 2 - t.box.scrollTop];
    })()"""))
    window.frame()


if __name__ == "__main__":
    with Browser(1320, 800) as opened:
        show_the_dearest(opened, sys.argv[1])
        opened.picture(sys.argv[2])
