"""Ten connections, each of which asks as soon as it has an answer; how long each answer took.

    TOP=FILE ANY=FILE [JSON=1] python3 each.py PORT SECONDS

One half of the requests are for addresses of TOP, the other half for those of ANY. (wrk adds what requests
would have waited that it did not send meanwhile; here only what was sent is counted.)
"""

import multiprocessing
import os
import random
import socket
import sys
import time

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])
CONNECTIONS = 10


def lines(name):
    with open(os.environ[name], encoding="utf-8") as file:
        return file.read().split()


def ask(seed, times):
    pick = random.Random(seed)
    top, other = lines("TOP"), lines("ANY")
    api = "/v1" if os.environ.get("JSON") else ""
    here = ("127.0.0.1", PORT)
    connection = socket.create_connection(here)
    took = []
    end = time.time() + SECONDS
    while time.time() < end:
        address = pick.choice(top if pick.random() < 0.5 else other)
        request = f"GET {api}{address} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n"
        begun = time.perf_counter()
        connection.sendall(request.encode())
        came = b""
        while b"\r\n\r\n" not in came:
            came += connection.recv(1 << 16)
        head, _, body = came.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = len(body)
        while length < int(fields[b"content-length"]):
            length += len(connection.recv(1 << 16))
        took.append(1000 * (time.perf_counter() - begun))
        if fields.get(b"connection") == b"close":
            connection = socket.create_connection(here)
    times.put(took)


times = multiprocessing.Queue()
workers = [multiprocessing.Process(target=ask, args=(seed, times)) for seed in range(CONNECTIONS)]
for worker in workers:
    worker.start()
took = sorted(one for _ in workers for one in times.get())
at = {name: took[int(len(took) * part)] for name, part in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]}
shown = ", ".join(f"{name} {milliseconds:.1f} ms" for name, milliseconds in at.items())
late = sum(one > 50 for one in took)
print(f"requests {len(took)}; latency {shown}, longest {took[-1]:.1f} ms; {late} took more than 50 ms")
