#!/usr/bin/env python3
"""What telemetry costs, and what a driver that hangs does to the API. No Incus, no GPU.

    bench/telemetry.py [--build build/release] [--seconds 60] [--cards 64]

Runs `cardhour serve --engine sim` over simulated cards from a file and prints:
 - the share of one core that server and GPU reader use while they look at all cards every 10 s;
 - the latencies of the API before, and while a driver call hangs;
 - the size of the curves of one card, and what a year of all cards comes to.
Exits 1 when a figure is over its limit: 3 % of a core, p99 100 ms, 300 MB for 64 cards.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
YEAR_SLOTS = 1 + 8640 + 44640 + 8784
SLOT_BYTES = 64


def ticks_of(pid):
    """CPU time of a process, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def child_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    if children:
        return int(children[0])
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        children = (task / "children").read_text().split()
        if children:
            return int(children[0])
    return None


class Server:
    def __init__(self, build, cards):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cardhour-bench-"))
        self.cards = self.scratch / "cards"
        self.cards.write_text(cards)
        self.log = open(self.scratch / "log", "w+")
        self.process = subprocess.Popen(
            [str(build / "bin" / "cardhour"), "serve", "--engine", "sim", "--gpus",
             f"sim:@{self.cards}", "--data", str(self.scratch / "data"), "--listen", "127.0.0.1:0"],
            stdout=self.log, stderr=subprocess.STDOUT)
        text = self.await_text(r"ready on port (\d+)")
        self.port = int(text.group(1))
        password = self.await_text(r"\n  password\s+(\S+)").group(1)
        answer = self.request("POST", "/api/v1/auth/login", {"login": "admin", "password": password})
        self.token = answer["token"]

    def await_text(self, pattern):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = re.search(pattern, (self.scratch / "log").read_text())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit((self.scratch / "log").read_text())

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def request(self, method, path, body=None, connection=None):
        connection = connection or self.connect()
        headers = {"Content-Type": "application/json"}
        if getattr(self, "token", None):
            headers["Authorization"] = "Bearer " + self.token
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status < 300, (path, answer.status, data)
        return json.loads(data) if data[:1] in (b"{", b"[") else data

    def latencies(self, seconds):
        """Milliseconds of the reads that people make, one after another."""
        paths = ["/api/v1/admin/gpus", "/api/v1/offers", "/api/v1/instances", "/api/v1/me",
                 "/api/v1/admin/gpu-processes", "/metrics", "/readyz"]
        connection = self.connect()
        out = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for path in paths:
                begin = time.monotonic()
                self.request("GET", path, connection=connection)
                out.append((time.monotonic() - begin) * 1000)
            time.sleep(0.05)
        return sorted(out)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def percentile(values, share):
    return values[min(int(len(values) * share), len(values) - 1)]


def tell(name, values):
    print(f"  {name}: p50 {percentile(values, 0.5):.1f} ms, p99 {percentile(values, 0.99):.1f} ms, "
          f"max {values[-1]:.1f} ms ({len(values)} requests)")
    return percentile(values, 0.99)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--build", default="build/release")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--cards", type=int, default=64)
    asked = arguments.parse_args()
    busy = "\n".join(f"card={i} util={i % 100} membw=20 procs={4000 + i}:9000+{5000 + i}:500"
                     for i in range(asked.cards))
    server = Server(ROOT / asked.build, f"{asked.cards}xH100\n{busy}\n")
    good = True
    try:
        deadline = time.monotonic() + 60
        while not all("reading" in c for c in server.request("GET", "/api/v1/admin/gpus")["items"]):
            assert time.monotonic() < deadline, "no look at the cards"
            time.sleep(0.1)
        print(f"{asked.cards} cards every 10 s, {asked.seconds} s, nobody asks:")
        pids = [server.process.pid, child_of(server.process.pid)]
        before = [ticks_of(pid) for pid in pids]
        time.sleep(asked.seconds)
        used = [ticks_of(pid) - b for pid, b in zip(pids, before)]
        share = sum(used) / asked.seconds * 100
        print(f"  server {used[0] / asked.seconds * 100:.2f} %, GPU reader "
              f"{used[1] / asked.seconds * 100:.2f} %: {share:.2f} % of a core (limit 3)")
        good = good and share < 3
        print("API, driver answers:")
        tell("reads", server.latencies(15))
        server.cards.write_text(f"{asked.cards}xH100\n{busy}\ncard=5 hang=util\n")
        print("API, a driver call hangs:")
        p99 = tell("reads", server.latencies(45))
        good = good and p99 < 100
        ring = next((server.scratch / "data" / "series").glob("card-*.ring"))
        full = YEAR_SLOTS * SLOT_BYTES
        print(f"curves: {ring.stat().st_size} bytes a card now, {full} at most; "
              f"{asked.cards} cards {full * asked.cards / 1e6:.0f} MB (limit 300)")
        good = good and full * 64 < 300e6 and ring.stat().st_size <= full
    finally:
        server.stop()
    print("within the limits" if good else "OVER A LIMIT")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
