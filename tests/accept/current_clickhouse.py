#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""current_clickhouse.py PORT: the HTTP interface of a current ClickHouse.

Debian's server is of 2019.  The engine of today comes as a Python module,
chdb, without a server; this gives it one: it runs each query of a POST, reads
the rows of an INSERT by the engine's own formats, and answers with the
engine's bytes or its error.  Two threads a query, tables below ./current.
"""
import base64
import gzip
import http.server
import os
import re
import sys
import urllib.parse

from chdb import session

WRITER = base64.b64encode(b"writer:open sesame").decode()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(200, b"Ok.\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        query = urllib.parse.urlparse(self.path).query
        given = dict(urllib.parse.parse_qsl(query))
        user = self.headers.get("Authorization", "Basic " + WRITER)
        if user != "Basic " + WRITER:
            self.send(403, b"Code: 516. DB::Exception: wrong password")
            return
        try:
            self.send(200, run(given, body))
        except RuntimeError as error:
            self.send(500, str(error).encode())


def run(given, body):
    """What a query answers; rows behind an INSERT go through a file."""
    engine.query("USE " + given.get("database", "default"))
    insert = re.fullmatch(r"(INSERT INTO .*) FORMAT (\w+)",
                          given.get("query", ""))
    if insert is None:
        return engine.query(body.decode(), "TabSeparated").bytes()
    with open("rows", "wb") as rows:
        rows.write(body)
    return engine.query("%s FROM INFILE '%s/rows' FORMAT %s" % (
        insert[1], os.getcwd(), insert[2])).bytes()


engine = session.Session("current")
engine.query("SET max_threads = 2")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])),
                       Handler).serve_forever()
