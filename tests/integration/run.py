#!/usr/bin/env python3
"""Cardhour on a real, private Incus: run.py --build BUILD-DIR [--engine-tests] [--all] [NAME...]

A NAME picks the tests that have it in their name. Prints a line per test and last
  integration: N passed, N failed, N skipped
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import story  # noqa: E402
import world as worlds  # noqa: E402

BEGAN = time.monotonic()
ORDER = ("test_rent", "test_seeing", "test_bad_input", "test_walls", "test_behind_our_back", "test_hard_days",
         "test_terminal", "test_kill", "test_crash_points", "test_restore")
LAST = ("test_down",)  # takes the world away


def say(text):
    print(f"{time.monotonic() - BEGAN:6.1f}s  {text}", flush=True)


class Lines(unittest.TestResult):
    """One line per test."""

    good = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def line(self, word, test, why=""):
        name = f"{type(test).__name__}.{test._testMethodName}" if hasattr(test, "_testMethodName") else str(test)
        took = time.monotonic() - getattr(self, "began", time.monotonic())
        say(f"{word:4} {name} ({took:.1f} s){': ' + why if why else ''}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.good += 1
        self.line("ok", test)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.show(subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("skip", test, reason)

    def show(self, test, error):
        self.line("FAIL", test)
        frames = [f"        {frame.filename.rsplit('/', 1)[1]}:{frame.lineno}: {frame.line}"
                  for frame in traceback.extract_tb(error[2]) if "/tests/integration/" in frame.filename]
        print("\n".join(frames + ["        " + line for line in str(error[1]).splitlines()[:25]]), flush=True)
        if story.world:
            print("        server: " + story.world.server.tail(6).replace("\n", "\n                "), flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.show(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.show(test, error)


def suite(names, modules):
    loader = unittest.TestLoader()
    everything = unittest.TestSuite()
    for module in modules:
        for group in loader.loadTestsFromName(module):
            for test in group:
                full = f"{module}.{type(test).__name__}.{test._testMethodName}"
                if not names or any(name in full for name in names):
                    everything.addTest(test)
    return everything


def engine_tests(build, world):
    """The engine's own tests against the same daemon; (passed, failed, skipped)."""
    counts = [0, 0, 0]
    world.server.stop()  # they put their own rules on the bridge
    for program in ("incus_engine_test", "isolation_test"):
        binary = build / "bin" / program
        if not binary.exists():
            say(f"skip {program}: not built")
            counts[2] += 1
            continue
        env = dict(os.environ, CARDHOUR_INCUS_SOCKET=world.incus.socket, CARDHOUR_INCUS_PROJECT="cardhour",
                   CARDHOUR_INCUS_POOL=world.incus.name, CARDHOUR_INCUS_NETWORK=world.incus.name,
                   CARDHOUR_INCUS_SUBNET=f"{world.incus.gateway}/16",
                   CARDHOUR_INCUS_GUEST_PORT=str(worlds.free_port()))
        done = subprocess.run([binary, "--gtest_color=no"], env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        results = re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w/]+\.[\w/]+)(?:, .*)? \(\d+ ms\)$", done.stdout, re.M)
        for word, name in results:
            counts[("OK", "FAILED", "SKIPPED").index(word)] += 1
            if word != "OK":
                say(f"{word} {program}: {name}")
        bad = sum(1 for word, _ in results if word == "FAILED")
        say(f"{'ok  ' if done.returncode == 0 else 'FAIL'} {program}: {len(results)} tests")
        if done.returncode != 0:
            print(done.stdout[-6000:])
            counts[1] += 0 if bad else 1
    world.server.start()
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/debug", type=pathlib.Path)
    parser.add_argument("--engine-tests", action="store_true", help="also incus_engine_test and isolation_test")
    parser.add_argument("--keep", action="store_true", help="leave everything running, and say where")
    parser.add_argument("--all", action="store_true",
                        help="CrashPoints: also each point alone, with a rest after each")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        say("needs root")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tempfile.tempdir = "/tmp"  # short: the paths of unix sockets end at 107 bytes
    world = worlds.World(asked.build.resolve())
    result = Lines()
    extra = [0, 0, 0]
    try:
        world.open(say)
        story.world = world
        story.everything = asked.all
        suite(asked.names, ORDER).run(result)
        if asked.engine_tests:
            extra = engine_tests(asked.build.resolve(), world)
        suite(asked.names, LAST).run(result)
    except Exception:  # noqa: BLE001 - whatever it was, it is a failure that is counted
        traceback.print_exc()
        print(world.server.tail(20))
        extra[1] += 1
    finally:
        if asked.keep:
            say(f"kept: {world.scratch}, {world.server.url}, {world.incus.name}")
        else:
            world.close(say)
    bad = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"integration: {result.good + extra[0]} passed, {bad + extra[1]} failed, {skipped + extra[2]} skipped")
    return 1 if bad + extra[1] else 0


if __name__ == "__main__":
    sys.exit(main())
