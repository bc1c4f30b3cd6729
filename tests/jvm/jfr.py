"""Reads recordings, strictly: whatever a reader could stumble over is an error here.

    recording = Recording(path)
    recording.events["jdk.CPUTimeSample"]   # of all chunks, a dict each; constants are resolved
    recording.chunks                        # what each chunk's header says
"""
import struct


class Broken(Exception):
    pass


class Cursor:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def byte(self):
        if self.at >= self.end:
            raise Broken(f"byte {self.at} is beyond the end")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count):
        if self.at + count > self.end:
            raise Broken(f"{count} bytes at {self.at} are beyond the end")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self):
        value = 0
        for i in range(9):
            byte = self.byte()
            if i == 8:
                return value | byte << 56
            value |= (byte & 0x7f) << 7 * i
            if byte < 0x80:
                return value
        raise AssertionError

    def string(self):
        kind = self.byte()
        if kind == 0:
            return None
        if kind == 1:
            return ""
        if kind not in (3, 5):
            raise Broken(f"string of kind {kind}")
        return self.take(self.number()).decode("utf-8" if kind == 3 else "latin-1")  # strict


PRIMITIVES = {
    "boolean": lambda c: c.byte() != 0,
    "byte": Cursor.byte,
    "char": Cursor.number, "short": Cursor.number, "int": Cursor.number, "long": Cursor.number,
    "float": lambda c: struct.unpack(">f", c.take(4))[0],
    "double": lambda c: struct.unpack(">d", c.take(8))[0],
    "java.lang.String": Cursor.string,
}


class Type:
    def __init__(self, attributes):
        self.name, self.id = attributes["name"], int(attributes["id"])
        self.event = attributes.get("superType") == "jdk.jfr.Event"
        self.simple = attributes.get("simpleType") == "true"
        self.fields = []


class Chunk:
    def __init__(self, data, start, seen_keys):
        (self.magic, self.major, self.minor, self.size, checkpoint, metadata, self.start_nanos, self.duration,
         self.start_ticks, self.ticks_per_second, features) = struct.unpack_from(">4sHHqqqqqqqI", data, start)
        if self.magic != b"FLR\0" or self.major != 2:
            raise Broken(f"no chunk at {start}")
        if features >> 24 or not features & 1 or start + self.size > len(data):
            raise Broken(f"chunk at {start}: features {features:#x}, size {self.size} of {len(data)}")
        self.data, self.start, self.seen = data, start, seen_keys  # what each key of the file says
        self.final = bool(features & 2)
        self.read_metadata(start + metadata)
        self.constants, self.checkpoints = {}, set()
        self.read_constants(checkpoint)
        self.events = {t.name: [] for t in self.types.values() if t.event}
        self.read_events()

    # ---- metadata

    def read_metadata(self, at):
        c = Cursor(self.data, at, self.start + self.size)
        c.end = at + c.number()
        if c.number() != 0:
            raise Broken("no metadata where the header says")
        c.number(), c.number(), c.number()
        texts = [c.string() for _ in range(c.number())]
        self.types = {}

        def element(parent):
            name = texts[c.number()]
            attributes = {}
            for _ in range(c.number()):
                key = texts[c.number()]
                attributes[key] = texts[c.number()]
            here = None
            if name == "class":
                here = Type(attributes)
                if here.id in self.types:
                    raise Broken(f"type {here.id} twice")
                self.types[here.id] = here
            elif name == "field":
                parent.fields.append(attributes)
            elif name == "annotation":
                self.used.add(int(attributes["class"]))
            for _ in range(c.number()):
                element(here)

        self.used = set()
        element(None)
        if c.at != c.end:
            raise Broken(f"metadata: {c.end - c.at} bytes too many")
        for t in self.types.values():
            self.used |= {int(f["class"]) for f in t.fields}
        if self.used - set(self.types):
            raise Broken(f"types that are not declared: {self.used - set(self.types)}")

    # ---- values

    def value(self, c, type, raw_keys=True):
        read = PRIMITIVES.get(type.name)
        if read:
            return read(c)
        fields = {}
        for f in type.fields:
            of = self.types[int(f["class"])]
            if f.get("constantPool") == "true":
                fields[f["name"]] = (of.name, c.number())
            elif f.get("dimension"):
                fields[f["name"]] = [self.value(c, of) for _ in range(c.number())]
            else:
                fields[f["name"]] = self.value(c, of)
        return fields

    def resolve(self, value):
        if isinstance(value, tuple):
            kind, key = value
            if key == 0 and kind not in ("jdk.types.FrameType", "jdk.types.ThreadState", "jdk.types.GCWhen"):
                return None
            if (kind, key) not in self.constants:
                raise Broken(f"{kind} {key} is not there")
            found = self.constants[kind, key]
            if isinstance(found, dict) and len(found) == 1:  # a simple type
                found = next(iter(found.values()))
            return self.resolve(found) if isinstance(found, (dict, tuple)) else found
        if isinstance(value, dict):
            return {k: self.resolve(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.resolve(v) for v in value]
        return value

    # ---- constants and events

    def read_constants(self, at):
        delta = 1
        while delta:
            self.checkpoints.add(self.start + at)
            c = Cursor(self.data, self.start + at, self.start + self.size)
            c.end = c.at + c.number()
            if c.number() != 1:
                raise Broken(f"no checkpoint at {at}")
            c.number(), c.number()
            delta = c.number()
            delta -= (1 << 64) if delta >> 63 else 0
            c.byte()
            for _ in range(c.number()):
                type = self.types[c.number()]
                count = c.number()
                if not count:
                    raise Broken("an empty pool")
                for _ in range(count):
                    key = c.number()
                    if (type.name, key) in self.constants:
                        raise Broken(f"{type.name} {key} twice in a chunk")
                    value = self.value(c, type)
                    if not type.simple or type.name == "jdk.types.Symbol":
                        # a thread's key is its id in every chunk, if it says the same each time
                        same = type.name == "java.lang.Thread" and self.seen.get((type.name, key)) == value
                        if (type.name, key) in self.seen and not same:
                            raise Broken(f"{type.name} {key} twice in a file")
                        self.seen[type.name, key] = value
                        if type.name == "jdk.types.Symbol" and not value["string"]:
                            raise Broken(f"symbol {key} is empty: the JDK's tools take that for null")
                    self.constants[type.name, key] = value
            if c.at != c.end:
                raise Broken(f"checkpoint: {c.end - c.at} bytes too many")
            at += delta

    def read_events(self):
        at, found = self.start + 68, set()
        while at < self.start + self.size:
            c = Cursor(self.data, at, self.start + self.size)
            size = c.number()
            c.end = at + size
            kind = c.number()
            if kind == 1:
                found.add(at)
            elif kind != 0:
                type = self.types[kind]
                event = self.resolve(self.value(c, type))
                if c.at != c.end:
                    raise Broken(f"{type.name}: {c.end - c.at} bytes too many")
                event["place"] = at
                event["time"] = self.start_nanos + (event["startTime"] - self.start_ticks) * 10**9 // self.ticks_per_second
                if "duration" in event:
                    event["duration_ns"] = event["duration"] * 10**9 // self.ticks_per_second
                self.events[type.name].append(event)
            at += size
        if found != self.checkpoints:
            raise Broken(f"checkpoints {found ^ self.checkpoints} are in no chain or no event")


class Recording:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.chunks, self.events, at, seen = [], {}, 0, {}
        while at < len(data):
            chunk = Chunk(data, at, seen)
            self.chunks.append(chunk)
            for name, events in chunk.events.items():
                self.events.setdefault(name, []).extend(events)
            at += chunk.size
        if not self.chunks:
            raise Broken("an empty file")

    def in_order(self, *names):
        """The events of these types with their names, as they stand in the file."""
        return sorted(((n, e) for n in names for e in self.events.get(n, [])), key=lambda pair: pair[1]["place"])

    def count(self, name):
        return len(self.events.get(name, []))

    def counters(self, event="cpu"):
        """The books as the last chunk closed them."""
        return [c for c in self.events["jstrobe.Counters"] if c["event"] == event][-1]


def stack(event):
    """Class.method, root first; native functions by their names alone."""
    frames = event["stackTrace"]["frames"]
    return [(f["method"]["type"]["name"] + "." if "java" in f["type"].lower() or f["type"] in
             ("Interpreted", "JIT compiled", "C1 compiled", "Inlined") else "") + f["method"]["name"]
            for f in reversed(frames)]


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def weights(event):
    """The weights in a jstrobe.SampleWeights, ns: pairs of base-64 VLQ, a difference and how often it is repeated."""
    numbers, value, shift = [], 0, 0
    for letter in event["weights"] or "":
        bits = LETTERS.index(letter)
        value |= (bits & 31) << shift
        shift += 5
        if bits < 32:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    found, last = [], 0
    for difference, repeats in zip(numbers[::2], numbers[1::2]):
        last += difference
        found += [last * event["unit"]] * (1 + repeats)
    return found
