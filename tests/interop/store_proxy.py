#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""store_proxy.py PORT SEED RESTART: between a client and a server at PORT.

Prints its own port.  What becomes of a request is drawn by SEED: most pass; of
others the connection ends before, in the middle or behind it (the server has
then done it), the server is killed in the middle (RESTART is run), or the
answer is 503 or late.  "faults" of /faults says how many of each.

With SEED "points" the server is killed when it has no, a sixth, ... and all
bytes of an INSERT, once each for stacks, samples and accounts, in this order,
and once in a batch.
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

port, restart = int(sys.argv[1]), sys.argv[3]
points = [(table, sixths / 6) for table in ("stacks", "samples", "accounts")
          for sixths in range(7)] if sys.argv[2] == "points" else None
has_killed = []   # in this batch
chance = random.Random(None if points else int(sys.argv[2]))
faults = collections.Counter()
lock = threading.Lock()
KINDS = ["before", "middle", "behind", "503", "late", "kill"]


def part(head, body, share):
    """The begin of a request, to the server."""
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(head + body[:int(len(body) * share)])
        time.sleep(0.05)


def draw(path):
    """What becomes of a request, and how much of it is sent before."""
    if points is not None:
        table = path.partition("INSERT%20INTO%20")[2].partition("%20")[0]
        if points and table == points[0][0] and not has_killed:
            has_killed.append(table)
            return "kill", points.pop(0)[1]
        if table == "accounts":
            has_killed.clear()
    elif chance.random() < 0.25:
        return KINDS[(sum(faults.values()) - faults["pass"]) % 6], 0.5
    return "pass", 1


class Handler(store_http.Handler):
    def do_GET(self):
        self.send(200, json.dumps(faults).encode())

    def do_POST(self):
        body = self.body()
        with lock:
            kind, share = draw(self.path)
            faults[kind] += 1
            self.close_connection = kind in ("before", "middle", "behind",
                                             "kill")
            if kind in ("middle", "kill"):
                head = "POST %s HTTP/1.1\r\n%s\r\n" % (self.path, "".join(
                    "%s: %s\r\n" % item for item in self.headers.items()))
                part(head.encode(), body, share)
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
