"""What is seen of a real instance from outside: use, sessions, processes, and a card that fails."""
import pathlib
import subprocess

from story import Story, check_bill
from world import wait_until


class Seeing(Story):
    iid = None

    def now(self):
        return self.renter.get(f"/instances/{self.iid}/now")

    def card_number(self):
        uuid = self.renter.instance(self.iid)["cards"][0]
        return next(c["card"]["card_index"] for c in self.operator.get("/admin/gpus")["items"]
                    if c["card"]["uuid"] == uuid)

    def pid_of(self, command):
        """On the host, of a process in the instance."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "comm").read_text().strip() != command:
                    continue
                if self.iid in (entry / "cgroup").read_text():
                    return int(entry.name)
            except OSError:
                pass
        return None

    def test_01_use_is_known(self):
        type(self).iid = self.renter.rent(gpu_model="4090", name="seen")["id"]
        wanted = {"cpu_percent", "memory_used_bytes", "network_received_bytes_per_second", "processes",
                  "sessions", "gpu_percent", "gpu_memory_used_bytes"}
        values = wait_until("everything is measured",
                            lambda: (lambda v: v if wanted <= v.keys() else None)(self.now()["values"]))
        self.assertGreater(values["memory_used_bytes"], 1 << 20)
        self.assertEqual(values["gpu_percent"], 0)
        self.assertEqual(values["sessions"], 0)

    def test_02_work_shows(self):
        view = self.renter.instance(self.iid)
        words = self.renter.ssh_words(view)
        with subprocess.Popen([*words, "timeout 60 sh -c 'while :; do :; done'"],
                              stdin=subprocess.DEVNULL) as busy:
            wait_until("an open session and a busy CPU", lambda: (lambda v: v["sessions"] == 1
                       and v.get("cpu_percent", 0) > 1)(self.now()["values"]), 40)
            busy.kill()
        wait_until("the session is over", lambda: self.now()["values"]["sessions"] == 0, 40)
        curves = self.renter.get(f"/instances/{self.iid}/metrics")
        self.assertGreater(max(v for v in curves["series"]["cpu_percent_highest"] if v is not None), 1)

    def test_03_a_process_is_found_by_instance_and_user(self):
        view = self.renter.instance(self.iid)
        self.renter.ssh(view, "useradd -m alice; cp /bin/sleep /tmp/trainer; "
                              "setsid -f su alice -c '/tmp/trainer 600' </dev/null >/dev/null 2>&1")
        pid = wait_until("it runs", lambda: self.pid_of("trainer"))
        self.world.server.set_cards(f"card={self.card_number()} util=50 procs={pid}:1000+1:200")
        seen = wait_until("both processes are listed", lambda: (
            lambda rows: rows if len(rows) == 2 else None)(self.operator.get("/admin/gpu-processes")["items"]))
        mine = next(row for row in seen if row["pid"] == pid)
        self.assertEqual((mine["instance_id"], mine["renter"], mine["user"], mine["command"]),
                         (self.iid, self.renter.login, "alice", "trainer"))
        self.assertTrue(mine["is_expected"])
        other = next(row for row in seen if row["pid"] == 1)
        self.assertNotIn("instance_id", other)
        self.assertFalse(other["is_expected"])
        wait_until("the card's load", lambda: self.now()["values"]["gpu_percent"] == 50)

    def test_04_a_card_that_fails_ends_the_run_and_its_charges(self):
        number = self.card_number()
        self.world.server.set_cards(f"card={number} fault=lost xids=79")
        view = wait_until("the run has ended", lambda: (
            lambda v: v if v["observed"] == "stopped" else None)(self.renter.instance(self.iid)))
        self.assertEqual(view["fault"]["code"], "card_fault")
        card = self.operator.get("/admin/gpus")["items"][number]
        self.assertEqual(card["card"]["state"] in ("quarantine", "sick"), True, card)
        self.assertEqual(card["xids"][0]["code"], 79)
        bill = self.renter.bill(self.iid)
        check_bill(self, bill)
        self.assertEqual([line["close_cause"] for line in bill["lines"]], ["card_fault"])
        self.world.server.set_cards("")
        wait_until("the card is well again", lambda: not self.operator.get("/admin/gpus")["items"][number]
                   ["card"]["fault"])
        self.operator.post(f"/admin/gpus/{number}/return")

    def test_05_another_card_serves_the_next_run(self):
        self.renter.move(self.iid, "start", "running")
        self.renter.purge(self.iid)
