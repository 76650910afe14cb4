"""What the tests share: the world, and what they say about money and cards."""
import datetime
import unittest

world = None  # set by run.py
everything = False  # --all


class Story(unittest.TestCase):
    """Steps of one story, in the order of their names: without the first the others are skipped."""

    longMessage = True
    broken = None

    def setUp(self):
        if type(self).broken:
            self.skipTest(f"after {type(self).broken}")
        self.world = world
        self.renter = world.renter
        self.operator = world.operator
        self.server = world.server
        self.incus = world.incus

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        failed = len(result.failures) + len(result.errors) > before
        if failed and self._testMethodName.startswith("test_01_"):
            type(self).broken = self._testMethodName


def instant(text):
    """Milliseconds of an RFC 3339 time."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (moment - epoch) // datetime.timedelta(milliseconds=1)


VOLUNTARY = ("renter", "guest_shutdown")


def line_amount_micro(line):
    """What a closed line of a bill must cost, by the rules, with integers alone."""
    elapsed = instant(line["closed_at"]) - instant(line["opened_at"])
    charged = max(elapsed - line["carried_ms"], 0)
    if line["close_cause"] in VOLUNTARY:
        unit = line["unit_ms"]
        charged = (charged + unit - 1) // unit * unit
    return line["rate_per_hour_micro"] * line["quantity"] * charged // 3_600_000


def check_bill(test, bill, minimum_micro=10_000):
    """Every closed line to the micro-unit, the minimum charge per run, the total, and --explain."""
    runs = {}
    waived = {line["run_id"] for line in bill["lines"] if line.get("close_cause") == "card_fault"}
    for line in bill["lines"]:
        if line["meter"] == "minimum":
            runs.setdefault(line["run_id"], [0, 0])[1] += line["amount_micro"]
            continue
        test.assertIsNotNone(line.get("closed_at"), "the bill of a run that ended")
        test.assertEqual(line["amount_micro"], line_amount_micro(line), line)
        runs.setdefault(line["run_id"], [0, 0])[0] += line["amount_micro"]
        test.assertEqual(len(line["card_uuids"]), 0 if line["meter"] == "no_gpu" else line["quantity"])
    for run, (metered, lifted) in runs.items():
        owes_minimum = metered > 0 and run not in waived
        test.assertEqual(lifted, max(minimum_micro - metered, 0) if owes_minimum else 0)
    test.assertEqual(bill["total_micro"], sum(line["amount_micro"] for line in bill["lines"]))
    test.assertTrue(bill["explained"] and bill["agrees"])
    for line in bill["lines"]:
        test.assertTrue(line["explain"]["agrees"], line)
        test.assertEqual(line["explain"]["booked_micro"], line["amount_micro"])
