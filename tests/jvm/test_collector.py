"""A Collector of OpenTelemetry takes our files of OTLP, binary and JSON, and prints what is in them."""
import collections
import http.client
import re
import socket
import subprocess
import time

import jvm
import pytest
import viewers
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


@pytest.fixture(scope="module")
def collector():
    """The address of one that runs, and the file that it prints to."""
    path = viewers.fetched("collector")
    if not path:
        pytest.skip("no Collector: it is built in make soak" if not jvm.SOAK else "a Collector could not be built")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % free.getsockname()[1]
    printed = jvm.result_file(".log")
    with open(printed, "w") as log:
        process = subprocess.Popen([path, address], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        jvm.wait_until(lambda: "Everything is ready" in open(printed).read(), 60)
        yield address, printed
    finally:
        process.terminate()
        process.wait(30)


def sent(collector, path, kind):
    """What it prints of the file at PATH."""
    address, printed = collector
    with open(printed) as log:
        before = len(log.read())
    with open(path, "rb") as file:
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("POST", "/v1development/profiles", file.read(), {"Content-Type": "application/" + kind})
        answer = connection.getresponse()
        text = answer.read()
    assert answer.status == 200 and b"rejected" not in text, (answer.status, text)

    def told():
        with open(printed) as log:
            return log.read()[before:]
    jvm.wait_until(lambda: "sample records" in told(), 60)
    time.sleep(1)
    return told()


def sums(text):
    """{thread: sum of values} of what it prints."""
    found = collections.Counter()
    for values, thread in re.findall(r"Sample #\d+\n\s+Values: \[([\d ]+)\]\n\s+Attributes:\n\s+-> thread.name: Str\((.*)\)", text):
        found[thread] += sum(map(int, values.split()))
    return found


@pytest.mark.parametrize("events", ["cpu", "wall"])
def test_what_it_prints(jdk, collector, events):
    session = jvm.result_file(".json")
    with Program(jdk, "Garbage") as program:
        done = jstrobe("record", "-d", "1", "-t", "-e", events, "-f", session, program.pid)
        assert done.returncode == 0, done.stderr
    seen = []
    for suffix, kind in (("otlp", "x-protobuf"), ("otlp.json", "json")):
        path = jvm.result_file("." + suffix)
        done = jstrobe("convert", session, path)
        assert done.returncode == 0, done.stderr
        seen.append(sums(sent(collector, path, kind)))
    assert seen[0] == seen[1] and len(seen[0]) > 1
    rows = jvm.result_file(".csv")
    done = jstrobe("convert", session, rows)
    assert done.returncode == 0, done.stderr
    known = collections.Counter()
    for row in viewers.csv.DictReader(open(rows)):
        known[row["thread"]] += sum(int(row[unit]) for unit in ("samples", "weight") if unit in row)
    assert seen[0] == known, (seen[0], known)
