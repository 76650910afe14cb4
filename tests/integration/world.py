"""A world of its own for the integration tests: a private Incus, a Cardhour server with simulated
cards, and the ways in: API, CLI, SSH, and the back door of Incus itself.

Nothing here has a fixed port, name or address, and nothing sleeps without a condition.
"""
import contextlib
import fcntl
import http.client
import ipaddress
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOST_SH = ROOT / "deploy" / "host.sh"
RESTING = ("running", "stopped", "in_bin", "purged")
SERVER_START_S = 30

POLICY = """
[instances]
observe_interval = "2s"
host_silent_after = "20s"
stop_grace = "10s"
system_disk = "2G"
data_disk = "1G"
data_disk_min = "1G"
[quotas]
running = 12
instances = 60
cards = 8
"""


def wait_until(what, condition, seconds=30, step=0.05):
    """Calls `condition` until it answers something true, which is returned."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what} (last: {answer!r})")
        time.sleep(step)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def host_lock(name):
    """What runs beside each other takes turns at: made once per host, kept when nobody uses it."""
    with open(f"/tmp/cardhour-test.{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Place:
    """A number that no other run on this host has while this object lives: its /16 of 10/8, in which
    no interface of the host is, and a hundred SSH ports."""

    FIRST, END, PORTS = 180, 250, 100

    def __init__(self):
        for number in random.sample(range(self.FIRST, self.END), self.END - self.FIRST):
            self.lock = open(f"/tmp/cardhour-test.place-{number}.lock", "w", encoding="utf-8")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.lock.close()
                continue
            self.prefix = f"10.{number}"
            first = 22000 + (number - self.FIRST) * self.PORTS
            self.ssh_ports = range(first, first + self.PORTS)
            if is_free_subnet(self.prefix):
                return
            self.lock.close()
        raise RuntimeError("no free /16 for the bridge")


def is_free_subnet(prefix):
    """That no interface of this host is in the /16."""
    shown = subprocess.run(["ip", "-j", "addr"], capture_output=True, text=True, check=True).stdout
    taken = [
        ipaddress.ip_network(f"{a['local']}/{a['prefixlen']}", strict=False)
        for link in json.loads(shown) for a in link.get("addr_info", []) if a["family"] == "inet"
    ]
    net = ipaddress.ip_network(f"{prefix}.0.0/16")
    return not any(net.overlaps(other) for other in taken)


class Answer:
    """What the API said."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:400]!r}"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("incus", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Incus:
    """The private daemon, by the back door."""

    def __init__(self, scratch, name):
        self.dir = scratch / "incus"
        self.state = scratch / "state"
        self.name = name
        self.place = Place()
        self.prefix = self.place.prefix
        self.env = dict(
            os.environ, INCUS_DIR=str(self.dir), CARDHOUR_STATE=str(self.state),
            CARDHOUR_POOL=name, CARDHOUR_BRIDGE=name, CARDHOUR_PROJECT="cardhour",
            CARDHOUR_SUBNET=f"{self.prefix}.0.1/16", CARDHOUR_DEPLOYMENT=name)

    @property
    def socket(self):
        return str(self.dir / "unix.socket")

    @property
    def gateway(self):
        return f"{self.prefix}.0.1"

    def host_sh(self, *words):
        # lxcfs and the cached image are the host's: one at a time.
        with host_lock("host"):
            return self.run_host_sh(*words)

    def run_host_sh(self, *words):
        done = subprocess.run([HOST_SH, *words], env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"host.sh {' '.join(words)}: {done.stdout[-2000:]}")
        return done.stdout

    def ask(self, method, path, body=None, project="cardhour"):
        """The metadata of the reply; waits for operations. None: not there."""
        mark = "&" if "?" in path else "?"
        connection = UnixConnection(self.socket, 120)
        with contextlib.closing(connection):
            connection.request(method, f"{path}{mark}project={project}",
                               None if body is None else json.dumps(body))
            reply = json.loads(connection.getresponse().read())
        if reply["type"] == "async":
            reply = self.ask_raw("GET", f"/1.0/operations/{reply['metadata']['id']}/wait?timeout=120")
            if reply["type"] != "error" and reply["metadata"].get("err"):
                raise RuntimeError(f"incus: {method} {path}: {reply['metadata']['err']}")
        if reply.get("error_code") == 404:
            return None
        if reply["type"] == "error":
            raise RuntimeError(f"incus: {method} {path}: {reply['error']}")
        return reply["metadata"]

    def ask_raw(self, method, path):
        connection = UnixConnection(self.socket, 150)
        with contextlib.closing(connection):
            connection.request(method, path)
            return json.loads(connection.getresponse().read())

    def instances(self):
        """Ours, by engine name."""
        rows = self.ask("GET", "/1.0/instances?recursion=1")
        return {row["name"]: row for row in rows
                if row["config"].get("user.cardhour.deployment") == self.name}

    def volumes(self):
        return [row["name"]
                for row in self.ask("GET", f"/1.0/storage-pools/{self.name}/volumes/custom?recursion=1")]

    def instance(self, name):
        return self.ask("GET", f"/1.0/instances/{name}")

    def change_state(self, name, action, project="cardhour"):
        self.ask("PUT", f"/1.0/instances/{name}/state",
                 {"action": action, "force": True, "timeout": -1}, project)

    def pid(self):
        return int((self.state / "host" / "incusd.pid").read_text())

    def end(self):
        """When a test broke half way and `host.sh down` left the daemon to others: there are none."""
        with contextlib.suppress(OSError, ValueError):
            pid = self.pid()
            if f"INCUS_DIR={self.dir}\0" in pathlib.Path(f"/proc/{pid}/environ").read_text():
                os.kill(pid, signal.SIGTERM)
                wait_until("incusd ends", lambda: not pathlib.Path(f"/proc/{pid}").exists(), 30)
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            below = [line.split()[4] for line in mounts if line.split()[4].startswith(f"{self.dir}/")]
        for place in sorted(below, reverse=True):
            subprocess.run(["umount", "-l", place], check=False)


class Server:
    """`cardhour serve`, which can be killed and started again."""

    def __init__(self, build, scratch, incus):
        self.binary = str(build / "bin" / "cardhour")
        self.data = scratch / "data"
        self.log_path = scratch / "server.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.incus = incus
        self.config = scratch / "policy.toml"
        self.config.write_text(POLICY)
        self.cards = scratch / "cards"
        self.set_cards("")
        self.process = None
        self.operator_password = None
        self.starts = 0

    def set_cards(self, changes):
        """What the simulated cards do from now on (src/adapters/gpu/simulated_cards.h)."""
        part = self.cards.with_suffix(".part")
        part.write_text(f"8xRTX4090\n{changes}\n")
        part.rename(self.cards)

    def words(self):
        return [self.binary, "serve", "--data", str(self.data), "--config", str(self.config),
                "--listen", f"127.0.0.1:{self.port}", "--gpus", f"sim:@{self.cards}",
                "--deployment", self.incus.name, "--incus-socket", self.incus.socket,
                "--pool", self.incus.name, "--network", self.incus.name,
                "--subnet", f"{self.incus.prefix}.0.0/16",
                "--ssh-ports", f"{self.incus.place.ssh_ports[0]}-{self.incus.place.ssh_ports[-1]}"]

    def start(self, ready=True, crash_at=None):
        env = dict(os.environ, CARDHOUR_CRASH_AT=crash_at) if crash_at else None
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.words(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=log, start_new_session=True, env=env)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.starts += 1
        if ready:
            wait_until("the server is ready", self.is_ready, SERVER_START_S)
            if self.operator_password is None:
                self.read_password()

    def read_password(self):
        said = ""

        def look():
            nonlocal said
            said += (self.process.stdout.read() or b"").decode()
            return re.search(r"^ +password +(\S+)$", said, re.M)

        self.operator_password = wait_until("the operator's password is printed", look).group(1)

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}: {self.tail()}")
        try:
            return self.call("GET", "/readyz").status == 200
        except OSError:
            return False

    def dies(self, seconds):
        """Waits until it has ended by itself; how."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if self.process.poll() is not None:
                self.process.stdout.close()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            return -1

    def tail(self, lines=15):
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def call(self, method, path, body=None, token=None, headers=None, timeout=70):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        with contextlib.closing(connection):
            connection.request(method, path, body, sent)
            reply = connection.getresponse()
            return Answer(reply.status, dict(reply.getheaders()), reply.read().decode(errors="replace"))


class Tenant:
    """Somebody with an account: a token for the API, and a CLI with a home of its own."""

    def __init__(self, world, login, password):
        self.world, self.login, self.password = world, login, password
        self.home = world.scratch / "home" / login
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        self.key = self.home / ".ssh" / "id_ed25519"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"{login}@test", "-f", self.key],
                       check=True)
        self.token = world.log_in(login, password)
        done = self.cli("login", world.server.url, "--login", login, "--password-stdin", typed=password)
        assert done.returncode == 0, done.stderr

    # ---- the API

    def call(self, method, path, body=None, headers=None, **more):
        headers = {"Idempotency-Key": unique(), **(headers or {})} if method == "POST" else headers
        return self.world.server.call(method, "/api/v1" + path, body, token=self.token, headers=headers, **more)

    def get(self, path, status=200):
        answer = self.call("GET", path)
        assert answer.status == status, answer
        return answer.json

    def post(self, path, body=None, status=(200, 201), **more):
        answer = self.call("POST", path, {} if body is None else body, **more)
        assert answer.status in ((status,) if isinstance(status, int) else status), answer
        return answer.json if answer.body else None

    def instance(self, iid):
        return self.get(f"/instances/{iid}")

    def rent(self, wait=True, **body):
        body = {"gpu_model": "4090", **body} if body.get("mode") != "no_gpu" else body
        made = self.post("/instances", body)
        return self.settled(made["id"], "running") if wait else made

    def settled(self, iid, aim=None, seconds=60):
        def look():
            seen = self.instance(iid)
            return seen if seen["settled"] else None

        view = wait_until(f"{iid} settles", look, seconds)
        assert aim is None or view["observed"] == aim, view
        return view

    def move(self, iid, action, aim, body=None):
        self.post(f"/instances/{iid}/{action}", body)
        return self.settled(iid, aim)

    def purge(self, iid):
        name = self.instance(iid)["name"]
        self.post(f"/instances/{iid}/release", {"purge": True, "confirm_name": name})
        return self.settled(iid, "purged")

    def bill(self, iid=None):
        return self.get("/statements?explain=true" + (f"&instance={iid}" if iid else ""))

    # ---- the CLI

    def cli(self, *words, typed=None, seconds=90):
        env = dict(os.environ, HOME=str(self.home), XDG_CONFIG_HOME=str(self.home / ".config"), LANG="C.UTF-8")
        for name in ("CARDHOUR_TOKEN", "CARDHOUR_SERVER", "CARDHOUR_PROFILE"):
            env.pop(name, None)
        env["PATH"] = f"{self.world.ssh_wrapper(self)}:{env['PATH']}"
        return subprocess.run([self.world.server.binary, "--lang", "en", *words], env=env, text=True,
                              input=typed or "", capture_output=True, timeout=seconds)

    def cli_json(self, *words):
        done = self.cli("--json", *words)
        assert done.returncode == 0, f"{words}: {done.returncode} {done.stderr}"
        return json.loads(done.stdout)

    # ---- SSH, as the answer of the API says

    def ssh_words(self, view, *options):
        to = view["connection"]
        known = self.home / f"known.{view['id']}"
        known.write_text(to["known_hosts_line"] + "\n")
        return ["ssh", "-F", "/dev/null", "-i", str(self.key), "-o", f"UserKnownHostsFile={known}",
                "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=10", "-o", "LogLevel=ERROR",
                *options, "-p", str(to["port"]), f"{to['user']}@{to['host']}"]

    def ssh(self, view, command, seconds=30, check=True):
        done = subprocess.run([*self.ssh_words(view, "-o", "BatchMode=yes"), command], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=seconds)
        if check:
            assert done.returncode == 0, f"{command}: {done.returncode} {done.stdout} {done.stderr}"
            return done.stdout
        return done

    def python(self, view, script, seconds=30):
        """Runs a script inside and returns what it printed."""
        done = subprocess.run([*self.ssh_words(view, "-o", "BatchMode=yes"), "python3 -"], input=script,
                              capture_output=True, text=True, timeout=seconds)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def unique():
    return f"{random.getrandbits(64):016x}"


class World:
    """Everything together. Made once by run.py, used by all tests."""

    def __init__(self, build):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="chit"))
        self.scratch.chmod(0o711)  # the mapped root of an instance walks through it
        self.incus = Incus(self.scratch, f"chit{random.randrange(16**4):04x}")
        self.server = Server(build, self.scratch, self.incus)
        self.wrappers = {}
        self.closed = False

    def open(self, say):
        say("private Incus")
        self.incus.host_sh("up")
        say("base image")
        self.incus.host_sh("image")
        say("server")
        self.server.data.mkdir()
        # Small, so that a test can fill it.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,mode=0700", "cardhour-test", self.server.data],
                       check=True)
        self.server.start()
        self.operator = Tenant(self, "admin", self.server.operator_password)
        self.renter = self.new_tenant("renter", "500")
        wait_until("the cards are seen", lambda: self.renter.get("/offers")["items"])

    def log_in(self, login, password):
        answer = self.server.call("POST", "/api/v1/auth/login", {"login": login, "password": password})
        assert answer.status == 201, answer
        return answer.json["token"]

    def new_tenant(self, login, credit=None):
        password = "pw-" + unique()
        self.operator.post("/admin/accounts", {"login": login, "password": password})
        tenant = Tenant(self, login, password)
        tenant.post("/ssh-keys", {"public_key": tenant.key.with_suffix(".pub").read_text().strip()})
        if credit:
            self.operator.post("/admin/topups", {"account": login, "amount": credit})
        return tenant

    def ssh_wrapper(self, tenant):
        """A folder with an `ssh` that uses the tenant's key: the CLI runs whatever ssh is in PATH."""
        folder = self.scratch / "bin" / tenant.login
        if not folder.exists():
            folder.mkdir(parents=True)
            wrapper = folder / "ssh"
            wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F /dev/null -i "{tenant.key}" -o BatchMode=yes "$@"\n')
            wrapper.chmod(0o755)
        return folder

    def cards(self):
        return self.operator.get("/admin/cards")["items"]

    def restart_server(self):
        self.server.kill()
        self.server.start()

    def close(self, say):
        if self.closed:
            return
        self.closed = True
        say("taking it all back")
        self.server.stop()
        with contextlib.suppress(Exception):
            self.incus.host_sh("down")
        self.incus.end()
        subprocess.run(["nft", "delete", "table", "inet", f"cardhour_{self.incus.name}"], stderr=subprocess.DEVNULL)
        subprocess.run(["umount", self.server.data], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.scratch, ignore_errors=True)
