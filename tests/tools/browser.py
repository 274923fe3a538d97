#!/usr/bin/python3
"""One browser for many pages, since each start of a browser takes seconds.

browser.py CHROMIUM reads lines "KIND SCHEME URL FILE". KIND is dom, for the document, or picture; SCHEME is light or dark. The file
gets the document or the picture as it is after 20 seconds of the page's own time, in which it waits for nothing. Each line is answered
with "done", or with the messages on the page's console, in one line.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

BUDGET = 20000 # milliseconds
WIDTH, HEIGHT = 1500, 900
MESSAGES = {"Runtime.consoleAPICalled": lambda event: [part.get("value", part.get("description")) for part in event["args"]],
            "Runtime.exceptionThrown": lambda event: event["exceptionDetails"],
            "Log.entryAdded": lambda event: event["entry"]}


class Browser:
    """A headless browser that is told what to do through a pipe, in the DevTools protocol."""

    def __init__(self, program, profile):
        read, self.requests = os.pipe()
        answers, write = os.pipe()
        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu",
                 f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(["/bin/bash", "-c", f'exec "$@" 3<&{read} 4>&{write}', "browser", *words],
                                        pass_fds=(read, write), stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.answers = os.fdopen(answers, "rb")
        self.number = 0
        self.rest = b""
        self.console, self.events = [], set()

    def receive(self):
        while b"\0" not in self.rest:
            part = self.answers.read1(1 << 20)
            if not part:
                sys.exit("browser.py: the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") in MESSAGES:
            self.console.append(MESSAGES[message["method"]](message["params"]))
        self.events.add(message.get("method"))
        return message

    def await_event(self, name):
        while name not in self.events:
            self.receive()

    def call(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.requests, data):]
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"browser.py: {method}: {message['error']}")
                return message["result"]

    def show(self, kind, scheme, url):
        """The document or the picture, as bytes."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.console, self.events = [], set()
        for domain in "Page", "Runtime", "Log":
            self.call(f"{domain}.enable", session)
        self.call("Emulation.setDeviceMetricsOverride", session, width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", session, url=url)
        self.await_event("Page.loadEventFired")
        self.call("Emulation.setVirtualTimePolicy", session, policy="pauseIfNetworkFetchesPending", budget=BUDGET,
                  maxVirtualTimeTaskStarvationCount=9999)
        self.await_event("Emulation.virtualTimeBudgetExpired")
        if kind == "dom":
            result = self.call("Runtime.evaluate", session, expression="document.documentElement.outerHTML", returnByValue=True)
            result = result["result"]["value"].encode()
        else:
            result = base64.b64decode(self.call("Page.captureScreenshot", session)["data"])
        self.call("Target.closeTarget", targetId=target)
        return result


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(sys.argv[1], profile)
        for line in sys.stdin:
            kind, scheme, url, path = line.split()
            result = browser.show(kind, scheme, url)
            with open(path, "wb") as file:
                file.write(result)
            print(json.dumps(browser.console) if browser.console else "done", flush=True)
        browser.call("Browser.close")
        browser.process.wait()


main()
