"""kill -9 of the server at every named point of everything that it does, and of incusd in the middle of
each thing that Incus does. The points come from the table of steps in the program
(`cardhour docs crash-points`): one that no test comes by is a failure.

An operation is killed at one of its points, the next server life goes on with it and dies at the next
one, until it is through: what was cut off at each of its instructions still ends as one that was not.
With --all, each point also alone, and all at rest after it.
"""
import contextlib
import http.client
import os
import signal
import subprocess
import threading
import time

import ledger_rows
import rest
import story
from story import check_bill
from world import POLICY, unique, wait_until

# A guest that is slow to go down is forced after this.
GRACE = POLICY.replace('stop_grace = "10s"', 'stop_grace = "1s"')
IDENTITY = "apply_identity"  # only when keys changed meanwhile


class CrashPoints(rest.Bystander):
    reached = set()
    foreign = "foreign-" + unique()[:6]

    # ---- tools

    def points(self, place, *without):
        every = subprocess.run([self.server.binary, "docs", "crash-points"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        found = [point for point in every
                 if (not place or point.startswith(place + " ")) and not any(call in point for call in without)]
        self.assertTrue(found, place)
        return found

    def die_at(self, point, do=None):
        """A life of the server that ends at the point; `do` is asked once it is ready."""
        self.server.start(ready=do is not None, crash_at=point)
        if do:
            with contextlib.suppress(OSError, http.client.HTTPException):
                do()
        self.assertEqual(self.server.dies(60), -signal.SIGKILL, f"{point}: {self.server.tail()}")
        self.assertEqual(ledger_rows.broken(self.database()), {}, point)
        self.reached.add(point)

    def die_at_each(self, place, *without):
        for point in self.points(place, *without):
            self.die_at(point)

    def ask_and_die(self, kind, ask):
        """At the two points where the request puts its operation in place."""
        for moment in ("inside", "after"):
            self.die_at(f"ask.{kind} {moment}", ask)

    def database(self):
        return str(self.server.data / "cardhour.db")

    def change(self, sql):
        ledger_rows.change(self.database(), sql)

    def new_keys(self, iid):
        """As if keys had changed just now."""
        self.change(f"update instances set guest_current = 0 where id = '{iid}'")

    def go_on(self, what, iid, aim):
        """A life without a crash: the operation ends as it should, and the world is whole."""
        self.server.start()
        view = self.renter.settled(iid, aim)
        self.check_world(what)
        self.assertEqual(self.incus.instance(self.foreign)["status"], "Running", what)
        if aim not in ("running", "purged"):
            check_bill(self, self.renter.bill(iid))
        return view

    def make_stubborn(self, view):
        """Its clean shutdown takes longer than the grace."""
        self.renter.ssh(view, "systemd-run -q --unit=stubborn -p KillSignal=SIGCONT -p TimeoutStopSec=60 sleep infinity")

    def ask(self, path, body=None, key=None, who=None):
        key = key or unique()
        return lambda: (who or self.renter).call("POST", path, body or {}, headers={"Idempotency-Key": key})

    # ---- the story

    def test_02_a_foreign_instance(self):
        self.server.stop()
        self.server.config.write_text(GRACE)
        self.incus.ask("POST", "/1.0/instances", {
            "name": self.foreign, "type": "container", "profiles": [], "source": {"type": "image", "alias": "base"},
            "devices": {"root": {"type": "disk", "path": "/", "pool": self.incus.name}}})
        self.incus.change_state(self.foreign, "start")

    def test_03_start_up_and_loops(self):
        self.die_at_each("startup")
        self.die_at_each("observe", "find")
        self.die_at_each("measure")
        for point in self.points("loops"):
            self.change("update accounts set next_settlement_at = 1 where next_settlement_at is not null")
            self.die_at(point)

    def test_04_rent(self):
        key = unique()
        body = {"gpu_model": "4090", "name": f"crash-{key[:4]}"}
        rent = self.ask("/instances", body, key)
        for point in [*self.points("request", "write"), "request write.before", "ask.start inside",
                      "request write.inside", "ask.start after"]:
            self.die_at(point, rent)
        for step in ("create", "boot", "await_ready"):
            self.die_at_each(f"start.{step}")
        self.die_at_each("start.verify", IDENTITY)
        self.server.start()
        answer = rent()
        self.assertEqual(answer.status, 201, answer)
        type(self).iid = answer.json["id"]
        self.server.kill()
        view = self.go_on("rent", self.iid, "running")
        self.assertEqual(self.renter.ssh(view, "echo here").strip(), "here")
        rows = self.renter.get("/instances?limit=100")["items"]
        self.assertEqual(sum(1 for row in rows if row["name"] == body["name"]), 1, "rented once")

    def test_05_a_payment(self):
        before = self.renter.get("/wallet")["balance_micro"]
        self.server.kill()
        pay = self.ask("/admin/topups", {"account": "renter", "amount": "1"}, who=self.operator)
        self.die_at("request write.after", pay)
        self.server.start()
        self.assertEqual(pay().status, 201)
        after = self.renter.get("/wallet")
        self.assertLessEqual(after["balance_micro"], before + 1_000_000)
        self.assertGreater(after["balance_micro"], before + 900_000, "paid once")

    def test_06_refresh(self):
        self.server.kill()
        public = subprocess.run(["ssh-keygen", "-y", "-f", self.operator.key], capture_output=True, text=True,
                                check=True).stdout.strip()
        self.ask_and_die("refresh", self.ask("/ssh-keys", {"public_key": public, "name": "second"}))
        self.die_at_each("refresh.deliver")
        view = self.go_on("refresh", self.iid, "running")
        wait_until("the keys are inside", lambda: public.split()[1] in self.renter.ssh(
            view, "cat /root/.ssh/authorized_keys"), 20, 0.3)

    def test_07_restart(self):
        self.make_stubborn(self.renter.instance(self.iid))
        self.server.kill()
        self.ask_and_die("restart", self.ask(f"/instances/{self.iid}/restart"))
        for step in ("halt", "boot", "await_ready"):
            self.die_at_each(f"restart.{step}")
        self.new_keys(self.iid)
        self.die_at_each("restart.verify")
        self.go_on("restart", self.iid, "running")

    def test_08_stop(self):
        self.make_stubborn(self.renter.instance(self.iid))
        self.server.kill()
        self.ask_and_die("stop", self.ask(f"/instances/{self.iid}/stop"))
        for step in ("shut_down", "force", "confirm"):
            self.die_at_each(f"stop.{step}")
        self.go_on("stop", self.iid, "stopped")

    def test_09_a_switch_halts_the_run_before(self):
        self.renter.post(f"/instances/{self.iid}/start", {"mode": "no_gpu"})
        self.make_stubborn(self.renter.settled(self.iid, "running"))
        self.server.kill()
        self.die_at("ask.start after", self.ask(f"/instances/{self.iid}/start", {"gpu_model": "4090"}))
        self.die_at_each("start.halt")
        self.new_keys(self.iid)
        self.die_at_each("start.verify")
        view = self.go_on("switch", self.iid, "running")
        self.assertEqual((view["mode"], len(view["cards"])), ("on_demand", 1))

    def test_10_what_others_do_is_seen(self):
        self.server.kill()
        self.incus.change_state(self.iid, "stop")
        self.die_at("observe find.before")
        self.die_at("observe find.after")
        self.server.start()
        wait_until("it is noticed", lambda: self.renter.instance(self.iid)["observed"] == "stopped", 15)
        self.server.kill()
        view = self.go_on("stopped behind our back", self.iid, "stopped")
        self.assertEqual(view["fault"]["code"], "vanished")

    def test_11_release_and_purge(self):
        name = self.renter.instance(self.iid)["name"]
        self.renter.move(self.iid, "release", "in_bin", {})
        self.server.kill()
        self.ask_and_die("purge", self.ask(f"/instances/{self.iid}/release",
                                           {"purge": True, "confirm_name": name}))
        self.die_at_each("purge.remove")
        self.go_on("purge", self.iid, "purged")
        self.assertIsNone(self.incus.instance(self.iid))
        check_bill(self, self.renter.bill(self.iid))

    def test_12_every_point_was_come_by(self):
        self.assertEqual([point for point in self.points("") if point not in self.reached], [],
                         "a point that no test comes by")

    # ---- each alone

    def alone(self, place, prepare, ask, aim, *without):
        for point in self.points(place, *without):
            with self.subTest(point=point):
                iid = prepare()
                self.server.kill()
                self.die_at(point, lambda: ask(iid))
                self.server.start()
                if iid is None or place.startswith("ask"):  # who got no answer asks again
                    iid = ask(iid).json["id"]
                self.server.kill()
                self.go_on(point, iid, aim)
                self.renter.purge(iid)
                check_bill(self, self.renter.bill(iid))

    def test_13_each_point_alone(self):
        if not story.everything:
            self.skipTest("with --all")
        keys = {}

        def fresh():
            keys["rent"] = unique()

        def rent(_):
            return self.ask("/instances", {"gpu_model": "4090"}, keys["rent"])()

        def running():
            return self.renter.rent()["id"]

        def stopped():
            iid = self.renter.rent(mode="no_gpu")["id"]
            self.renter.move(iid, "stop", "stopped")
            return iid

        def stubborn():
            view = self.renter.rent()
            self.make_stubborn(view)
            return view["id"]

        def act(action, body=None):
            return lambda iid: self.ask(f"/instances/{iid}/{action}", body)()

        force = ("force_stop", "shut_down")
        for step in ("create", "boot", "await_ready", "verify"):
            self.alone(f"start.{step}", fresh, rent, "running", IDENTITY)
        self.alone("start.halt", stopped, act("start", {"gpu_model": "4090"}), "running", *force)
        self.alone("restart.halt", stubborn, act("restart"), "running")
        for step in ("boot", "await_ready", "verify"):
            self.alone(f"restart.{step}", running, act("restart"), "running", IDENTITY)
        for step in ("shut_down", "force", "confirm"):
            self.alone(f"stop.{step}", stubborn, act("stop"), "stopped")
        self.alone("ask.stop", running, act("stop"), "stopped")

    def test_14_nothing_is_left(self):
        self.incus.change_state(self.foreign, "stop")
        self.incus.ask("DELETE", f"/1.0/instances/{self.foreign}")
        self.server.stop()
        self.server.config.write_text(POLICY)
        self.server.start()
        self.renter.purge(self.bystander["id"])
        wait_until("the cards are free", lambda: [c["state"] for c in self.world.cards()] == ["free"] * 8, 10)
        check_bill(self, self.renter.bill())


class IncusKilled(rest.Bystander):
    """kill -9 of incusd while it is at something, named by what Incus itself calls it."""

    def kill_during(self, description, ask):
        seen = threading.Event()

        def watch():
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                with contextlib.suppress(Exception):  # it may be just dying
                    rows = self.incus.ask("GET", "/1.0/operations?recursion=1") or {}
                    at_work = [row["description"] for group in rows.values() for row in group
                               if row["status_code"] < 200]
                    if description in at_work:
                        os.kill(self.incus.pid(), signal.SIGKILL)
                        seen.set()
                        return

        watcher = threading.Thread(target=watch)
        watcher.start()
        answer = ask() if ask else None
        watcher.join()
        self.assertTrue(seen.is_set(), f"Incus was never at: {description}")
        self.assertEqual(ledger_rows.broken(str(self.server.data / "cardhour.db")), {}, description)
        self.incus.host_sh("up")
        wait_until("Incus answers the server", lambda: self.server.call("GET", "/readyz").status == 200, 30)
        return answer

    def through(self, what, iid, aim):
        self.renter.settled(iid, aim, 90)
        self.check_world(what)

    def test_02_killed_in_the_middle_of_everything(self):
        iid = self.kill_during("Creating instance", lambda: self.renter.rent(wait=False))["id"]
        self.through("create", iid, "running")
        self.kill_during("Stopping instance", lambda: self.renter.post(f"/instances/{iid}/restart"))
        self.through("restart", iid, "running")
        self.kill_during("Stopping instance", lambda: self.renter.post(f"/instances/{iid}/stop"))
        self.through("stop", iid, "stopped")
        self.kill_during("Starting instance", lambda: self.renter.post(f"/instances/{iid}/start"))
        self.through("start", iid, "running")
        self.kill_during("Executing command", lambda: self.renter.post(f"/instances/{iid}/restart"))
        self.through("exec", iid, "running")
        name = self.renter.instance(iid)["name"]
        self.kill_during("Deleting instance", lambda: self.renter.post(
            f"/instances/{iid}/release", {"purge": True, "confirm_name": name}))
        self.through("purge", iid, "purged")
        self.assertIsNone(self.incus.instance(iid))
        check_bill(self, self.renter.bill(iid))

    def test_03_nothing_is_left(self):
        self.renter.purge(self.bystander["id"])
        self.assertEqual([c["state"] for c in self.world.cards()], ["free"] * 8)
