"""Full disks, taken ports, a locked or full database, an engine that dies: a clear error, or
waiting and going on; nothing lost.
"""
import contextlib
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import time

from story import Story, check_bill
from world import wait_until


@contextlib.contextmanager
def listening(port):
    with socket.socket() as foreign:
        foreign.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        foreign.bind(("127.0.0.1", port))
        foreign.listen()
        yield


def bindable(port):
    try:
        with listening(port):
            return True
    except OSError:
        return False


class HardDays(Story):
    def test_02_a_taken_port_is_not_given_out(self):
        taken = self.next_port()
        with listening(taken):
            view = self.renter.rent(mode="no_gpu")
            self.assertNotEqual(view["connection"]["port"], taken)
            self.renter.purge(view["id"])

    def next_port(self):
        used = {row["connection"]["port"] for row in self.running() if row.get("connection")}
        return next(port for port in self.incus.place.ssh_ports if port not in used and bindable(port))

    def running(self):
        rows = self.renter.get("/instances?limit=100")["items"]
        return [self.renter.instance(row["id"]) for row in rows if row["observed"] == "running"]

    def test_03_a_port_taken_while_stopped_fails_the_start_clearly(self):
        view = self.renter.rent(mode="no_gpu")
        self.renter.move(view["id"], "stop", "stopped")
        cost = self.renter.instance(view["id"])["cost_so_far_micro"]
        with listening(view["connection"]["port"]):
            self.renter.post(f"/instances/{view['id']}/start", {"mode": "no_gpu"})
            seen = self.renter.settled(view["id"], "stopped", 90)
            self.assertIn(str(view["connection"]["port"]), seen["fault"]["what"])
            self.assertEqual(seen["cost_so_far_micro"], cost, "nothing is charged for a failed start")
        self.renter.move(view["id"], "start", "running", {"mode": "no_gpu"})
        self.renter.purge(view["id"])

    def test_04_a_full_system_disk_still_stops_starts_and_is_released(self):
        view = self.renter.rent()
        full = self.renter.ssh(view, "dd if=/dev/zero of=/root/fill bs=1M 2>&1; sync; dd if=/dev/zero of=/fill2 bs=4k 2>&1",
                               seconds=120, check=False)
        self.assertRegex(full.stdout + full.stderr, "No space left|Disk quota exceeded")
        self.renter.move(view["id"], "stop", "stopped")
        self.renter.post(f"/instances/{view['id']}/start")
        seen = self.renter.settled(view["id"], None, 120)
        if seen["observed"] == "running":
            self.renter.ssh(seen, "rm -f /root/fill /fill2")
        else:
            self.assertEqual(seen["observed"], "stopped")
            self.assertTrue(seen["fault"]["what"] and seen["fault"]["next"], seen)
            self.fail(f"a full disk keeps it from starting: {seen['fault']}")
        self.renter.move(view["id"], "release", "in_bin", {})
        self.renter.purge(view["id"])

    def test_05_a_locked_database_is_waited_for_or_said(self):
        path = str(self.server.data / "cardhour.db")
        holder = sqlite3.connect(path, timeout=10, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        answer = self.renter.call("POST", "/instances", {"mode": "no_gpu"})
        took = time.monotonic() - began
        self.assertEqual(answer.status, 503, answer)
        self.assertEqual(answer.json["code"], "store_unavailable")
        self.assertIn("Retry-After", answer.headers)
        self.assertLess(took, 30)
        holder.execute("ROLLBACK")
        holder.close()
        wait_until("it goes on", lambda: self.renter.call("GET", "/wallet").status == 200, 10)
        self.renter.purge(self.renter.rent(mode="no_gpu")["id"])

    def test_06_a_full_database_disk_is_said_and_recovers(self):
        view = self.renter.rent(mode="no_gpu")
        filler = self.server.data / "filler"
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as out:
            while out.write(b"\0" * 65536):
                pass
        answer = None
        for number in range(200):  # what the write-ahead log has room for still goes in
            answer = self.renter.call("PATCH", f"/instances/{view['id']}", {"name": f"name {number}"})
            if answer.status != 200:
                break
        self.assertEqual(answer.status, 503, answer)
        self.assertEqual(answer.json["code"], "store_unavailable")
        self.assertEqual(self.renter.instance(view["id"])["observed"], "running")
        filler.unlink()
        wait_until("it goes on", lambda: self.renter.call(
            "PATCH", f"/instances/{view['id']}", {"name": "again"}).status == 200, 15)
        self.renter.purge(view["id"])
        check_bill(self, self.renter.bill(view["id"]))

    def test_07_a_second_server_on_the_same_data_is_refused(self):
        words = self.server.words()
        words[words.index("--listen") + 1] = "127.0.0.1:0"
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("another Cardhour server", done.stderr)
        self.assertEqual(self.server.call("GET", "/readyz").status, 200)

    # ---- events

    def stream(self, headers, enough, seconds=15):
        """Events from the stream until `enough(events)`."""
        line = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=seconds)
        line.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {self.renter.token}", **headers})
        reply = line.getresponse()
        self.assertEqual((reply.status, reply.headers["Content-Type"]), (200, "text/event-stream"))
        events, fields, deadline = [], {}, time.monotonic() + seconds
        with contextlib.closing(line):
            while not enough(events) and time.monotonic() < deadline:
                text = reply.readline().decode().rstrip("\r\n")
                if text:
                    name, _, value = text.partition(": ")
                    fields[name] = value
                elif "data" in fields:
                    self.assertEqual(fields["id"], str(json.loads(fields["data"])["seq"]))
                    events.append(json.loads(fields["data"]))
                    fields = {}
        self.assertTrue(enough(events), events)
        return events

    def test_08_the_stream_resumes_where_it_was_cut(self):
        iid = self.renter.rent(mode="no_gpu")["id"]
        self.renter.move(iid, "stop", "stopped")
        everything = self.renter.get(f"/instances/{iid}/events?limit=100")["items"]
        self.assertGreaterEqual(len(everything), 3)
        first = everything[0]["seq"]
        begun = self.stream({"Last-Event-ID": str(first)}, lambda events: len(events) >= 1)
        self.world.restart_server()
        rest = self.stream({"Last-Event-ID": str(begun[-1]["seq"])},
                           lambda events: events and events[-1]["seq"] >= everything[-1]["seq"])
        seen = [event["seq"] for event in begun + rest]
        self.assertEqual(seen, sorted(set(seen)), "none twice, in order")
        self.assertEqual([s for s in (e["seq"] for e in everything[1:]) if s not in seen], [], "none lost")
        self.renter.purge(iid)

    def test_09_a_bad_last_event_id(self):
        answer = self.renter.call("GET", "/events", headers={"Last-Event-ID": "x"})
        self.assertEqual(answer.status, 400, answer)

    # ---- the engine dies

    def test_10_incusd_killed_and_started_again(self):
        runs = self.renter.rent(mode="no_gpu")
        goes = self.renter.rent(mode="no_gpu")
        started = self.renter.ssh(runs, "cat /proc/1/stat").split()[21]
        os.kill(self.incus.pid(), signal.SIGKILL)
        # What is asked while it is down waits, and happens once it is back.
        asked = self.renter.call("POST", f"/instances/{goes['id']}/stop", {})
        self.assertEqual(asked.status, 200, asked)
        self.assertEqual(self.renter.call("GET", "/instances").status, 200)
        self.assertEqual(self.renter.ssh(runs, "cat /proc/1/stat").split()[21], started, "it runs on meanwhile")
        refused = self.renter.call("POST", "/instances", {"mode": "no_gpu"})
        self.assertIn(refused.status, (201, 503), refused)
        self.incus.host_sh("up")
        self.renter.settled(goes["id"], "stopped")
        wait_until("ready again", lambda: self.server.call("GET", "/readyz").status == 200, 30)
        self.assertEqual(self.renter.ssh(runs, "cat /proc/1/stat").split()[21], started, "never interrupted")
        self.assertEqual(self.renter.instance(runs["id"])["observed"], "running")
        if refused.status == 201:
            self.renter.settled(refused.json["id"])
            self.renter.purge(refused.json["id"])
        for iid in (runs["id"], goes["id"]):
            self.renter.purge(iid)
            check_bill(self, self.renter.bill(iid))
