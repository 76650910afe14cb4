"""What must be true whenever all is at rest, whatever died before, beside an instance that runs through
it all. Import the module, not the class: a test class that is imported by name is run again.
"""
from story import Story
from world import RESTING, wait_until


class Bystander(Story):
    bystander = None
    started = None

    def test_01_a_bystander(self):
        type(self).bystander = self.renter.rent(name="bystander")
        type(self).started = self.renter.ssh(self.bystander, "cat /proc/1/stat").split()[21]

    def at_rest(self):
        rows = self.renter.get("/instances?limit=100")["items"]
        return rows if all(row["settled"] and row["observed"] in RESTING for row in rows) else None

    def check_world(self, what):
        rows = wait_until(f"all is at rest after {what}", self.at_rest, 60, 0.2)
        alive = {row["id"]: row for row in rows if row["observed"] != "purged"}
        engine = self.incus.instances()
        self.assertLessEqual(set(engine), set(alive), f"{what}: nothing in the engine that nobody knows")
        for iid, row in alive.items():
            running = iid in engine and engine[iid]["status"] in ("Running", "Ready")
            self.assertEqual(running, row["observed"] == "running", f"{what}: {row}")
            self.assertEqual(len(row["cards"]), row["gpu_count"] if running else 0, f"{what}: {row}")
        held = [card for row in alive.values() for card in row["cards"]]
        self.assertEqual(len(held), len(set(held)), f"{what}: a card is held once")
        rented = sorted(card["uuid"] for card in self.world.cards() if card["state"] == "rented")
        self.assertEqual(rented, sorted(held), f"{what}: what is held is what runs")
        wallet = self.renter.get("/wallet")
        self.assertEqual(wallet["held_micro"], 0, f"{what}: no hold is left")
        burn = sum(row["burn_per_hour_micro"] for row in alive.values())
        self.assertEqual(wallet["burn_per_hour_micro"], burn, what)
        mine = self.renter.instance(self.bystander["id"])
        self.assertEqual(self.renter.ssh(mine, "cat /proc/1/stat").split()[21], self.started,
                         f"{what}: the bystander was interrupted")
        self.assertEqual(mine["burn_per_hour_micro"], 1_980_000, what)
        return alive
