"""One session of `opencode serve`: `opencode_session.py PROGRAM STEP...`, and at the end its messages on stdout.

A step is a prompt, or a JSON object (see opencode.step). The next one follows when the session has been idle for a
while: what a plugin makes of an idle session takes its time.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from typing import Any

STILL = 4  # seconds without work; a hook and the prompt that it asks for must fit in


class Server:
    """A server that was started here and ends with the block."""

    def __init__(self, program: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([program, "serve", "--hostname", "127.0.0.1", "--port", str(port)], stdout=2)

    def __enter__(self) -> "Server":
        deadline = time.monotonic() + 60
        while True:
            try:
                self.ask("GET", "/config", patience=2)
                return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def ask(self, method: str, path: str, body: Any = None, *, patience: float = 60) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=patience) as response:
            return json.loads(response.read() or b"null")

    def wait(self) -> None:
        """Until nothing has been busy for a while."""
        since = time.monotonic()
        while time.monotonic() < since + STILL:
            if any(status["type"] != "idle" for status in self.ask("GET", "/session/status").values()):
                since = time.monotonic()
            time.sleep(0.05)


def take(server: Server, session: str, step: dict[str, Any]) -> None:
    """Take one step and wait for what comes of it."""
    if step["kind"] in ("prompt", "abort"):
        known = len(server.ask("GET", f"{session}/message"))
        agent = {"agent": step["agent"]} if "agent" in step else {}
        parts = [{"type": "text", "text": step["text"]}]
        server.ask("POST", f"{session}/prompt_async", {**agent, "parts": parts})
        while not any(message["parts"] for message in server.ask("GET", f"{session}/message")[known + 1 :]):
            time.sleep(0.05)
    if step["kind"] == "abort":
        while server.ask("GET", f"{session}/message")[-1]["parts"][-1]["type"] != "tool":
            time.sleep(0.05)
        server.ask("POST", f"{session}/abort")
    if step["kind"] == "shell":
        server.ask("POST", f"{session}/shell", {"agent": "build", "command": step["text"]})
    if step["kind"] == "compact":
        server.ask("POST", f"{session}/summarize", {"providerID": "mock", "modelID": "mock"})
    server.wait()


def main(program: str, *steps: str) -> None:
    with Server(program) as server:
        session = f"/session/{server.ask('POST', '/session', {})['id']}"
        for step in steps:
            take(server, session, json.loads(step) if step.startswith("{") else {"kind": "prompt", "text": step})
        messages = server.ask("GET", f"{session}/message")
    print(json.dumps(messages))


if __name__ == "__main__":
    main(*sys.argv[1:])
