#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Talks to `assay open EXP --serve` as browsers and others do: serve.py ASSAY EXPERIMENT"""
import http.client
import signal
import socket
import subprocess
import sys


def ask(port, method, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def raw(port, data):
    """Sends bytes as they are; what comes back until the end."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(data)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


def check_answers(port, page):
    answer, body = ask(port, "GET", "/")
    assert answer.status == 200 and body == page
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert answer.getheader("Content-Security-Policy").startswith("default-src 'none';")
    assert answer.getheader("Cache-Control") == "no-store"
    answer, body = ask(port, "HEAD", "/report.html")
    assert answer.status == 200 and body == b""
    assert int(answer.getheader("Content-Length")) == len(page)
    for method, path, headers, status in (
            ("GET", "/experiment.db", {}, 404), ("GET", "/../experiment.db", {}, 404),
            ("GET", "/%2e%2e/experiment.db", {}, 404), ("POST", "/", {}, 405),
            ("DELETE", "/", {}, 405), ("GET", "/", {"Host": "evil.example"}, 403),
            ("GET", "/", {"Host": f"localhost:{port}"}, 200)):
        answer, _ = ask(port, method, path, **headers)
        assert answer.status == status, (method, path, headers, answer.status)
    assert raw(port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(port, b"x" * 20000).startswith(b"HTTP/1.1 431 ")


def check_crowd(port, page):
    """Connections that say nothing do not keep others out."""
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
    assert ask(port, "GET", "/")[1] == page
    slow = socket.create_connection(("127.0.0.1", port), timeout=10)
    for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n":
        slow.send(bytes([byte]))
    assert slow.recv(15) == b"HTTP/1.1 200 OK"
    slow.close() # before the end of the answer
    assert ask(port, "GET", "/")[1] == page
    for link in idle:
        link.close()


def listens_elsewhere(port):
    """Whether another address of this machine answers."""
    try:
        socket.create_connection(("127.0.0.2", port), timeout=1).close()
        return True
    except OSError:
        return False


def main():
    assay, experiment = sys.argv[1:]
    server = subprocess.Popen([assay, "open", experiment, "--serve", "-q"], stdout=subprocess.PIPE,
                              text=True)
    try:
        url = server.stdout.readline().strip()
        port = int(url.removeprefix("http://127.0.0.1:").removesuffix("/"))
        with open(f"{experiment}/report.html", "rb") as file:
            page = file.read()
        check_answers(port, page)
        check_crowd(port, page)
        assert not listens_elsewhere(port)
        taken = subprocess.run([assay, "open", experiment, "--serve", "--port", str(port)],
                               capture_output=True, text=True)
        assert taken.returncode == 1, taken
        assert taken.stderr == (f"assay: 127.0.0.1:{port}: cannot be listened at: Address already "
                                "in use; give another --port\n"), taken.stderr
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0
    finally:
        server.kill()
    print("served")


main()
