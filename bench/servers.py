"""Whole servers for the benchmarks: started, asked and looked at from outside. Every port is free, and
every folder is below the scratch folder that is given."""
import contextlib
import http.client
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def populated(build, scratch, accounts, instances, cards, *words):
    """`cardhour-bench serve`, ready. Yields the process and what it printed: url and token."""
    env = dict(os.environ, CARDHOUR_BENCH_DIR=str(scratch))
    process = subprocess.Popen(
        [build / "bin/cardhour-bench", "serve", "--accounts", str(accounts), "--instances-per-account",
         str(instances), "--cards", str(cards), *words], stdout=subprocess.PIPE, text=True, env=env)
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"cardhour-bench serve ended with {process.wait()}")
        yield process, json.loads(line)
    finally:
        end(process)
        process.stdout.close()


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(url, token, connections=64, seconds=8):
    """Requests a second, p99 in ms, and answers that were no 2xx or errors of the connection."""
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", url]
    if token:
        words[1:1] = ["-H", f"Authorization: Bearer {token}"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))
    amount, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    bad = sum(int(n) for n in re.findall(r"Non-2xx or 3xx responses: (\d+)", said))
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    bad += sum(int(n) for n in errors.groups()) if errors else 0
    return rate, float(amount) * {"us": 0.001, "ms": 1, "s": 1000}[unit], bad


def fetch(port, method, path, body=None, token=None, key=None, timeout=60):
    """Status and body of one request."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if key:
        headers["Idempotency-Key"] = key
    with contextlib.closing(line):
        line.request(method, "/api/v1" + path, None if body is None else json.dumps(body), headers)
        reply = line.getresponse()
        return reply.status, reply.read()


def call(port, *words, **more):
    """The same, with the body as JSON."""
    status, text = fetch(port, *words, **more)
    return status, json.loads(text) if text else None


def wait_until_offered(port, token, seconds=30):
    """The first look at hosts and cards is over."""
    deadline = time.monotonic() + seconds
    while not (call(port, "GET", "/offers", token=token)[1]["items"]
               and call(port, "GET", "/images", token=token)[0] == 200):
        if time.monotonic() > deadline:
            raise RuntimeError("the server sees no cards")
        time.sleep(0.1)


@contextlib.contextmanager
def postgres(scratch):
    """A private PostgreSQL on a unix socket in the scratch folder, filled for pgbench. Yields the words
    before pgbench's options; None when PostgreSQL is not installed."""
    places = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pgbench"))
    if not places:
        yield None
        return
    programs = places[-1].parent
    home = scratch / "pg"
    home.mkdir()
    if os.getuid() == 0:  # it does not run as root
        owner = pwd.getpwnam("postgres")
        os.chown(home, owner.pw_uid, owner.pw_gid)
        become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    else:
        become = []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True, "cwd": home}
    subprocess.run([*become, programs / "initdb", "-D", home / "data", "-U", "bench", "--no-sync"], **quiet)
    server = subprocess.Popen([*become, programs / "postgres", "-D", home / "data", "-k", home,
                               "-c", "listen_addresses="], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, cwd=home)
    try:
        words = [*become, programs / "pgbench", "-h", home, "-U", "bench", "postgres"]
        deadline = time.monotonic() + 30
        while subprocess.run([*become, programs / "pg_isready", "-q", "-h", home], check=False).returncode != 0:
            if time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.1)
        subprocess.run([*words, "-i", "-q", "-s", "10"], **quiet)
        yield words
    finally:
        server.send_signal(signal.SIGINT)  # at once, and in order
        server.wait(30)
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def nginx(scratch, body):
    """nginx with one static file as large as an answer. Yields its URL; None when it is not installed."""
    if shutil.which("nginx") is None:
        yield None
        return
    home, port = scratch / "nginx", free_port()
    home.mkdir()
    home.chmod(0o755)
    (home / "page.json").write_bytes(body)
    (home / "nginx.conf").write_text(
        f"worker_processes 2; daemon off; pid {home}/pid; error_log /dev/null; events {{}}\n"
        f"http {{ access_log off; keepalive_requests 100000000; client_body_temp_path {home}/b;\n"
        f"proxy_temp_path {home}/p; fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;\n"
        f"server {{ listen 127.0.0.1:{port}; root {home}; }} }}\n")
    server = subprocess.Popen(["nginx", "-c", home / "nginx.conf", "-p", home], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/page.json"
    finally:
        end(server)
