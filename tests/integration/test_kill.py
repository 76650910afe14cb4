"""kill -9 of the server at random moments of everything that it does. After each restart all is at
rest, nothing is doubled or lost, and an instance that runs is never interrupted.
"""
import http.client
import random
import time

import rest
from story import check_bill
from world import unique

ROUNDS = 5


class Kill(rest.Bystander):
    def ask_and_kill(self, path, body, key):
        """Asks without waiting, kills the server a moment later; whether it had answered."""
        answer = None
        moment = random.choice((0, 0.02, 0.1, random.uniform(0, 1), random.uniform(0, 2.5)))
        try:
            answer = self.renter.call("POST", path, body, headers={"Idempotency-Key": key})
        except (OSError, http.client.HTTPException):
            pass
        end = time.monotonic() + moment
        while time.monotonic() < end:
            time.sleep(0.005)  # the moment is the point of the test
        self.server.kill()
        self.server.start()
        return answer, moment

    def cycle(self, number):
        key = unique()
        name = f"kill-{number}-{key[:4]}"
        body = {"gpu_model": "4090", "name": name}
        _, moment = self.ask_and_kill("/instances", body, key)
        # The same request again means the same instance, never a second one.
        again = self.renter.call("POST", "/instances", body, headers={"Idempotency-Key": key})
        self.assertEqual(again.status, 201, again)
        iid = again.json["id"]
        alive = self.check_world(f"create +{moment:.2f}")
        self.assertEqual(sum(1 for row in alive.values() if row["name"] == name), 1)
        self.assertEqual(alive[iid]["observed"], "running", alive[iid].get("fault"))
        for action, aim, body in (("stop", "stopped", {}), ("start", "running", {}), ("restart", "running", {}),
                                  ("release", "in_bin", {}),
                                  ("release", "purged", {"purge": True, "confirm_name": name})):
            answer, moment = self.ask_and_kill(f"/instances/{iid}/{action}", body, unique())
            self.assertTrue(answer and answer.status == 200, answer)
            self.check_world(f"{action} to {aim} +{moment:.2f}")
            self.assertEqual(self.renter.instance(iid)["observed"], aim, self.renter.instance(iid).get("fault"))
        self.assertIsNone(self.incus.instance(iid))
        check_bill(self, self.renter.bill(iid))

    def test_02_killed_in_the_middle_of_everything(self):
        random.seed()
        for number in range(ROUNDS):
            self.cycle(number)

    def test_03_killed_while_stop_overtakes_start(self):
        for _ in range(2):
            made = self.renter.rent(wait=False)
            pause = time.monotonic() + random.uniform(0, 1.2)
            while time.monotonic() < pause:
                time.sleep(0.005)
            _, moment = self.ask_and_kill(f"/instances/{made['id']}/stop", {}, unique())
            self.check_world(f"stop during create +{moment:.2f}")
            self.assertEqual(self.renter.instance(made["id"])["observed"], "stopped")
            self.renter.purge(made["id"])
            check_bill(self, self.renter.bill(made["id"]))

    def test_04_nothing_is_left(self):
        self.renter.purge(self.bystander["id"])
        self.assertEqual([c["state"] for c in self.world.cards()], ["free"] * 8)
        check_bill(self, self.renter.bill())
        wallet = self.renter.get("/wallet")
        credit = sum(t["amount_micro"] for t in self.transactions() if t["kind"] == "topup")
        self.assertEqual(wallet["balance_micro"], credit - self.renter.bill()["total_micro"])

    def transactions(self):
        items, after = [], ""
        while True:
            page = self.renter.get(f"/transactions?limit=100{after}")
            items += page["items"]
            if not page.get("next"):
                return items
            after = f"&after={page['next']}"
