"""What others do to instances in Incus is noticed, billed by the rules, and undone by nobody."""
from story import Story, check_bill
from world import unique, wait_until


class BehindOurBack(Story):
    def held_by(self, iid):
        return [card["uuid"] for card in self.world.cards() if card.get("instance_id") == iid]

    def noticed(self, iid):
        return wait_until("it is noticed", lambda: self.renter.instance(iid)["observed"] == "stopped"
                          and self.renter.instance(iid), 15)

    def test_02_stopped_from_outside(self):
        view = self.renter.rent()
        iid = view["id"]
        self.incus.change_state(iid, "stop")
        seen = self.noticed(iid)
        self.assertEqual(seen["fault"]["code"], "vanished")
        self.assertEqual(self.held_by(iid), [])
        bill = self.renter.bill(iid)
        check_bill(self, bill)
        self.assertEqual(bill["lines"][0]["close_cause"], "vanished")
        self.renter.move(iid, "start", "running")
        self.assertEqual(len(self.held_by(iid)), 1)
        self.renter.purge(iid)

    def test_03_deleted_from_outside(self):
        view = self.renter.rent(gpu_count=2)
        iid = view["id"]
        self.renter.ssh(view, "echo precious >/root/data/file && sync")
        self.incus.change_state(iid, "stop")
        self.incus.ask("DELETE", f"/1.0/instances/{iid}")
        self.noticed(iid)
        self.assertEqual(self.held_by(iid), [])
        again = self.renter.move(iid, "start", "running")
        self.assertEqual(again["connection"]["host_key_fingerprint"], view["connection"]["host_key_fingerprint"])
        self.assertEqual(self.renter.ssh(again, "cat /root/data/file"), "precious\n", "the data disk was kept")
        self.assertEqual(len(self.held_by(iid)), 2)
        self.renter.purge(iid)

    def test_04_started_from_outside_is_stopped_and_free(self):
        iid = self.renter.rent(mode="no_gpu")["id"]
        self.renter.move(iid, "stop", "stopped")
        before = self.renter.instance(iid)["cost_so_far_micro"]
        self.incus.change_state(iid, "start")
        wait_until("it is stopped again", lambda: self.incus.instance(iid)["status"] == "Stopped", 20)
        self.renter.settled(iid, "stopped")
        self.assertEqual(self.renter.instance(iid)["cost_so_far_micro"], before)
        self.renter.purge(iid)

    def test_05_a_reboot_from_inside_goes_on(self):
        view = self.renter.rent(mode="no_gpu")
        started = self.renter.ssh(view, "cat /proc/1/stat").split()[21]
        self.renter.ssh(view, "systemctl reboot", check=False)

        def back():
            done = self.renter.ssh(view, "cat /proc/1/stat", check=False)
            return done.returncode == 0 and done.stdout.split()[21] != started

        wait_until("it is back", back, 30, 0.3)
        self.assertEqual(self.renter.instance(view["id"])["observed"], "running")
        self.assertEqual(len(self.renter.bill(view["id"])["lines"]), 1)
        # Incus may leave a proxy of the first boot behind, which holds the port.
        self.renter.move(view["id"], "stop", "stopped")
        self.renter.post(f"/instances/{view['id']}/start", {"mode": "no_gpu"})
        again = self.renter.settled(view["id"], "running")
        self.assertEqual(again["connection"]["port"], view["connection"]["port"])
        self.renter.purge(view["id"])

    def test_06_foreign_instances_are_not_touched(self):
        names = ["foreign-" + unique()[:6], "i" + unique()[:12]]
        root = {"root": {"type": "disk", "path": "/", "pool": self.incus.name}}
        for name in names:
            self.incus.ask("POST", "/1.0/instances", {
                "name": name, "type": "container", "profiles": [], "devices": root,
                "source": {"type": "image", "alias": "base"}, "config": {"boot.autostart": "false"}})
        self.incus.change_state(names[0], "start")
        iid = self.renter.rent(mode="no_gpu")["id"]
        self.renter.purge(iid)
        self.world.restart_server()
        for name, status in zip(names, ("Running", "Stopped")):
            self.assertEqual(self.incus.instance(name)["status"], status)
        self.assertEqual(self.renter.call("GET", f"/instances/{names[1]}").status, 404)
        self.incus.change_state(names[0], "stop")
        for name in names:
            self.incus.ask("DELETE", f"/1.0/instances/{name}")
