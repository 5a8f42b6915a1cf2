"""A page of somebody else's, in a real Chromium, whose name leads to this machine once it has loaded.

The page is served under the name evil.test by a port of 127.0.0.1, which the service has a moment later: to the browser that is
the same origin, as it is to one whose DNS was rebound. What the page tries is in rebinding.html; what it could read it tells
its own server, on another port.
"""

import json
import shutil
import socket
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAME = "evil.test"
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
# On a busy machine a browser takes its time.
PATIENCE_S = 120


def browser():
    return next((found for found in map(shutil.which, BROWSERS) if found), None)


class Page(ThreadingHTTPServer):
    """Serves the page once, and is gone with all its connections when it is closed."""

    daemon_threads = True

    def __init__(self):
        self.sockets = []
        super().__init__(("127.0.0.1", 0), Serving)

    def get_request(self):
        connection, address = super().get_request()
        self.sockets.append(connection)
        return connection, address

    def close(self):
        self.shutdown()
        self.server_close()
        for connection in self.sockets:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def say(self, body=b"", kind="text/plain"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(body)


class Serving(Quiet):
    def do_GET(self):
        self.say((Path(__file__).parent / "rebinding.html").read_bytes(), "text/html")


class Home(ThreadingHTTPServer):
    """The page's own server: it hears when the page has loaded and what it saw, and tells it when its name has moved."""

    daemon_threads = True

    def __init__(self):
        self.loaded, self.bound, self.told = threading.Event(), threading.Event(), threading.Event()
        self.seen = None
        super().__init__(("127.0.0.1", 0), Listening)


class Listening(Quiet):
    def do_GET(self):
        self.server.bound.wait(PATIENCE_S)
        self.say()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/loaded":
            self.server.loaded.set()
        if self.path == "/seen":
            self.server.seen = json.loads(body)
            self.server.told.set()
        self.say()


def attack(program, start):
    """What the page saw of the service that `start` starts at an address; and the service."""
    page, home = Page(), Home()
    port = page.server_address[1]
    for server in (page, home):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        url = f"http://{NAME}:{port}/?home={home.server_address[1]}"
        chromium = subprocess.Popen([program, *FLAGS, f"--user-data-dir={profile}", url],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert home.loaded.wait(PATIENCE_S), "the page does not load"
            page.close()
            service = start(f"127.0.0.1:{port}")
            home.bound.set()
            assert home.told.wait(PATIENCE_S), "the page does not say what it saw"
            return home.seen, service
        finally:
            chromium.terminate()
            chromium.wait(20)
            home.shutdown()
            home.server_close()


def check(seen, secrets):
    """Nothing of what the page saw is of the memory, and whatever answered it refused; how often that was."""
    rebound = [one for one in seen if one["how"].startswith(("rebound GET", "rebound POST", "rebound PUT", "rebound DELETE"))]
    assert len(rebound) > 15, seen
    for one in seen:
        body = one.get("body", "")
        assert not any(secret in body for secret in secrets), one
        assert "opened" not in one, one
    for one in rebound:
        if one["how"] == "rebound GET /health/ready":
            # Whoever supervises a service may ask this under any name.
            assert set(json.loads(one["body"])) == {"is_ready", "reasons"}, one
            continue
        # To the browser it is the page's own origin: only the service stands between.
        assert one.get("status") == 403 and "foreign-request" in one["body"], one
    for one in seen:
        if one["how"].startswith("cross-origin"):
            assert not one.get("body"), one
    return len(seen)
