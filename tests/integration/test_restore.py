"""An older backup put back over what has happened since, on real Incus: what runs goes on and is held,
nobody is charged for what the backup did not know, and the operator decides.
"""
import re
import shlex
import sqlite3
import subprocess

import ledger_rows
from story import Story, check_bill
from world import ROOT, unique, wait_until


class Restore(Story):
    backup = known = fresh = switched = None

    def admin(self, *words, code=0):
        done = self.operator.cli("admin", *words)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def cards_of(self, iid):
        return sorted(card["uuid"] for card in self.world.cards() if card.get("instance_id") == iid)

    def started(self, view):
        return self.renter.ssh(view, "cat /proc/1/stat").split()[21]

    def address(self, view):
        return self.incus.instance(view["id"])["devices"]["eth0"]["ipv4.address"]

    def adopted(self):
        return {row["instance_id"]: row for row in self.operator.get("/admin/adoptions")["items"]}

    def breaches(self):
        return ledger_rows.broken(str(self.server.data / "cardhour.db"))

    # ---- backups

    def test_01_backups(self):
        wait_until("the first one is made by itself", lambda: self.operator.get("/admin/backups")["items"], 20)
        check = {row["name"]: row for row in self.server.call("GET", "/readyz").json["checks"]}
        self.assertTrue(check["backup"]["ok"], check)
        self.assertRegex(check["backup"]["detail"], "old")
        type(self).known = self.renter.rent(name="known")
        type(self).switched = self.renter.rent(mode="no_gpu", name="switched")
        type(self).gone = self.renter.rent(name="gone")
        self.renter.move(self.switched["id"], "stop", "stopped")
        said = self.admin("backup")
        name = said.split()[2]
        self.assertIn(name, self.admin("backup", "--list"))
        type(self).backup = str(self.server.data / "backups" / name)
        with sqlite3.connect(self.backup) as rows:
            self.assertEqual(rows.execute("pragma integrity_check").fetchone(), ("ok",))
            self.assertGreaterEqual(rows.execute("select count(*) from instances").fetchone()[0], 3)
        self.assertEqual([f.name for f in (self.server.data / "backups").iterdir() if "key" in f.name], [])

    # ---- and one put back

    def test_02_what_happens_after_it(self):
        # Its address, id map and cards are free again, and the next one gets them.
        address = self.address(self.gone)
        self.renter.purge(self.gone["id"])
        type(self).fresh = self.renter.rent(gpu_count=2, name="fresh")
        self.assertEqual(self.address(self.fresh), address)
        self.renter.post(f"/instances/{self.switched['id']}/start", {"gpu_model": "4090"})
        type(self).switched = self.renter.settled(self.switched["id"], "running")
        for view in (self.known, self.fresh, self.switched):
            self.renter.ssh(view, "echo mine >/root/file && sync")
        type(self).boots = {view["id"]: self.started(view) for view in (self.known, self.fresh, self.switched)}
        type(self).held = {view["id"]: self.cards_of(view["id"]) for view in (self.known, self.fresh, self.switched)}

    def test_03_refusals(self):
        data = str(self.server.data)
        self.assertIn("another Cardhour server", self.admin("restore", "--yes", "--data", data, self.backup, code=5))
        self.assertEqual(self.server.call("GET", "/readyz").status, 200)

    def test_04_restore(self):
        self.server.stop()
        data = str(self.server.data)
        said = self.admin("restore", "--yes", "--data", data, self.backup)
        aside = next(word for word in said.split() if ".before-restore-" in word)
        with sqlite3.connect(f"file:{aside}?mode=ro", uri=True) as rows:
            self.assertTrue(rows.execute("select 1 from instances where id = ?", (self.fresh["id"],)).fetchone())
        self.server.start()
        rows = wait_until("they are adopted", lambda: len(self.adopted()) == 2 and self.adopted(), 20)
        self.assertEqual(self.breaches(), {})
        self.assertEqual({iid: row["kind"] for iid, row in rows.items()},
                         {self.fresh["id"]: "instance", self.switched["id"]: "run"})
        self.assertEqual(rows[self.fresh["id"]]["owner"], "renter")
        self.assertEqual(rows[self.fresh["id"]]["ssh_port"], self.fresh["connection"]["port"])

    def test_05_what_runs_was_not_touched(self):
        for view in (self.known, self.fresh, self.switched):
            self.assertEqual(self.started(view), self.boots[view["id"]], view["name"])
            self.assertEqual(self.cards_of(view["id"]), self.held[view["id"]], view["name"])
            self.assertEqual(self.incus.instance(view["id"])["status"], "Running")

    def test_06_uncharged_and_not_for_rent(self):
        for view in (self.fresh, self.switched):
            seen = self.renter.instance(view["id"])
            self.assertEqual((seen["observed"], seen["burn_per_hour_micro"]), ("running", 0))
            self.assertEqual(seen["fault"]["code"], "adopted")
            self.assertNotIn("connection", seen if view is self.fresh else {})
        self.assertEqual(self.renter.instance(self.known["id"])["burn_per_hour_micro"], 1_980_000)
        free = sum(1 for card in self.world.cards() if card["state"] == "free")
        held = {card for cards in self.held.values() for card in cards}
        more = self.renter.rent(gpu_count=1)
        self.assertFalse(held & set(self.cards_of(more["id"])), "a held card was rented again")
        self.assertNotEqual(more["connection"]["port"], self.fresh["connection"]["port"])
        self.assertEqual(sum(1 for card in self.world.cards() if card["state"] == "free"), free - 1)
        self.renter.purge(more["id"])

    def test_07_what_is_gone_is_stopped(self):
        seen = wait_until("it is noticed", lambda: self.renter.instance(self.gone["id"])["observed"] == "stopped"
                          and self.renter.instance(self.gone["id"]), 15)
        self.assertEqual(seen["fault"]["code"], "vanished")
        self.assertEqual(self.cards_of(self.gone["id"]), [])
        self.renter.purge(self.gone["id"])

    def test_08_a_restart_changes_nothing(self):
        self.world.restart_server()
        self.assertEqual(sorted(self.adopted()), sorted([self.fresh["id"], self.switched["id"]]))
        self.assertEqual(self.started(self.fresh), self.boots[self.fresh["id"]])
        self.assertEqual(self.breaches(), {})

    def test_09_the_operator_keeps_one(self):
        iid = self.fresh["id"]
        self.assertIn(iid, self.admin("adopted", "ls"))
        other = self.world.new_tenant("heir-" + unique()[:6], "20")
        self.assertIn(other.login, self.admin("adopted", "keep", iid, "--account", other.login))
        view = wait_until("its new keys are inside", lambda: self.reached(other, iid), 30, 0.5)
        self.assertEqual(view["burn_per_hour_micro"], 2 * 1_980_000)
        self.assertEqual(self.started_by(other, view), self.boots[iid], "never interrupted")
        self.assertEqual(other.ssh(view, "cat /root/file"), "mine\n")
        self.assertEqual(self.renter.call("GET", f"/instances/{iid}").status, 404)
        other.move(iid, "stop", "stopped")
        bill = other.bill(iid)
        check_bill(self, bill)
        self.assertEqual({line["open_cause"] for line in bill["lines"] if line["meter"] == "on_demand"}, {"adopted"})
        again = other.move(iid, "start", "running")
        self.assertEqual(other.ssh(again, "cat /root/file"), "mine\n")
        other.purge(iid)

    def reached(self, tenant, iid):
        view = tenant.instance(iid)
        if "connection" not in view:
            return None
        done = tenant.ssh(view, "true", check=False)
        return view if done.returncode == 0 else None

    def started_by(self, tenant, view):
        return tenant.ssh(view, "cat /proc/1/stat").split()[21]

    def test_10_and_removes_the_other(self):
        iid = self.switched["id"]
        self.admin("adopted", "remove", iid, "--yes")
        self.renter.settled(iid, "in_bin")
        self.assertEqual(self.cards_of(iid), [])
        self.assertEqual(self.renter.instance(iid)["cost_so_far_micro"],
                         self.renter.bill(iid)["total_micro"])
        self.renter.purge(iid)
        wait_until("decided", lambda: not self.adopted(), 10)

    def drill(self):
        """The lines of the operator's guide."""
        text = (ROOT / "docs" / "operator.md").read_text()
        block = text[text.index("**Drill**"):].split("\n\n")[1]
        return [line.split("  #")[0].strip() for line in block.splitlines()]

    def test_11_the_drill_as_it_is_written(self):
        known = {"DIR": str(self.server.data)}
        lines = self.drill()
        self.assertGreaterEqual(len(lines), 7)
        for line in lines:
            for word, value in known.items():
                line = re.sub(rf"\b{word}\b", value, line)
            words = shlex.split(line)
            if line.startswith("kill "):
                self.server.stop()
                continue
            self.assertEqual(words.pop(0), "cardhour", line)
            if words[0] == "serve":
                self.server.start()
                wait_until("it is adopted", self.adopted, 20)
                continue
            who = self.operator if words[0] == "admin" else self.renter
            done = who.cli(*words)
            self.assertEqual(done.returncode, 0, f"{line}: {done.stdout} {done.stderr}")
            said = done.stdout + done.stderr
            if found := re.search(r"cardhour-(\w+)\.db", said):
                known.setdefault("TIME", found[1])
            if words[:3] == ["admin", "adopted", "ls"]:
                known["ID"] = re.search(r"\bi[a-z0-9]{12}\b", said)[0]
                self.assertIn("renter", said)
        self.renter.settled(known["ID"], "in_bin")
        self.renter.purge(known["ID"])

    def test_12_nothing_is_left(self):
        self.renter.purge(self.known["id"])
        check_bill(self, self.renter.bill())
        self.assertEqual(self.breaches(), {})
        self.assertEqual([card["state"] for card in self.world.cards()], ["free"] * 8)
        self.assertEqual(self.incus.instances(), {})
        subprocess.run(["find", str(self.server.data), "-name", "*.before-restore-*", "-delete"], check=True)
