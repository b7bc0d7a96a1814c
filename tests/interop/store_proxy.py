#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""store_proxy.py PORT SEED RESTART: between a client and a server at PORT.

Prints its own port.  What becomes of a request is drawn by SEED: most pass; of
others the connection ends before, in the middle or behind it (the server has
then done it), the server is killed in the middle (RESTART is run), or the
answer is 503 or late.  "faults" of /faults says how many of each.
"""
import collections
import http.client
import http.server
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

port, chance = int(sys.argv[1]), random.Random(int(sys.argv[2]))
restart = sys.argv[3]
faults = collections.Counter()
lock = threading.Lock()
KINDS = ["before", "middle", "behind", "503", "late", "kill"]


def half(head, body):
    """Half of a request, to the server."""
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(head + body[:len(body) // 2])
        time.sleep(0.05)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(200, json.dumps(faults).encode())

    def forward(self, body):
        server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k != "Host"}
        server.request("POST", self.path, body, headers)
        answer = server.getresponse()
        return answer.status, answer.read()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with lock:
            kind = "pass"
            if chance.random() < 0.25:
                kind = KINDS[(sum(faults.values()) - faults[kind]) % 6]
            faults[kind] += 1
            self.close_connection = kind in ("before", "middle", "behind",
                                             "kill")
            if kind in ("middle", "kill"):
                head = "POST %s HTTP/1.1\r\n%s\r\n" % (self.path, "".join(
                    "%s: %s\r\n" % item for item in self.headers.items()))
                half(head.encode(), body)
            if kind == "kill":
                with open("server.pid") as file:
                    os.kill(int(file.read()), signal.SIGKILL)
                subprocess.run(["sh", restart], check=True)
            if kind == "503":
                self.send(503, b"later")
            if kind == "late":
                time.sleep(0.3)
            if kind in ("pass", "late", "behind"):
                status, answer = self.forward(body)
                if kind != "behind":
                    self.send(status, answer)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda *_: None
print(server.server_address[1], flush=True)
server.serve_forever()
