#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""store_proxy.py PORT SEED RESTART: between a client and a server at PORT.

Prints its own port.  What becomes of a request is drawn by SEED: most pass; of
others the connection ends before, in the middle or behind it (the server has
then done it), the server is killed in the middle (RESTART is run), or the
answer is 503 or late.  "faults" of /faults says how many of each.
"""
import collections
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import store_http

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


class Handler(store_http.Handler):
    def do_GET(self):
        self.send(200, json.dumps(faults).encode())

    def do_POST(self):
        body = self.body()
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
                status, answer = store_http.forward(
                    port, self.path, self.headers, body)
                if kind != "behind":
                    self.send(status, answer)


store_http.serve(Handler)
