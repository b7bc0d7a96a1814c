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
import http.client
import http.server
import sys
import threading
import time

port = int(sys.argv[1])
lock = threading.Lock()
kept = []
mode = "pass"


def forward(path, headers, body):
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    server.request("POST", path, body, headers)
    answer = server.getresponse()
    return answer.status, answer.read()


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
        global mode
        bad = 0
        if self.path == "/reverse":
            while kept:
                # It may have too many parts, for a while.
                for tries in range(100):
                    status, text = forward(*kept[-1])
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
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {k: v for k, v in self.headers.items() if k != "Host"}
        with lock:
            if mode != "pass" and b"SELECT DISTINCT batch" in body:
                self.send(200, b"")
            elif mode == "hold" and "INSERT" in self.path:
                kept.append((self.path, headers, body))
                self.send(200, b"")
            else:
                self.send(*forward(self.path, headers, body))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
