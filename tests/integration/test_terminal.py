"""The web terminal on real instances, as a browser uses it: session, ticket, WebSocket."""
import hashlib
import json
import pathlib
import random
import re
import time

from story import Story
from websocket import BINARY, CLOSE, TEXT, Refused, WebSocket
from world import unique, wait_until


class Browser:
    """A login of the console: a cookie and a header secret."""

    def __init__(self, server, login, password):
        self.server = server
        answer = server.call("POST", "/api/v1/auth/browser-login", {"login": login, "password": password})
        assert answer.status == 201, answer
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        self.secret = answer.json["header_secret"]

    def call(self, method, path, body=None):
        headers = {"Cookie": self.cookie, "Cardhour-Session": self.secret, "Idempotency-Key": unique()}
        return self.server.call(method, "/api/v1" + path, body, headers=headers)

    def ticket(self):
        return self.call("POST", "/auth/tickets").json["ticket"]

    def terminal(self, iid, query="", headers=None, size=(200, 50)):
        path = f"/api/v1/instances/{iid}/terminal?ticket={self.ticket()}&cols={size[0]}&rows={size[1]}{query}"
        return Terminal(WebSocket(self.server.port, path, headers))


class Terminal:
    """What xterm.js would hold: all output so far, and what was said about it."""

    def __init__(self, socket):
        self.socket = socket
        self.output = bytearray()
        self.count = 0
        self.exit = None
        self.close_code = None
        opcode, data = socket.next()
        if opcode == CLOSE:
            self.attached = None
            self.close_code = int.from_bytes(data[:2], "big")
        else:
            self.attached = json.loads(data)
            self.offset = self.attached["offset"]

    def read(self):
        opcode, data = self.socket.next()
        if opcode == BINARY:
            self.output += data
            self.count += len(data)
            if len(self.output) > 8_000_000:
                del self.output[:4_000_000]
        elif opcode == TEXT:
            self.exit = json.loads(data)
        elif opcode == CLOSE:
            self.close_code = int.from_bytes(data[:2], "big")

    def until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            if self.close_code is not None:
                raise AssertionError(f"closed with {self.close_code}, {self.exit}: {self.output[-300:]}")
            self.socket.set_deadline(end)
            self.read()

    def sees(self, wanted, seconds=30):
        self.until(lambda: wanted in self.output, seconds)

    def closed(self, seconds=30):
        self.until(lambda: self.close_code is not None, seconds)
        return self.close_code

    def type(self, text):
        self.socket.set_deadline(time.monotonic() + 60)
        self.socket.send(BINARY, text.encode() if isinstance(text, str) else text)

    def say(self, **word):
        self.socket.set_deadline(time.monotonic() + 30)
        self.socket.send(TEXT, json.dumps(word).encode())

    def run(self, line):
        """The output of one line."""
        # Typed in two halves, so that the echo of what is typed is not taken for output.
        begin, end = unique()[:12], unique()[:12]
        self.type(f"echo {begin[:6]}''{begin[6:]}; {line}; echo {end[:6]}''{end[6:]}\r")
        self.sees(end.encode() + b"\r\n")
        between = self.output.split(begin.encode() + b"\r\n")[1].split(end.encode())[0]
        return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]|\r", "", between.decode(errors="replace")).strip()


class WebTerminal(Story):
    iid = None
    browser = None

    def terminals(self):
        return self.browser.call("GET", f"/instances/{self.iid}/terminals").json["items"]

    def none_left(self):
        wait_until("the terminals ended", lambda: not self.terminals(), 20)

    def test_01_a_browser_gets_a_login_shell(self):
        cls = type(self)
        cls.iid = self.renter.rent(mode="no_gpu")["id"]
        cls.browser = Browser(self.world.server, self.renter.login, self.renter.password)
        terminal = self.browser.terminal(self.iid, size=(132, 43))
        self.assertEqual(terminal.run("stty size"), "43 132")
        self.assertEqual(terminal.run("id -u; pwd; echo $TERM; echo $0; hostname").split(),
                         ["0", "/root", "xterm-256color", "/bin/bash", self.iid])
        self.assertEqual(terminal.run("shopt -q login_shell && echo login"), "login")
        self.assertEqual(terminal.run("printf '\\344\\275\\240\\345\\245\\275'"), "你好")
        terminal.say(type="resize", cols=90, rows=20)
        wait_until("the new size is there", lambda: terminal.run("stty size") == "20 90", 10)
        terminal.type("exit 7\r")
        self.assertEqual(terminal.closed(), 1000)
        self.assertEqual(terminal.exit["code"], 7)
        self.none_left()
        kinds = [event["kind"] for event in self.renter.get(f"/instances/{self.iid}/events?after=0&limit=100")["items"]]
        self.assertEqual(kinds.count("terminal.opened"), 1)
        wait_until("its end is written down", lambda: "terminal.closed" in [
            event["kind"] for event in self.renter.get(f"/instances/{self.iid}/events?limit=100")["items"]], 10)

    def test_02_it_goes_on_after_a_lost_connection(self):
        terminal = self.browser.terminal(self.iid)
        terminal.run("export KEPT=yes")
        terminal.type("sleep 0.3; echo while-away\r")
        terminal.sees(b"while-away\r\n")  # the echo of the line
        had, name = terminal.count, terminal.attached["terminal"]
        terminal.socket.drop()
        wait_until("it is noticed", lambda: not self.terminals()[0]["attached"], 20)
        again = self.browser.terminal(self.iid, f"&terminal={name}&from={had}")
        self.assertEqual(again.offset, had)
        again.sees(b"while-away")
        self.assertEqual(again.run("echo $KEPT"), "yes")
        again.say(type="close")
        self.assertEqual(again.closed(), 1000)
        self.none_left()

    def test_03_a_paste_of_a_megabyte_arrives_whole(self):
        terminal = self.browser.terminal(self.iid)
        terminal.run("stty -echo")
        text = "".join(f"{number:07d} {random.getrandbits(200):050x}\n" for number in range(17_500))
        self.assertGreater(len(text), 1_000_000)
        terminal.type("cat > /root/pasted\r")
        began = time.monotonic()
        for at in range(0, len(text), 60_000):
            terminal.type(text[at:at + 60_000])
        terminal.type("\x04")
        digest = terminal.run("sha256sum /root/pasted")
        took = time.monotonic() - began
        self.assertEqual(digest.split()[0], hashlib.sha256(text.encode()).hexdigest())
        print(f"        {len(text)} bytes pasted in {took:.2f} s", flush=True)
        terminal.say(type="close")
        terminal.closed()

    def resident(self):
        status = pathlib.Path(f"/proc/{self.world.server.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024

    def test_04_endless_output_waits_for_its_reader(self):
        terminal = self.browser.terminal(self.iid)
        terminal.run("true")
        before = self.resident()
        terminal.type("yes 0123456789\r")
        had = None

        def stands_still():
            nonlocal had
            last, had = had, self.terminals()[0]["output_bytes"]
            return had > 100_000 and had == last

        wait_until("nothing more is read", stands_still, 30, step=0.3)
        self.assertLess(self.resident() - before, 16 << 20, "it grows")
        # And all of it comes when it is read: 20 MB without a gap.
        began = time.monotonic()
        terminal.until(lambda: terminal.count > 20_000_000, 60)
        print(f"        {terminal.count / (time.monotonic() - began) / 1e6:.0f} MB/s of output", flush=True)
        middle = bytes(terminal.output[-2_000_000:-1000])
        self.assertEqual(set(middle.split(b"\r\n")[1:-1]), {b"0123456789"})
        self.assertLess(self.resident() - before, 16 << 20, "it grows")
        terminal.type("\x03")
        self.assertEqual(terminal.run("echo still here"), "still here")
        terminal.say(type="close")
        terminal.closed()
        self.none_left()

    def test_05_several_at_once_and_no_more(self):
        open_ones = [self.browser.terminal(self.iid) for _ in range(4)]
        for number, terminal in enumerate(open_ones):
            terminal.run(f"cd /tmp; mkdir -p t{number}; cd t{number}")
        self.assertEqual([terminal.run("pwd") for terminal in open_ones], [f"/tmp/t{n}" for n in range(4)])
        self.assertEqual(self.browser.terminal(self.iid).close_code, 1013)
        for terminal in open_ones:
            terminal.say(type="close")
            terminal.closed()
        self.none_left()

    def test_06_what_runs_in_it_ends_with_it(self):
        terminal = self.browser.terminal(self.iid)
        seconds = random.randrange(100_000, 1_000_000)
        terminal.type(f"sleep {seconds}\r")
        view = self.renter.instance(self.iid)
        count = f"pgrep -fc '^sleep {seconds}' || true"
        wait_until("it runs", lambda: self.renter.ssh(view, count).strip() == "1", 15)
        terminal.say(type="close")
        terminal.closed()
        wait_until("it ended", lambda: self.renter.ssh(view, count).strip() == "0", 15)

    def test_07_nobody_else_opens_one(self):
        path = f"/api/v1/instances/{self.iid}/terminal"
        port = self.world.server.port
        for query, headers in (("", {}), ("", {"Cookie": self.browser.cookie}), ("?ticket=nonsense", {})):
            with self.assertRaises(Refused) as refused:
                WebSocket(port, path + query, headers)
            self.assertEqual(refused.exception.status, 401, (query, headers))
        for origin in ("http://evil.example", f"http://127.0.0.1:{port + 1}", "null"):
            with self.assertRaises(Refused) as refused:
                self.browser.terminal(self.iid, headers={"Origin": origin})
            self.assertEqual(refused.exception.status, 403, origin)
        spent = self.browser.ticket()
        first = WebSocket(port, f"{path}?ticket={spent}", {"Origin": f"http://127.0.0.1:{port}"})
        with self.assertRaises(Refused) as refused:
            WebSocket(port, f"{path}?ticket={spent}")
        self.assertEqual(refused.exception.status, 401)
        first.drop()
        other = self.world.new_tenant("terminal-other", None)
        stranger = Browser(self.world.server, other.login, other.password)
        self.assertEqual(stranger.terminal(self.iid).close_code, 4404)

    def test_08_logout_ends_it(self):
        leaving = Browser(self.world.server, self.renter.login, self.renter.password)
        terminal = leaving.terminal(self.iid)
        terminal.run("true")
        self.assertEqual(leaving.call("POST", "/auth/logout").status, 204)
        self.assertEqual(terminal.closed(10), 4401)

    def test_09_a_stop_ends_it(self):
        terminal = self.browser.terminal(self.iid)
        terminal.run("true")
        self.renter.move(self.iid, "stop", "stopped")
        self.assertIn(terminal.closed(20), (1000, 4409))
        self.assertEqual(self.browser.terminal(self.iid).close_code, 4409)
        self.renter.purge(self.iid)

    def test_10_the_server_says_goodbye(self):
        view = self.renter.rent(mode="no_gpu")
        terminal = self.browser.terminal(view["id"])
        terminal.run("true")
        self.world.server.stop()
        self.assertIn(terminal.closed(10), (1000, 1001))
        self.assertEqual(terminal.exit["reason"], "the server stops")
        self.world.server.start()
        self.renter.purge(view["id"])

