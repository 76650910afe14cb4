"""What is wrong is refused by name, with the status and exit code that the table says."""
import json
import socket

from story import Story
from world import unique, wait_until

MIB = 1024 * 1024


class BadInput(Story):
    def refused(self, answer, status, code=None):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers.get("Content-Type"), "application/problem+json")
        if code:
            self.assertEqual(answer.json["code"], code, answer)
        self.assertNotIn("terminate", answer.body)

    def rent(self, body):
        return self.renter.call("POST", "/instances", body)

    def test_rent_bodies(self):
        table = [
            ({"gpu_model": "4091"}, "invalid_argument"),
            ({"gpu_model": "../../etc/passwd"}, "invalid_argument"),
            ({"gpu_model": "4090\u0000"}, "invalid_argument"),
            ({"gpu_model": "4090", "gpu_count": 0}, "invalid_argument"),
            ({"gpu_model": "4090", "gpu_count": 1000}, "invalid_argument"),
            ({"gpu_model": "4090", "gpu_count": -1}, "invalid_argument"),
            ({"gpu_model": "4090", "gpu_count": 1.5}, "invalid_argument"),
            ({"gpu_model": "4090", "gpu_count": "2"}, "invalid_argument"),
            ({"gpu_model": "4090", "gpu_count": 10**30}, "invalid_argument"),
            ({"gpu_model": "4090", "data_disk_bytes": 2**63 - 1}, "invalid_argument"),
            ({"gpu_model": "4090", "data_disk_bytes": -1}, "invalid_argument"),
            ({"gpu_model": "4090", "data_disk_bytes": 1}, "invalid_argument"),
            ({"gpu_model": "4090", "name": "a\nb"}, "invalid_argument"),
            ({"gpu_model": "4090", "name": "\u001b[31mred"}, "invalid_argument"),
            ({"gpu_model": "4090", "name": "x" * 200}, "invalid_argument"),
            ({"gpu_model": "4090", "image": "../base"}, "invalid_argument"),
            ({"gpu_model": "4090", "image": "no-such"}, "invalid_argument"),
            ({"gpu_model": "4090", "purpose": "x" * 501}, "invalid_argument"),
            ({"gpu_model": "4090", "mode": "free"}, "invalid_argument"),
            ({"gpu_model": "4090", "mode": "no_gpu"}, "invalid_argument"),
            ({"gpu_model": "4090", "unknown": 1}, "invalid_argument"),
            ([], "invalid_argument"),
            ("4090", "invalid_argument"),
        ]
        before = len(self.renter.get("/instances?limit=100")["items"])
        for body, code in table:
            with self.subTest(body=str(body)[:80]):
                self.refused(self.rent(json.dumps(body)), 400, code)
        self.assertEqual(len(self.renter.get("/instances?limit=100")["items"]), before)

    def test_malformed_json(self):
        for body in ("", "{", "nonsense", '{"gpu_model": "4090"', "[" * 100_000, '{"a":' * 5000, "\x00",
                     b'{"gpu_model": "\xff\xfe"}', '{"gpu_model": "4090"} {}', "NaN"):
            with self.subTest(body=str(body)[:30]):
                self.refused(self.rent(body), 400, "invalid_argument")

    def test_oversize_body(self):
        self.refused(self.rent(json.dumps({"purpose": "x" * MIB})), 413)

    def test_path_tricks(self):
        for path in ("/instances/../admin/accounts", "/instances/%2e%2e%2fadmin", "/instances/i0000%00",
                     "/instances/" + "a" * 3000, "/instances/%ff", "/instances/i'; DROP TABLE instances;--"
                     .replace(" ", "%20"), "/instances/..", "/instances//stop"):
            with self.subTest(path=path[:40]):
                answer = self.renter.call("GET", path)
                self.assertIn(answer.status, (400, 403, 404, 405, 414), answer)
        self.assertEqual(self.renter.call("GET", "/instances").status, 200)

    def test_wrong_query(self):
        for query in ("limit=0", "limit=101", "limit=x", "limit=-1", "limit=99999999999999999999"):
            self.assertEqual(self.renter.call("GET", "/instances?" + query).status, 400, query)
        for query in ("from=yesterday", "to=2026-13-01T00:00:00Z", "explain=maybe"):
            self.assertEqual(self.renter.call("GET", "/statements?" + query).status, 400, query)

    def test_tokens(self):
        for token in (None, "", "x", "ch_t0_0", "ch_" + "a" * 500, self.renter.token[:-1] + "!", self.renter.token + "x"):
            answer = self.server.call("GET", "/api/v1/me", token=token)
            self.refused(answer, 401, "unauthenticated")
        passing = self.renter.post("/tokens", {"name": "short", "lifetime_ms": 1000})
        wait_until("the token expires",
                   lambda: self.server.call("GET", "/api/v1/me", token=passing["token"]).status == 401, 5)
        narrow = self.renter.post("/tokens", {"name": "reader", "scopes": "read"})
        answer = self.server.call("POST", "/api/v1/instances", {"gpu_model": "4090"}, token=narrow["token"])
        self.refused(answer, 403, "forbidden")
        self.refused(self.renter.call("GET", "/admin/accounts"), 403, "forbidden")
        self.refused(self.renter.call("POST", "/admin/topups", {"account": "renter", "amount": "5"}), 403)

    def test_idempotency(self):
        key = {"Idempotency-Key": unique()}
        first = self.operator.call("POST", "/admin/topups", {"account": "renter", "amount": "1"}, headers=key)
        again = self.operator.call("POST", "/admin/topups", {"account": "renter", "amount": "1"}, headers=key)
        self.assertEqual((first.status, again.status), (201, 201))
        self.assertEqual(first.json["id"], again.json["id"])
        other = self.operator.call("POST", "/admin/topups", {"account": "renter", "amount": "2"}, headers=key)
        self.refused(other, 409, "idempotency_mismatch")

    def test_topup_amounts(self):
        for amount in ("-5", "0", "1e3", "0.0000001", "999999999999999", "abc", ""):
            answer = self.operator.call("POST", "/admin/topups", {"account": "renter", "amount": amount})
            self.assertEqual(answer.status, 400, f"{amount}: {answer}")

    def test_too_little_balance(self):
        poor = self.world.new_tenant("poor-" + unique()[:6], "0.50")
        done = poor.cli("rent", "--gpu", "4090", "--yes")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("1.48", done.stderr, "it says how much is missing")
        self.refused(poor.call("POST", "/instances", {"gpu_model": "4090"}), 402, "insufficient_balance")

    def test_no_capacity(self):
        done = self.renter.cli("rent", "--gpu", "h200", "--yes")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.refused(self.rent({"gpu_model": "4090", "gpu_count": 9}), 403, "quota_exceeded")

    def test_exit_codes(self):
        for words, code in [
            (("rent", "--gpu", "nonsense", "--yes"), 2),
            (("rent", "--gpu", "4090", "-n", "0", "--yes"), 2),
            (("rent", "--gpu", "4090", "-n", "1000", "--yes"), 2),
            (("rent", "--gpu", "4090", "--data-disk", "lots", "--yes"), 2),
            (("rent", "--gpu", "4090", "--data-disk", "99999999999G", "--yes"), 2),
            (("rent", "--gpu", "4090"), 2),  # nobody to ask
            (("nonsense",), 2),
            (("rent", "--nonsense"), 2),
            (("show", "i-nothing"), 4),
            (("stop", "no such"), 4),
            (("admin", "user", "ls"), 3),
            (("--server", "http://127.0.0.1:1", "offers"), 3),  # not logged in there
            (("login", "http://127.0.0.1:1", "--login", "x", "--password-stdin"), 9),
        ]:
            with self.subTest(words=words):
                done = self.renter.cli(*words)
                self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(self.renter.cli("show", "../../me").returncode, (2, 4))

    def test_control_characters_do_not_reach_the_terminal(self):
        done = self.renter.cli("show", "\x1b[2J")
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_nonsense_on_the_socket(self):
        for sent in (b"\x00" * 64, b"\x16\x03\x01\x02\x00" + b"A" * 200, b"GET /\r\n\r\n", b"G" * 40_000,
                     b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 5000 + b"\r\n",
                     b"POST /api/v1/auth/login HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                     b"POST /api/v1/auth/login HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            with socket.create_connection(("127.0.0.1", self.server.port), 5) as line:
                line.settimeout(20)
                try:
                    line.sendall(sent)
                    line.shutdown(socket.SHUT_WR)
                    while line.recv(4096):
                        pass
                except (ConnectionResetError, BrokenPipeError):
                    pass
        with socket.create_connection(("127.0.0.1", self.server.port), 5) as half:
            half.sendall(b"GET /healthz HT")  # left open meanwhile
            self.assertEqual(self.server.call("GET", "/healthz").status, 200)
