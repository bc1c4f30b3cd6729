"""Live streams as tests read them: record by record, each held against the schema."""
import functools
import json
import os
import subprocess
import threading
import time

import jvm

SCHEMA = os.path.join(jvm.ROOT, "docs", "reference", "stream.schema.json")


@functools.lru_cache(None)
def validators():
    """{kind: its validator}: one of seven is faster, and says what is wrong."""
    import jsonschema
    with open(SCHEMA) as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    kinds = [k for k, v in schema["definitions"].items() if "kind" in v.get("properties", {})]
    assert {part["$ref"].rsplit("/", 1)[1] for part in schema["oneOf"]} == set(kinds)
    return {kind: jsonschema.Draft7Validator(dict(schema["definitions"][kind], definitions=schema["definitions"]))
            for kind in kinds}


class Stream:
    """The records of a stream so far, and what must be true of any of them."""

    def __init__(self, check=True):
        self.records, self.arrived, self.check = [], [], check
        self.stacks, self.names = {}, {}

    def take(self, line, arrived=0):
        """One line, as bytes."""
        assert line.endswith(b"\n"), f"a torn record: {line[-200:]}"
        record = json.loads(line, object_pairs_hook=jvm.unique)
        if self.check:
            error = next(iter(validators()[record["kind"]].iter_errors(record)), None)
            assert not error, (error.message, record)
        assert self.records or record["kind"] == "header", f"the first record is {record}"
        if record["kind"] == "stack":
            assert len(record["frames"]) == len(record["kinds"])
            former = self.stacks.setdefault(record["id"], record)
            assert former["frames"] == record["frames"], "one id, two stacks"
        for key in ("stack", "owner_stack"):
            assert key not in record or record[key] in self.stacks, f"not defined: {record}"
        self.records.append(record)
        self.arrived.append(arrived)
        return record

    def of(self, kind):
        return [r for r in self.records if r["kind"] == kind]

    def frames(self, sample):
        return self.stacks[sample["stack"]]["frames"]

    def count(self, event="cpu"):
        """(samples delivered, samples that the last stats say were stored, dropped)."""
        delivered = sum(r.get("samples", 1) for r in self.records
                        if r["kind"] in ("sample", "lock") and r["event"] == event)
        books = next(e for e in self.of("stats")[-1]["events"] if e["event"] == event)
        return delivered, books["stored"], books["dropped"]

    def latencies(self):
        """ms from an event to its record in our hands, sorted."""
        return sorted((at - r["time"]) / 1e6 for r, at in zip(self.records, self.arrived)
                      if r["kind"] in ("sample", "lock"))


def read(command, stream=None):
    """Run COMMAND to its end and read its stdout as a stream; (stream, exit status, stderr)."""
    stream = stream or Stream()
    errors, lines = [], []
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               cwd=jvm.WORK)
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read().decode()), daemon=True)
    reader.start()
    try:
        # judged afterwards: the stream does not wait for a slow reader
        for line in process.stdout:
            lines.append((line, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        status = process.wait(60)
    finally:
        if process.poll() is None:
            process.kill()
    reader.join()
    for line, arrived in lines:
        stream.take(line, arrived)
    return stream, status, errors[0]


def read_text(data):
    """The stream that the bytes DATA are."""
    stream = Stream()
    for line in data.splitlines(keepends=True):
        stream.take(line)
    return stream


def with_frame(stream, frame):
    """The samples whose stack has FRAME."""
    return [s for s in stream.of("sample") if frame in stream.frames(s)]
