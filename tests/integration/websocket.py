"""A small WebSocket client (RFC 6455), enough for the terminal: blocking, with a deadline."""
import base64
import os
import socket
import struct
import time

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Refused(Exception):
    """The server answered the upgrade with something else."""

    def __init__(self, status, head):
        super().__init__(f"{status}: {head}")
        self.status = status


class WebSocket:
    def __init__(self, port, path, headers=None, seconds=30):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.seconds = seconds
        self.inbox = b""
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: cardhour.terminal.v1",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.inbox:
            self._receive()
        head, self.inbox = self.inbox.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        if status != 101:
            raise Refused(status, head.decode(errors="replace"))

    def _receive(self):
        got = self.sock.recv(1 << 16)
        if not got:
            raise EOFError("the connection ended")
        self.inbox += got

    def _take(self, count):
        while len(self.inbox) < count:
            self._receive()
        out, self.inbox = self.inbox[:count], self.inbox[count:]
        return out

    def send(self, opcode, data):
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        else:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        self.sock.sendall(head + mask + masked)

    def next(self):
        """The next frame that matters: (opcode, data). Pings are answered."""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            data = self._take(size)
            opcode = first & 0x0F
            if opcode == PING:
                self.send(PONG, data)
            elif opcode != PONG:
                return opcode, data

    def set_deadline(self, at):
        self.sock.settimeout(max(0.01, at - time.monotonic()))

    def drop(self):
        """As when a laptop is closed: nothing is said."""
        self.sock.close()
