#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""http_server.py [LOG]: a server for tests, which does what the path says.

Prints its port.  A line of LOG for each request: path, headers, and the body
(decompressed) in JSON.

	/echo		the body back
	/auth		what the header Authorization holds
	/status/N	that status; 429 and 503 with Retry-After: 0
	/after/N/S	503 with Retry-After: S, N times, then 200
	/takes		200 and nothing
	/seen/PATH	how often PATH was asked for
	/rejects/N	an answer of OpenTelemetry that N profiles are not taken
	/slow		never an answer
	/huge		endless zeros
	/drop		closes the connection
	/garbage	no HTTP
	/?database=A_B	as /A/B, with empty answers
"""
import gzip
import http.server
import json
import sys
import time

log = open(sys.argv[1], "a") if len(sys.argv) > 1 else None
times = {}
seen = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if log:
            log.write(json.dumps({
                "path": self.path, "headers": dict(self.headers),
                "body": body.decode("latin-1")}) + "\n")
            log.flush()
        seen[self.path] = seen.get(self.path, 0) + 1
        what = self.path.split("?")[0].strip("/").split("/")
        if self.path.startswith("/?database="):
            what = self.path[11:].split("&")[0].split("_")
        if what[0] == "echo":
            self.send(200, body)
        elif what[0] == "auth":
            self.send(200, self.headers.get("Authorization", "").encode())
        elif what[0] == "status":
            self.send(int(what[1]), b"refused: \x1b[31mred\n",
                      Retry_After="0")
        elif what[0] == "after":
            times[self.path] = times.get(self.path, 0) + 1
            if times[self.path] <= int(what[1]):
                self.send(503, Retry_After=what[2])
            else:
                self.send(200, b"" if "?" in self.path else
                          b"%d" % times[self.path])
        elif what[0] == "rejects":
            text = b"no \x1b[31mroom"
            part = b"\x08" + bytes([int(what[1])]) + b"\x12" + \
                bytes([len(text)]) + text
            self.send(200, b"\x0a" + bytes([len(part)]) + part)
        elif what[0] == "seen":
            self.send(200, b"%d" % seen.get(self.path[5:], 0))
        elif what[0] == "takes":
            self.send(200)
        elif what[0] == "slow":
            time.sleep(3600)
        elif what[0] == "huge":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 16))
        elif what[0] == "garbage":
            self.wfile.write(b"\x00\xff" * 500 + b"\r\n\r\n")
            self.close_connection = True
        else:
            self.close_connection = True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda *_: None
print(server.server_address[1], flush=True)
server.serve_forever()
