#!/usr/bin/env python3
"""The console in a real browser against a real server: run.py --build BUILD-DIR [--incus] [NAME...]

A NAME picks the tests that have it in their name. On the simulated engine everything but the
terminal is tried; with --incus the renter's journey and the terminal, on a private Incus (root).
Needs a built console (web/dist), web/node_modules and Chromium. Prints a line per test and last
  e2e: N passed, N failed, N skipped
Screenshots of every page are in build/e2e/screens.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
import world as worlds  # noqa: E402

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
POLICY = '[accounts]\nregistration = "open"\n'
# The rare one: whoever has little is warned at once.
POOR = POLICY + '[money]\narrears_notice = "3h"\narrears_notice_withdrawn = "4h"\n'
CLOSED = '[accounts]\nregistration = "closed"\n'


class SimServer(worlds.Server):
    """`cardhour serve` on the simulated engine, with a data directory of its own."""

    def __init__(self, build, scratch, name, policy, cards="8xRTX4090,1xRTX3090,1xA100-80G"):
        scratch = scratch / name
        scratch.mkdir()
        super().__init__(build, scratch, None)
        self.name, self.cards = name, cards
        self.config.write_text(policy)
        self.data.mkdir(mode=0o700)

    def words(self):
        return [self.binary, "serve", "--engine", "sim", "--gpus", f"sim:{self.cards}", "--data", str(self.data),
                "--config", str(self.config), "--console", str(ROOT / "web" / "dist"),
                "--listen", f"127.0.0.1:{self.port}", "--guest-listen", "none"]


class ConsoleWorld(worlds.World):
    """The integration tests' world, whose server has the console too."""

    def __init__(self, build):
        super().__init__(build)
        usual = self.server.words
        self.server.words = lambda: [*usual(), "--console", str(ROOT / "web" / "dist")]


def lose_an_instance(server):
    """renter1 of this server has an instance that ended outside of Cardhour: the simulated engine
    lives in the process, and is empty after a kill."""
    def call(token, method, path, body):
        answer = server.call(method, f"/api/v1{path}", body, token, {"Idempotency-Key": worlds.unique()})
        assert answer.status in (200, 201), answer
        return answer.json

    renter = {"login": "renter1", "password": "password of renter1"}
    operator = call(None, "POST", "/auth/login", {"login": "admin", "password": server.operator_password})["token"]
    call(operator, "POST", "/admin/accounts", renter)
    call(operator, "POST", "/admin/topups", {"account": "renter1", "amount": "20"})
    token = call(None, "POST", "/auth/login", renter)["token"]
    worlds.wait_until("the cards are seen", lambda: call(token, "GET", "/offers", None)["items"])
    made = call(token, "POST", "/instances?wait=30s", {"gpu_model": "rtx-4090", "name": "broken"})
    server.kill()
    server.start()
    worlds.wait_until("the loss is seen", lambda: call(token, "GET", f"/instances/{made['id']}", None).get("fault"))


def say(text):
    print(text, flush=True)


def browse(servers, engine, names):
    """Runs the specs; what they print is their result."""
    env = dict(os.environ, CARDHOUR_E2E_ENGINE=engine, CARDHOUR_E2E_SCREENS=str(ROOT / "build" / "e2e" / "screens"),
               CARDHOUR_E2E_BROWSER=next(filter(None, map(shutil.which, CHROMIUM)), ""))
    for name, server in servers.items():
        env[f"CARDHOUR_E2E_{name.upper()}"] = f"{server.url} {server.operator_password}"
    return subprocess.run(["node", str(ROOT / "web" / "e2e" / "main.mjs"), *names], env=env, check=False).returncode


def on_sim(build, names):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="che2e"))
    servers = {name: SimServer(build, scratch, name, policy, **more) for name, policy, more in (
        ("main", POLICY, {}), ("poor", POOR, {}), ("faulty", POLICY, {}), ("closed", CLOSED, {"cards": "1xRTX4090"}))}
    try:
        for server in servers.values():
            server.start()
        lose_an_instance(servers["faulty"])
        return browse(servers, "sim", names)
    finally:
        for server in servers.values():
            server.stop()
        shutil.rmtree(scratch, ignore_errors=True)


def on_incus(build, names):
    world = ConsoleWorld(build)
    try:
        world.open(say)
        code = browse({"main": world.server}, "incus", names)
        if code:
            say(f"server (ended: {world.server.process.poll()}): {world.server.tail(25)}")
        return code
    finally:
        world.close(say)


def missing():
    if not any(map(shutil.which, CHROMIUM)):
        return "there is no Chromium: apt-get install chromium"
    if not (ROOT / "web" / "dist" / "index.html").exists():
        return "the console is not built: cd web && npm ci && npm run build"
    if not (ROOT / "web" / "node_modules" / "playwright-core").exists():
        return "web/node_modules is not there: cd web && npm ci"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/debug", type=pathlib.Path)
    parser.add_argument("--incus", action="store_true", help="on a private Incus instead of the simulated engine")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    if why := missing():
        say(f"{why}\ne2e: 0 passed, 1 failed, 0 skipped")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tempfile.tempdir = "/tmp"  # short: the paths of unix sockets end at 107 bytes
    return (on_incus if asked.incus else on_sim)(asked.build.resolve(), asked.names)


if __name__ == "__main__":
    sys.exit(main())
