"""Plays QTI 3 items in a browser with Cito's qti-components, which runs their own rules."""

import json
import queue
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
COMPONENTS = HERE / "node_modules" / "@citolab" / "qti-components" / "cdn" / "index.js"
PAGE = HERE / "qti_player.html"
# Root has no sandbox, as in a container; the player is at this machine.
BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-proxy-server"]
SECONDS = 120


def played(items):
    """Answer items, each given as its XML with the answers to try, and return what came of it."""
    asked = [{"xml": xml, "answers": answers} for xml, answers in items]
    text = json.dumps(asked).replace("<", "\\u003c")
    pages = {
        "/": ("text/html; charset=utf-8", PAGE.read_text().replace("ASKED", text).encode()),
        "/components.js": ("text/javascript", COMPONENTS.read_bytes()),
    }
    found = queue.Queue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(pages, found))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return visited(f"http://127.0.0.1:{server.server_port}/", found)
    finally:
        server.shutdown()
        server.server_close()


def visited(address, found):
    with TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # with a port for its tools it stays open until what it found has come
        options = ["--remote-debugging-port=0", f"--user-data-dir={home}"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([*BROWSER, *options, address], **silent) as browser:
            try:
                return json.loads(found.get(timeout=SECONDS))
            finally:
                browser.terminate()


def handler(pages, found):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            kind, body = pages.get(self.path, ("text/plain", b""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            found.put(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            del arguments

    return Handler
