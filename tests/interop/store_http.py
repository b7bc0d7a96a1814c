# SPDX-License-Identifier: ISC
"""What stands between a client and a ClickHouse server: it prints the port on
which it listens, and says nothing of its own accord."""
import http.client
import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def forward(port, path, headers, body):
    """The answer of the real one."""
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    server.request("POST", path, body,
                   {k: v for k, v in headers.items() if k != "Host"})
    answer = server.getresponse()
    return answer.status, answer.read()


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    print(server.server_address[1], flush=True)
    server.serve_forever()
