"""The life of one instance, as a renter lives it: CLI and SSH, money checked to the micro-unit."""
import json
import math
import os
import subprocess
import time

from story import Story, check_bill, instant
from world import wait_until


class Rent(Story):
    iid = None
    first = None  # the instance as it was after the rent

    def view(self):
        return self.renter.instance(type(self).iid)

    def cards_inside(self, view):
        return json.loads(self.renter.ssh(view, "/opt/cardhour/cardhour-cards"))

    def test_01_rent_by_the_cli(self):
        done = self.renter.cli("rent", "--gpu", "4090", "--image", "base", "--name", "训练 1", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SIMULATED", done.stdout + done.stderr)
        self.assertIn("1.98", done.stderr)
        view = [row for row in self.renter.cli_json("ls")["items"] if row["name"] == "训练 1"][0]
        type(self).iid = view["id"]
        type(self).first = self.view()
        self.assertEqual(self.first["observed"], "running")
        self.assertTrue(self.first["simulated"])
        self.assertIn(str(self.first["connection"]["port"]), done.stdout)

    def test_02_ssh_with_a_key_shows_the_shape(self):
        view = self.first
        self.assertEqual(self.renter.ssh(view, "hostname").strip(), view["id"])
        self.assertEqual(int(self.renter.ssh(view, "nproc")), math.ceil(view["millicores"] / 1000))
        total = int(self.renter.ssh(view, "free -b | awk '/^Mem/ { print $2 }'"))
        self.assertEqual(total, view["memory_bytes"])

    def test_03_the_card_is_visible_inside(self):
        inside = self.cards_inside(self.first)
        self.assertEqual([card["uuid"] for card in inside["cards"]], self.first["cards"])
        self.assertEqual([card["memory_used"] for card in inside["cards"]], [0])
        self.assertTrue(inside["simulated"])

    def test_04_the_cli_goes_in_and_passes_the_exit_code(self):
        done = self.renter.cli("ssh", "训练 1", "--", "echo in; exit 7")
        self.assertEqual((done.stdout, done.returncode), ("in\n", 7), done.stderr)

    def test_05_password_login(self):
        ask = self.renter.home / "askpass"
        ask.write_text(f"#!/bin/sh\necho '{self.first['connection']['password']}'\n")
        ask.chmod(0o700)
        words = self.renter.ssh_words(self.first, "-o", "PubkeyAuthentication=no",
                                      "-o", "PreferredAuthentications=password", "-o", "NumberOfPasswordPrompts=1")
        env = dict(os.environ, SSH_ASKPASS=str(ask), SSH_ASKPASS_REQUIRE="force", DISPLAY=":0")
        done = subprocess.run([*words, "whoami"], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30)
        self.assertEqual(done.stdout.strip(), "root", done.stderr)
        ask.write_text("#!/bin/sh\necho wrong\n")
        done = subprocess.run([*words, "whoami"], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30)
        self.assertEqual(done.returncode, 255, "a wrong password is refused")

    def test_06_a_key_added_later_arrives_while_it_runs(self):
        key = self.renter.home / "later"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        done = self.renter.cli("ssh-key", "add", f"{key}.pub")
        self.assertEqual(done.returncode, 0, done.stderr)
        line = key.with_suffix(".pub").read_text().split()[1]
        wait_until("the key is inside", lambda: line in self.renter.ssh(self.first, "cat /root/.ssh/authorized_keys"), 15)

    def test_07_the_data_disk_takes_a_file(self):
        self.renter.ssh(self.first, "echo precious >/root/data/file && sync")

    def test_08_stop_and_an_exact_bill(self):
        before = time.time() * 1000
        done = self.renter.cli("stop", self.iid)
        self.assertEqual(done.returncode, 0, done.stderr)
        view = self.view()
        self.assertEqual(view["observed"], "stopped")
        bill = self.renter.bill(self.iid)
        check_bill(self, bill)
        line = bill["lines"][0]
        self.assertEqual(line["card_uuids"], self.first["cards"])
        self.assertEqual(line["rate_per_hour_micro"], 1_980_000)
        self.assertEqual(instant(line["opened_at"]), instant(self.first["ready_at"]))
        # Billing ended when it was asked, not when the engine was done.
        self.assertLess(abs(instant(line["closed_at"]) - before), 1500)
        self.assertEqual(view["cost_so_far_micro"], bill["total_micro"])
        wallet = self.renter.get("/wallet")
        self.assertEqual(wallet["balance_micro"], 500_000_000 - bill["total_micro"])
        self.assertEqual((wallet["held_micro"], wallet["accrued_micro"]), (0, 0))
        self.assertEqual([c["state"] for c in self.world.cards()], ["free"] * 8)

    def test_09_the_cli_explains_the_bill(self):
        done = self.renter.cli("bill", "--explain")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1.98", done.stdout)
        self.assertEqual(self.renter.cli_json("bill", "--explain")["agrees"], True)

    def test_10_without_a_card_on_the_same_identity(self):
        done = self.renter.cli("start", self.iid, "--no-gpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        view = self.view()
        self.assertEqual(view["mode"], "no_gpu")
        for word in ("port", "host_key_fingerprint", "known_hosts_line", "password"):
            self.assertEqual(view["connection"][word], self.first["connection"][word])
        self.assertEqual(self.renter.ssh(view, "cat /root/data/file"), "precious\n")
        self.assertEqual(self.cards_inside(view)["cards"], [])
        self.assertEqual(view["burn_per_hour_micro"], 100_000)

    def test_11_from_no_gpu_to_a_card(self):
        done = self.renter.cli("start", self.iid, "--gpu", "4090", "-n", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        view = self.view()
        self.assertEqual(len(self.cards_inside(view)["cards"]), 2)
        self.assertEqual(view["burn_per_hour_micro"], 2 * 1_980_000)
        self.assertEqual(self.renter.ssh(view, "cat /root/data/file"), "precious\n")

    def test_12_restart_keeps_cards_and_price(self):
        before = self.view()
        segments = len(self.renter.bill(self.iid)["lines"])
        started = self.renter.ssh(before, "cat /proc/1/stat").split()[21]
        done = self.renter.cli("restart", self.iid)
        self.assertEqual(done.returncode, 0, done.stderr)
        view = self.view()
        self.assertEqual(view["cards"], before["cards"])
        self.assertNotEqual(self.renter.ssh(view, "cat /proc/1/stat").split()[21], started)
        self.assertEqual(len(self.renter.bill(self.iid)["lines"]), segments, "one segment goes on")

    def test_13_shutdown_from_inside_is_billed_to_the_moment(self):
        view = self.view()
        asked = time.time() * 1000
        self.renter.ssh(view, "systemctl poweroff", check=False)
        wait_until("it is noticed", lambda: self.view()["desired"] == "stopped", 5)
        noticed = time.time() * 1000
        self.assertLess(noticed - asked, 3000)
        self.renter.settled(self.iid, "stopped")
        bill = self.renter.bill(self.iid)
        check_bill(self, bill)
        last = [line for line in bill["lines"] if line["meter"] == "on_demand"][-1]
        self.assertEqual(last["close_cause"], "guest_shutdown")
        self.assertLess(instant(last["closed_at"]) - asked, 3000)

    def test_14_into_the_bin_and_back(self):
        self.assertEqual(self.renter.cli("release", self.iid, "--yes").returncode, 0)
        self.assertEqual(self.view()["observed"], "in_bin")
        self.assertEqual(self.renter.cli("start", self.iid).returncode, 5)
        self.assertEqual(self.renter.cli("restore", self.iid).returncode, 0)
        self.renter.move(self.iid, "start", "running", {"mode": "no_gpu"})
        self.assertEqual(self.renter.ssh(self.view(), "cat /root/data/file"), "precious\n")

    def test_15_purge_leaves_nothing(self):
        done = self.renter.cli("release", self.iid, "--now", "--confirm", "wrong name")
        self.assertEqual(done.returncode, 2, done.stderr)
        done = self.renter.cli("release", self.iid, "--now", "--confirm", "训练 1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNone(self.incus.instance(self.iid))
        self.assertEqual([v for v in self.incus.volumes() if self.iid in v], [])
        check_bill(self, self.renter.bill())

    def test_16_events_tell_the_story_in_order(self):
        events = self.renter.get(f"/instances/{self.iid}/events?limit=100")["items"]
        kinds = [event["kind"] for event in events]
        self.assertEqual(kinds[0], "instance.creating")
        for kind in ("instance.running", "instance.stopped", "instance.in_bin", "instance.restored", "instance.purged"):
            self.assertIn(kind, kinds)
        self.assertEqual([e["seq"] for e in events], sorted(e["seq"] for e in events))
        self.assertTrue(all(event["actor"] and event["reason"] for event in events))
