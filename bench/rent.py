#!/usr/bin/env python3
"""Request to SSH banner: Cardhour against Incus alone, in pairs A B A B, on a private Incus.

    bench/rent.py [--build build/release] [--pairs 10] [--rounds 3] [--at-once 8]

A: POST /api/v1/instances on Cardhour, until the SSH port of the instance says its banner.
B: the same instance (same image, limits, devices) by Incus's REST API, until the same.
Prints each pair, the medians, and the median of the ratios A/B. "Ready" is later than the banner:
Cardhour then has checked the cards from inside, and charges from that moment. Then, in rounds, many
at once: from the first request to the last banner.
"""
import argparse
import concurrent.futures
import os
import pathlib
import platform
import random
import shutil
import socket
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
import world as worlds  # noqa: E402

VOLATILE = ("volatile.", "user.", "image.")


def await_banner(port, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as line:
                line.settimeout(1)
                if line.recv(4) == b"SSH-":
                    return
        except OSError:
            pass
        time.sleep(0.01)
    raise AssertionError("no banner")


def port_of(world, iid):
    """Of the instance in the making: the API tells it once all is ready, Incus as soon as it is set."""
    seen = world.incus.instance(iid)
    listen = (seen or {"devices": {}})["devices"].get("ssh", {}).get("listen")
    return int(listen.rsplit(":", 1)[1]) if listen else None


def through_cardhour(world):
    """Seconds to the banner, seconds until the API says ready, and the instance."""
    began = time.monotonic()
    made = world.renter.post("/instances", {"gpu_model": "4090"})
    await_banner(worlds.wait_until("its port is known", lambda: port_of(world, made["id"]), step=0.02))
    banner = time.monotonic() - began
    world.renter.settled(made["id"], "running")
    return banner, time.monotonic() - began, made["id"]


class Baseline:
    """What Cardhour made, as Incus alone would make it."""

    def __init__(self, world, model):
        self.world, self.incus = world, world.incus
        seen = self.incus.instance(model)
        self.config = {k: v for k, v in seen["config"].items() if not k.startswith(VOLATILE)}
        self.devices = seen["devices"]
        for device in self.devices.values():  # the simulated cards go with the instance; a copy stays
            if device["type"] == "disk" and device.get("source", "").endswith(model):
                copy = world.scratch / "bench-cards"
                shutil.copytree(device["source"], copy, dirs_exist_ok=True)
                device["source"] = str(copy)
        pool = f"/1.0/storage-pools/{self.incus.name}/volumes/custom"
        self.data = next(d["source"] for d in self.devices.values() if d["type"] == "disk" and d.get("pool") and d.get("source"))
        self.volume = self.incus.ask("GET", f"{pool}/{self.data}")["config"]
        self.pool = pool

    def launch(self, number):
        name, volume = f"base-{number}", f"base-{number}-data"
        port = worlds.free_port()
        config = dict(self.config)
        config["security.idmap.base"] = str(1_000_000 + 65_536 * (9_000 + number))
        devices = {key: dict(value) for key, value in self.devices.items()}
        for device in devices.values():
            if device["type"] == "nic":
                device["ipv4.address"] = f"{self.incus.prefix}.200.{number + 1}"
            if device.get("source") == self.data:
                device["source"] = volume
            if device["type"] == "proxy":
                device["listen"] = f"tcp:127.0.0.1:{port}"
        wanted = {k: v for k, v in self.volume.items() if k.startswith(("size", "security."))}
        began = time.monotonic()
        self.incus.ask("POST", self.pool, {"name": volume, "type": "custom", "content_type": "filesystem", "config": wanted})
        self.incus.ask("POST", "/1.0/instances", {
            "name": name, "type": "container", "profiles": [], "start": False, "config": config, "devices": devices,
            "source": {"type": "image", "alias": "base"}})
        # Not waited for: the banner comes before the start operation ends.
        line = worlds.UnixConnection(self.incus.socket, 60)
        line.request("PUT", f"/1.0/instances/{name}/state?project=cardhour", '{"action":"start","timeout":-1}')
        line.getresponse().read()
        line.close()
        await_banner(port)
        return time.monotonic() - began

    def launch_and_remove(self, number):
        took = self.launch(number)
        self.remove(number)
        return took

    def remove(self, number):
        name, volume = f"base-{number}", f"base-{number}-data"
        worlds.wait_until("it runs", lambda: self.incus.instance(name)["status"] in ("Running", "Ready"), 30)
        self.incus.change_state(name, "stop")
        self.incus.ask("DELETE", f"/1.0/instances/{name}")
        self.incus.ask("DELETE", f"{self.pool}/{volume}")


def pairs_of(world, baseline, pairs, say):
    """Medians of: ratio of the banners, ratio of ready to Incus's banner, and the seconds of each."""
    def ours():
        banner, ready, iid = through_cardhour(world)
        world.renter.purge(iid)
        return banner, ready

    rows = []
    for number in range(1, pairs + 1):
        if random.random() < 0.5:
            (banner, ready), theirs = ours(), baseline.launch_and_remove(number)
        else:
            theirs = baseline.launch_and_remove(number)
            banner, ready = ours()
        rows.append((banner / theirs, ready / theirs, banner, ready, theirs))
        say(f"{number:3}  cardhour banner {banner:.3f} s, ready {ready:.3f} s   incus banner {theirs:.3f} s"
            f"   ratio {banner / theirs:.3f}")
    return [statistics.median(column) for column in zip(*rows)]


def rounds_of(world, baseline, rounds, at_once, say):
    """Medians of: ratio of the last banners of `at_once` together, and the seconds of each."""
    def all_at_once(call):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            began = time.monotonic()
            results = list(pool.map(call, range(at_once)))
            return time.monotonic() - began, results

    def ours():
        def one(_):
            made = world.renter.post("/instances", {"gpu_model": "4090"})
            await_banner(worlds.wait_until("its port is known", lambda: port_of(world, made["id"]), step=0.05))
            return made["id"]

        took, made = all_at_once(one)
        for iid in made:
            world.renter.settled(iid, "running")
        for iid in made:
            world.renter.purge(iid)
        return took

    def theirs(first):
        took, _ = all_at_once(lambda i: baseline.launch(first + i))
        for i in range(at_once):
            baseline.remove(first + i)
        return took

    rows = []
    for number in range(1, rounds + 1):
        first = 100 * number
        if random.random() < 0.5:
            mine, incus = ours(), theirs(first)
        else:
            incus = theirs(first)
            mine = ours()
        rows.append((mine / incus, mine, incus))
        say(f"{number:3}  {at_once} at once: cardhour {mine:.2f} s   incus {incus:.2f} s   ratio {mine / incus:.3f}")
    return [statistics.median(column) for column in zip(*rows)]


def measure(build, pairs, rounds, at_once, say):
    """The medians of pairs_of and of rounds_of; an empty list where nothing was asked for."""
    world = worlds.World(build)
    try:
        world.open(lambda text: say(f"# {text}"))
        _, _, model = through_cardhour(world)  # the first warms both
        baseline = Baseline(world, model)
        world.renter.purge(model)
        baseline.launch_and_remove(0)
        alone = pairs_of(world, baseline, pairs, say) if pairs else []
        together = rounds_of(world, baseline, rounds, at_once, say) if rounds else []
        return alone, together
    finally:
        world.close(lambda text: say(f"# {text}"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--pairs", default=10, type=int)
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--at-once", default=8, type=int)
    asked = parser.parse_args()
    alone, together = measure(asked.build.resolve(), asked.pairs, asked.rounds, asked.at_once,
                              lambda text: print(text, flush=True))
    if alone:
        ratio, to_ready, banner, ready, theirs = alone
        print(f"medians: cardhour banner {banner:.3f} s, ready {ready:.3f} s; incus banner {theirs:.3f} s")
        print(f"median ratio banner/banner {ratio:.3f} (at most 1.10 wanted), ready/banner {to_ready:.3f}; "
              f"{platform.machine()}, Linux {platform.release()}, {os.cpu_count()} processors")
    if together:
        ratio, mine, incus = together
        print(f"{asked.at_once} at once, medians: cardhour {mine:.2f} s, incus {incus:.2f} s, ratio {ratio:.3f}")
    return 0 if not alone or alone[0] <= 1.10 else 1


if __name__ == "__main__":
    sys.exit(main())
