#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Talks to `assay open EXP --serve` as browsers and others do: serve.py ASSAY EXPERIMENT"""
import http.client
import pathlib
import re
import signal
import socket
import subprocess
import sys


PATIENCE_S = 100 # with a server on a slow host, before it is taken for one that does not answer
KEY = ""  # the random part of the address


def ask(port, method, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def raw(port, data):
    """Sends bytes as they are; what comes back until the end."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(data)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


def check_answers(port, page):
    answer, body = ask(port, "GET", f"/{KEY}/")
    assert answer.status == 200 and body == page
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert answer.getheader("Content-Security-Policy").startswith("default-src 'none';")
    assert answer.getheader("Cache-Control") == "no-store"
    answer, body = ask(port, "HEAD", f"/{KEY}/report.html")
    assert answer.status == 200 and body == b""
    assert int(answer.getheader("Content-Length")) == len(page)
    for method, path, headers, status in (
            ("GET", "/", {}, 404), ("GET", "/report.html", {}, 404),
            ("GET", f"/{'0' * 32}/", {}, 404), ("GET", f"/{KEY[:-1]}/", {}, 404),
            ("GET", f"/{KEY}/experiment.db", {}, 404), ("GET", f"/{KEY}/../experiment.db", {}, 404),
            ("GET", f"/{KEY}/%2e%2e/experiment.db", {}, 404), ("POST", f"/{KEY}/", {}, 405),
            ("DELETE", f"/{KEY}/", {}, 405), ("GET", f"/{KEY}/", {"Host": "evil.example"}, 403),
            ("GET", f"/{KEY}/", {"Host": f"localhost:{port}"}, 200)):
        answer, _ = ask(port, method, path, **headers)
        assert answer.status == status, (method, path, headers, answer.status)
    assert ask(port, "GET", "/wrong")[1] == b"Not Found\n" # says nothing else
    assert raw(port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(port, b"x" * 20000).startswith(b"HTTP/1.1 431 ")


def check_crowd(port, page):
    """Connections that say nothing do not keep others out."""
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
    assert ask(port, "GET", f"/{KEY}/")[1] == page
    slow = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    for byte in f"GET /{KEY}/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode():
        slow.send(bytes([byte]))
    assert slow.recv(15) == b"HTTP/1.1 200 OK"
    slow.close() # before the end of the answer
    assert ask(port, "GET", f"/{KEY}/")[1] == page
    for link in idle:
        link.close()


def check_halves(server, port, file, page):
    """Half-open connections, more than the server accepts: they connect while the server has no
    CPU. Requests are answered, and an answer that has begun is complete."""
    large = page + b" " * (32 << 20)  # more than the buffers of the kernel hold
    file.write_bytes(large)
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(PATIENCE_S)
    slow.connect(("127.0.0.1", port))
    slow.sendall(f"GET /{KEY}/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    parts = [slow.recv(100)]
    server.send_signal(signal.SIGSTOP)
    try:
        halves = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
                  for _ in range(108)]
    finally:
        server.send_signal(signal.SIGCONT)
    for half in halves[::3]:
        half.sendall(b"GET /")
    assert ask(port, "GET", f"/{KEY}/")[1] == large
    while part := slow.recv(1 << 20):
        parts.append(part)
    got = b"".join(parts)
    assert got.endswith(large), (len(got), len(large))
    for half in halves:
        half.close()
    file.write_bytes(page)
    for field in (b"Host: evil.example", b"Host : evil.example"):
        head = f"GET /{KEY}/ HTTP/1.1\r\nHost: localhost\r\n".encode() + field
        assert raw(port, head + b"\r\n\r\n").startswith(b"HTTP/1.1 400 "), field


def listens_elsewhere(port):
    """Returns whether another address of this machine answers."""
    try:
        socket.create_connection(("127.0.0.2", port), timeout=1).close()
        return True
    except OSError:
        return False


def key_of_another(assay, experiment):
    """The random part of another server's address."""
    other = subprocess.Popen([assay, "open", experiment, "--serve", "-q"], stdout=subprocess.PIPE,
                             text=True)
    key = other.stdout.readline().strip().split("/")[-2]
    other.send_signal(signal.SIGINT)
    assert other.wait(PATIENCE_S) == 0
    return key


def main():
    assay, experiment = sys.argv[1:]
    # Our children receive Ctrl-C, even if a shell started this test in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    server = subprocess.Popen([assay, "open", experiment, "--serve", "-q"], stdout=subprocess.PIPE,
                              text=True)
    try:
        global KEY
        url = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n",
                           server.stdout.readline())
        port, KEY = int(url[1]), url[2]
        with open(f"{experiment}/report.html", "rb") as file:
            page = file.read()
        check_answers(port, page)
        check_crowd(port, page)
        check_halves(server, port, pathlib.Path(experiment) / "report.html", page)
        assert not listens_elsewhere(port)
        assert key_of_another(assay, experiment) != KEY
        taken = subprocess.run([assay, "open", experiment, "--serve", "--port", str(port)],
                               capture_output=True, text=True)
        assert taken.returncode == 1, taken
        assert taken.stderr == (f"assay: 127.0.0.1:{port}: cannot listen: Address already "
                                "in use; use another --port\n"), taken.stderr
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE_S) == 0
    finally:
        server.kill()
    print("served")


main()
