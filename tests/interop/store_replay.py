#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""store_replay.py PORT: between a client and a server at PORT.

Prints its own port.  A GET of these changes what becomes of requests:

	/pass		they are forwarded
	/hold		inserts are kept and said to be done, and the server is
			said to have nothing of any recording
	/forget		forwarded, but the same is said
	/reverse	what was kept is sent, the last first
"""
import sys
import threading
import time

import store_http

port = int(sys.argv[1])
lock = threading.Lock()
kept = []
mode = "pass"


class Handler(store_http.Handler):
    def do_GET(self):
        global mode
        bad = 0
        if self.path == "/reverse":
            while kept:
                # It may have too many parts, for a while.
                for tries in range(100):
                    status, text = store_http.forward(port, *kept[-1])
                    if status == 200:
                        break
                    time.sleep(0.3)
                else:
                    bad += 1
                    sys.stderr.write(repr(text))
                kept.pop()
        else:
            mode = self.path[1:]
        self.send(500 if bad else 200, b"%d" % bad)

    def do_POST(self):
        body = self.body()
        with lock:
            if mode != "pass" and b"SELECT DISTINCT batch" in body:
                self.send(200, b"")
            elif mode == "hold" and "INSERT" in self.path:
                kept.append((self.path, self.headers, body))
                self.send(200, b"")
            else:
                self.send(*store_http.forward(port, self.path,
                                              self.headers, body))


store_http.serve(Handler)
