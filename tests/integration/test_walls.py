"""What a tenant can do to others: through the API, and from inside an instance.

Each attack from inside has a control beside it, so that none passes because the network is down.
The engine's own isolation_test goes further; here it is the product as it is put together.
"""
import json
import socket
import subprocess

from story import Story
from world import unique

CONNECT = """
import socket
import subprocess
try:
    socket.create_connection((%r, %d), 1).close()
    print("open")
except OSError as error:
    print(type(error).__name__)
"""

SUBVOLUME = """
import fcntl, os, struct
for place in ("/root", "/root/data", "/tmp"):
    where = os.open(place, os.O_RDONLY)
    for number in (0x5000940e, 0x50009418):
        args = struct.pack("=q", 0) + b"attack" if number == 0x5000940e else struct.pack("=qQQ32s", 0, 0, 0, b"") + b"attack"
        try:
            fcntl.ioctl(where, number, bytearray(args + bytes(4096 - len(args))))
            print("made a subvolume in", place)
        except OSError as error:
            assert error.errno == 1, error
"""

ASK = """
import http.client, json
line = http.client.HTTPConnection(%r, %d, timeout=4)
line.request(%r, %r, %r, {"Authorization": "Bearer %s", "Content-Type": "application/json"})
print(line.getresponse().status)
"""


class Walls(Story):
    mine = None
    theirs = None
    other = None

    def inside(self, script):
        return self.renter.python(type(self).mine, script)

    def connect(self, address, port):
        return self.inside(CONNECT % (address, port))

    def ask(self, method, path, token, body="{}", port=8079):
        return int(self.inside(ASK % (self.incus.gateway, port, method, path, body, token)))

    def test_01_two_tenants(self):
        type(self).other = self.world.new_tenant("other", "100")
        type(self).mine = self.renter.rent(mode="no_gpu", name="mine")
        type(self).theirs = self.other.rent(mode="no_gpu", name="theirs")

    def test_02_another_accounts_instance_is_not_there(self):
        iid = self.theirs["id"]
        for method, path in [("GET", ""), ("GET", "/events"), ("POST", "/stop"), ("POST", "/start"), ("POST", "/restart"),
                             ("POST", "/release"), ("POST", "/restore"), ("POST", "/start-quote"), ("PATCH", "")]:
            body = None if method == "GET" else {"name": "taken"} if method == "PATCH" else {}
            answer = self.renter.call(method, f"/instances/{iid}{path}", body)
            self.assertEqual(answer.status, 404, f"{method} {path}: {answer}")
        for path in (f"/statements?instance={iid}", f"/events/latest?instance={iid}"):
            self.assertEqual(self.renter.call("GET", path).status, 404)
        self.assertNotIn(iid, json.dumps(self.renter.get("/instances?limit=100")))
        self.assertNotIn(iid, json.dumps(self.renter.get("/events/latest?limit=100")))
        self.assertEqual(self.renter.cli("ssh", iid, "--", "true").returncode, 4)
        self.assertEqual(self.other.instance(iid)["observed"], "running")

    def test_03_no_subvolumes(self):
        self.assertEqual(self.inside(SUBVOLUME), "")

    def test_04_the_hosts_ports_are_closed(self):
        with socket.socket() as foreign:
            foreign.bind(("0.0.0.0", 0))
            foreign.listen()
            port = foreign.getsockname()[1]
            self.assertEqual(self.connect(self.incus.gateway, 8079), "open")  # the control: the guest API
            self.assertNotEqual(self.connect(self.incus.gateway, port), "open")
            self.assertNotEqual(self.connect(self.incus.gateway, self.server.port), "open")
            self.assertNotEqual(self.connect(self.incus.gateway, self.theirs["connection"]["port"]), "open")

    def test_05_the_other_tenants_address_is_closed(self):
        address = self.other.ssh(self.theirs, "hostname -I").split()[0]
        self.assertNotEqual(self.connect(address, 22), "open")
        self.renter.ssh(self.mine, f"ip route add {address}/32 via {self.incus.gateway}", check=False)
        self.assertNotEqual(self.connect(address, 22), "open")
        own = self.renter.ssh(self.mine, "hostname -I").split()[0]
        self.assertEqual(self.connect(own, 22), "open")  # the control

    def test_06_private_ranges_are_closed(self):
        shown = json.loads(self.host("ip", "-j", "-4", "addr"))
        addresses = [a["local"] for link in shown for a in link["addr_info"]
                     if not a["local"].startswith("127.") and a["local"] != self.incus.gateway]
        with socket.socket() as foreign:
            foreign.bind(("0.0.0.0", 0))
            foreign.listen()
            for address in [*addresses, "169.254.169.254"]:
                self.assertNotEqual(self.connect(address, foreign.getsockname()[1]), "open", address)

    def host(self, *words):
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    def test_07_tokens_do_not_cross(self):
        own = json.loads(self.renter.ssh(self.mine, "cat /var/lib/cardhour/identity.json"))["token"]
        # The instance's own token is good for nothing at the renter API.
        for method, path in [("GET", "/api/v1/me"), ("GET", "/api/v1/instances"), ("POST", "/api/v1/instances"),
                             ("POST", f"/api/v1/instances/{self.mine['id']}/stop"), ("GET", "/api/v1/admin/accounts")]:
            answer = self.server.call(method, path, {} if method == "POST" else None, token=own)
            self.assertIn(answer.status, (401, 403), f"{path}: {answer}")
        # The guest API knows the renter API not at all, and takes no renter's token.
        self.assertEqual(self.ask("GET", "/api/v1/me", self.renter.token), 404)
        self.assertIn(self.ask("POST", "/guest/shutdown", self.renter.token), (401, 403))
        self.assertEqual(self.ask("POST", "/guest/shutdown", "ch_" + unique()), 401)
        self.assertEqual(self.ask("POST", "/guest/shutdown", own[:-1] + ("0" if own[-1] != "0" else "1")), 401)

    def test_08_anothers_token_says_nothing_about_me(self):
        token = json.loads(self.other.ssh(self.theirs, "cat /var/lib/cardhour/identity.json"))["token"]
        self.assertEqual(self.ask("POST", "/guest/shutdown", token, '{"instance":"%s"}' % self.mine["id"]), 400)
        self.assertEqual(self.ask("POST", "/guest/shutdown", token, '{"kind":"reboot"}'), 204)
        self.assertEqual(self.renter.instance(self.mine["id"])["desired"], "running")
        self.assertEqual(self.other.instance(self.theirs["id"])["observed"], "running")

    def test_09_an_old_token_is_dead(self):
        own = json.loads(self.renter.ssh(self.mine, "cat /var/lib/cardhour/identity.json"))["token"]
        self.renter.purge(self.mine["id"])
        answer = self.server.call("POST", "/guest/shutdown", {"kind": "poweroff"}, token=own)
        self.assertIn(answer.status, (401, 403, 404), answer)
        self.other.purge(self.theirs["id"])

    def test_10_failures_do_not_lock_out(self):
        for _ in range(8):
            self.server.call("POST", "/api/v1/auth/login", {"login": "other", "password": "wrong-password"})
        limited = self.server.call("POST", "/api/v1/auth/login", {"login": "other", "password": "wrong-password"})
        self.assertEqual(limited.status, 429, limited)
        self.assertEqual(self.other.call("GET", "/me").status, 200, "a session goes on")
        self.assertEqual(self.world.log_in("renter", self.renter.password)[:3], "ch_", "nor is anybody else's login shut")
