#!/usr/bin/env python3
"""What the worst files known cost the command: a file of each kind, and the CPU time, memory and output of reading it.

    bench/hostile_files.py [--mb 10] [--only NAME] [--command build/bin/jstrobe] [--dir DIR]
    bench/hostile_files.py [--mb 10] --write DIR

Each kind makes something grow faster than the file in a reader that does not look out. A row says how the command
ended: `read` or `refused`, with the reason. Goal for 10 MB: 30 s of CPU time, 1 GB of memory.
"""
import argparse
import os
import resource
import struct
import subprocess
import tempfile


def num(n):
    """A compressed number."""
    out = bytearray()
    while n > 0x7F and len(out) < 8:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return b"\x03" + num(len(s)) + s if s else b"\x01"


def event(kind, body):
    rest = num(kind) + body
    n = 1
    while len(num(len(rest) + n)) != n:
        n += 1
    return num(len(rest) + n) + rest


class Chunk:
    """Types are (name, number, is an event, fields); a field is (name, type's number, pooled, array)."""

    def __init__(self, types):
        self.types = types
        self.events = []
        self.pools = []

    def pool(self, kind, constants, count=None):
        self.pools.append(num(kind) + num(len(constants) if count is None else count) +
                          (constants if isinstance(constants, bytes) else b"".join(constants)))

    def add(self, kind, body):
        self.events.append(event(kind, body))

    def metadata(self):
        strings, places = [], {}

        def place(s):
            if s not in places:
                places[s] = len(strings)
                strings.append(text(s))
            return num(places[s])

        def element(name, attributes, children):
            head = place(name) + num(len(attributes))
            head += b"".join(place(k) + place(v) for k, v in attributes)
            return head + num(len(children)) + b"".join(children)

        classes = []
        for name, number, is_event, fields in self.types:
            inner = []
            for field, kind, pooled, array in fields:
                a = [("name", field), ("class", str(kind))]
                a += [("constantPool", "true")] if pooled else []
                a += [("dimension", "1")] if array else []
                inner.append(element("field", a, []))
            a = [("name", name), ("id", str(number))] + ([("superType", "jdk.jfr.Event")] if is_event else [])
            classes.append(element("class", a, inner))
        tree = element("root", [], [element("metadata", [], classes)])
        return num(1) + num(0) + num(1) + num(len(strings)) + b"".join(strings) + tree

    def bytes(self):
        meta = event(0, self.metadata())
        constants = event(1, num(1) + num(0) + num(0) + b"\0" + num(len(self.pools)) + b"".join(self.pools))
        body = b"".join(self.events)
        return header(68 + len(meta) + len(constants) + len(body), 68 + len(meta), 68) + meta + constants + body


def header(size, constants, metadata):
    return (b"FLR\0" + struct.pack(">HH", 2, 1) + struct.pack(">7q", size, constants, metadata, 1790000000000000000,
                                                             1000, 1000, 1000000000) + b"\0\0\0\1")


LONG, INT, STRING, STACK, FRAME, METHOD, CLASS, SYMBOL, THREAD, KIND, BOOL, SAMPLE = range(20, 32)
BASE = [
    ("long", LONG, False, []), ("int", INT, False, []), ("boolean", BOOL, False, []),
    ("java.lang.String", STRING, False, []),
    ("jdk.types.StackTrace", STACK, False, [("truncated", BOOL, False, False), ("frames", FRAME, False, True)]),
    ("jdk.types.StackFrame", FRAME, False, [("method", METHOD, True, False), ("lineNumber", INT, False, False),
                                            ("bytecodeIndex", INT, False, False), ("type", KIND, True, False)]),
    ("jdk.types.Method", METHOD, False, [("type", CLASS, True, False), ("name", SYMBOL, True, False)]),
    ("java.lang.Class", CLASS, False, [("name", SYMBOL, True, False)]),
    ("jdk.types.Symbol", SYMBOL, False, [("string", STRING, False, False)]),
    ("java.lang.Thread", THREAD, False, [("osName", STRING, False, False), ("osThreadId", LONG, False, False),
                                               ("javaThreadId", LONG, False, False)]),
    ("jdk.types.FrameType", KIND, False, [("description", STRING, False, False)]),
]
FIELDS = [("startTime", LONG, False, False), ("stackTrace", STACK, True, False), ("sampledThread", THREAD, True, False)]
SAMPLES = ("jdk.ExecutionSample", SAMPLE, True, FIELDS)


def names(c, symbols=("a",), classes=((1, 1),), methods=((1, 1, 1),)):
    c.pool(KIND, [num(1) + text("JIT compiled")])
    c.pool(SYMBOL, [num(i + 1) + text(s) for i, s in enumerate(symbols)])
    c.pool(CLASS, [num(k) + num(s) for k, s in classes])
    c.pool(METHOD, [num(k) + num(t) + num(s) for k, t, s in methods])


def stack(key, frames):
    return num(key) + b"\0" + num(len(frames)) + b"".join(frames)


def frame(method, line=1, kind=1):
    return num(method) + num(line) + num(0) + num(kind)


def usual(c, stacks=None):
    names(c)
    c.pool(STACK, stacks or [stack(1, [frame(1)])])
    c.pool(THREAD, [num(1) + text("t") + num(1) + num(1)])


def sample(time=1, stack_key=1, thread=1):
    return num(time) + num(stack_key) + num(thread)


def array_past_event(size):
    """A short event whose array reaches far beyond it."""
    c = Chunk(BASE + [("jdk.ExecutionSample", SAMPLE, True, [("x", INT, False, True)] + FIELDS)])
    usual(c)
    c.events = [b"\x05" + num(SAMPLE) + b"\x85\x85\x10"] * (size // 5)
    return c.bytes(), []


def fields_past_event(size):
    """A short event of a type with 60,000 fields."""
    c = Chunk(BASE + [("jdk.ExecutionSample", SAMPLE, True, [("x", STRING, False, False)] * 60000 + FIELDS)])
    usual(c)
    c.events = [b"\x04" + num(SAMPLE) + b"\0\0"] * (size // 4)
    return c.bytes(), []


def types_of_one_name(size):
    """Thousands of event types with one name, each with samples, beside thousands of stacks."""
    count = size // 80
    c = Chunk(BASE + [("jdk.ExecutionSample", 1000 + i, True, FIELDS) for i in range(count)])
    usual(c, [stack(i + 1, [frame(1, i)]) for i in range(size // 24)])
    for i in range(count):
        c.add(1000 + i, sample())
    return c.bytes(), []


def names_of_events(size):
    """Each sample says another event, beside thousands of stacks."""
    c = Chunk(BASE + [("jstrobe.EventSample", SAMPLE, True, FIELDS + [("event", STRING, False, False)])])
    usual(c, [stack(i + 1, [frame(1, i)]) for i in range(size // 24)])
    for i in range(size // 32):
        c.add(SAMPLE, sample() + text("e%d" % i))
    return c.bytes(), []


def objects_on_a_deep_stack(size):
    """One deep stack under thousands of classes."""
    c = Chunk(BASE + [("jdk.ObjectAllocationSample", SAMPLE, True, FIELDS + [("objectClass", CLASS, True, False),
                                                                            ("weight", LONG, False, False)])])
    n = size // 40
    names(c, ["c%d" % i for i in range(n)], [(i + 1, i + 1) for i in range(n)])
    c.pool(STACK, [stack(1, [frame(1)] * (size // 16))])
    for i in range(n):
        c.add(SAMPLE, sample() + num(i + 1) + num(8))
    return c.bytes(), []


def threads_on_a_deep_stack(size):
    """One deep stack in thousands of threads, and threads are to be apart."""
    c = Chunk(BASE + [SAMPLES])
    names(c)
    n = size // 28
    c.pool(STACK, [stack(1, [frame(1)] * (size // 16))])
    c.pool(THREAD, [num(i + 1) + text("t") + num(i + 1) + num(i + 1) for i in range(n)])
    for i in range(n):
        c.add(SAMPLE, sample(thread=i + 1))
    return c.bytes(), ["-t"]


def threads_of_one_name(size):
    """The same with virtual threads, which have no number."""
    data, options = threads_on_a_deep_stack(size)
    c = Chunk(BASE + [SAMPLES])
    names(c)
    n = size // 28
    c.pool(STACK, [stack(1, [frame(1)] * (size // 16))])
    c.pool(THREAD, [num(i + 1) + text("t") + num(0) + num(i + 1) for i in range(n)])
    for i in range(n):
        c.add(SAMPLE, sample(thread=i + 1))
    return c.bytes(), options


def long_text_told_again(size):
    """One long text in the pool, told by thousands of short events."""
    c = Chunk(BASE + [SAMPLES, ("jdk.JVMInformation", 40, True, [("jvmVersion", STRING, False, False),
                                                                ("javaArguments", STRING, False, False)])])
    c.pool(STRING, [num(1) + text("x" * (size // 2))])
    usual(c)
    c.add(SAMPLE, sample())
    c.events += [event(40, b"\2\1\2\1")] * (size // 8)
    return c.bytes(), []


def long_number_told_again(size):
    """The same as a setting, all of it digits."""
    c = Chunk(BASE + [SAMPLES, ("jdk.ActiveSetting", 40, True, [("id", LONG, False, False),
                                                               ("name", STRING, False, False),
                                                               ("value", STRING, False, False)])])
    c.pool(STRING, [num(1) + text("0" * (size // 2))])
    usual(c)
    c.add(SAMPLE, sample())
    c.events += [event(40, b"\1\2\1\2\1")] * (size // 10)
    return c.bytes(), []


def counters_of_many_events(size):
    """Counters of thousands of events."""
    c = Chunk(BASE + [SAMPLES, ("jstrobe.Counters", 40, True, [("event", STRING, False, False)])])
    usual(c)
    c.add(SAMPLE, sample())
    for i in range(size // 10):
        c.add(40, text("%d" % i))
    return c.bytes(), []


def headers_in_vain(size):
    """Thousands of headers that lead to one long chain of checkpoints, which fails at its end."""
    link = event(1, num(1) + num(0) + num((1 << 64) - 13))
    chain = link * (size // 2 // 13)
    heads = size // 2 // 72
    good = Chunk(BASE + [SAMPLES])
    usual(good)
    good.add(SAMPLE, sample())
    meta = event(0, num(1) + num(0) + num(0))
    total = heads * 72 + len(meta) + len(chain)
    out = bytearray()
    for i in range(heads):
        at = i * 72
        out += header(total - at, total - 13 - at, heads * 72 - at) + b"\0\0\0\0"
    return good.bytes() + bytes(out) + meta + chain, []


def tiny_chunks_behind_a_large_one(size):
    """Tables that a large chunk made, to be cleared for thousands of tiny ones."""
    c = Chunk(BASE + [SAMPLES])
    n = size // 30
    names(c, methods=[(i * 99991 + 1, 1, 1) for i in range(n)])
    c.pool(STACK, [stack(1, [frame(i * 99991 + 1) for i in range(n)])])
    c.pool(THREAD, [num(1) + text("t") + num(1) + num(1)])
    c.add(SAMPLE, sample())
    tiny = Chunk(BASE + [SAMPLES])
    names(tiny, methods=[(1, 1, 1), (1 << 40, 1, 1)])
    tiny.pool(STACK, [stack(1, [frame(1)])])
    tiny.add(SAMPLE, sample())
    tiny = tiny.bytes()
    return c.bytes() + tiny * (size // 2 // len(tiny)), []


def types_in_one_another(size):
    """Tiny chunks, each with types that hold three of one another, fifteen deep."""
    out = []
    for k in range(2):
        nest = [("jdk.ExecutionSample", SAMPLE, True, [("x", 100, False, False)] * 3 + FIELDS)]
        nest += [("T", 100 + i, False, [("xy"[k], 101 + i, False, False)] * 3) for i in range(14)]
        nest += [("T", 114, False, [("i", LONG, False, False)])]
        c = Chunk(BASE + nest)
        usual(c)
        c.add(SAMPLE, sample())
        out.append(c.bytes())
    good = Chunk(BASE + [SAMPLES])
    usual(good)
    good.add(SAMPLE, sample())
    pair = b"".join(out)
    return good.bytes() + pair * (size // len(pair)), []


def long_class_of_many_methods(size):
    """A class with a name of megabytes and thousands of methods."""
    c = Chunk(BASE + [SAMPLES])
    n = size // 24
    names(c, ["a." + "b" * (size // 2)], methods=[(i + 1, 1, 1) for i in range(n)])
    c.pool(STACK, [stack(1, [frame(i + 1, i) for i in range(n)])])
    c.add(SAMPLE, sample())
    return c.bytes(), ["--lines"]


def long_name_of_many_threads(size):
    """A name of megabytes that thousands of threads share."""
    c = Chunk(BASE + [SAMPLES])
    n = size // 40
    names(c)
    c.pool(STRING, [num(1) + text("t" * (size // 2))])
    c.pool(STACK, [stack(1, [frame(1)])])
    c.pool(THREAD, [num(i + 1) + b"\2\1" + num(i + 1) + num(i + 1) for i in range(n)])
    for i in range(n):
        c.add(SAMPLE, sample(thread=i + 1))
    return c.bytes(), []


def methods_read_again(size):
    """A method with a long array, in frames of a form that is seldom seen."""
    types = [t for t in BASE if t[1] != METHOD]
    types.append(("jdk.types.Method", METHOD, False, [("x", INT, False, True), ("type", CLASS, True, False),
                                                     ("name", SYMBOL, True, False)]))
    c = Chunk(types + [SAMPLES])
    c.pool(KIND, [num(i + 300) + text("k") for i in range(2)])
    c.pool(SYMBOL, [num(1) + text("a")])
    c.pool(CLASS, [num(1) + num(1)])
    c.pool(METHOD, [num(1) + num(size // 2) + b"\1" * (size // 2) + num(1) + num(1)])
    c.pool(STACK, [stack(1, [frame(1, 1, 300)] * (size // 12))])
    c.add(SAMPLE, sample())
    return c.bytes(), []


def long_class_of_objects(size):
    """Objects of a class with a long name on thousands of stacks."""
    c = Chunk(BASE + [("jdk.ObjectAllocationSample", SAMPLE, True, FIELDS + [("objectClass", CLASS, True, False),
                                                                            ("weight", LONG, False, False)])])
    names(c, ["[L" + "b" * (size // 2) + ";"])
    n = size // 36
    c.pool(STACK, [stack(i + 1, [frame(1)]) for i in range(n)])
    for i in range(n):
        c.add(SAMPLE, sample(stack_key=i + 1) + num(1) + num(8))
    return c.bytes(), []


def long_name_in_each_frame(size):
    """One name of megabytes in each frame of a deep stack."""
    c = Chunk(BASE + [SAMPLES])
    names(c, ["b" * (size // 2)])
    c.pool(STACK, [stack(1, [frame(1)] * (size // 10))])
    c.add(SAMPLE, sample())
    return c.bytes(), ["-o", "collapsed"]


def results_of_many_events(size):
    """JSON with thousands of events."""
    one = '{"schema":1,"event":"e%d","stacks":[{"frames":["a"],"kinds":["c2"],"samples":1}]}'
    parts = [one % i for i in range(size // 82)]
    return ('{"schema":1,"profiles":[' + ",".join(parts) + "]}").encode(), []


def deep_json(size):
    """JSON in JSON in JSON."""
    return b'{"x":' + b"[" * size, []


def deep_lines(size):
    """Collapsed stacks of one line, and each letter a frame."""
    return b"a;" * (size // 2) + b"b 1\n", ["-o", "collapsed"]


def many_lines(size):
    """As many different stacks as fit."""
    out, i, length = [], 0, 0
    while length < size:
        out.append(b"%x 1\n" % i)
        length += len(out[-1])
        i += 1
    return b"".join(out), []


def prefixes(size):
    """Each line is the beginning of the next: much is to be compared."""
    depth, out, length = 1, [], 0
    while length < size:
        out.append(b"a;" * depth + b"b 1\n")
        length += len(out[-1])
        depth += 1
    return b"".join(out), []


def sums_over_64_bits(size):
    """Numbers that add up to more than there is."""
    return b"a;b 9999999999999999999\n" * (size // 24), ["-o", "collapsed"]


KINDS = [array_past_event, fields_past_event, types_of_one_name, names_of_events, objects_on_a_deep_stack,
         threads_on_a_deep_stack, threads_of_one_name, long_text_told_again, long_number_told_again,
         counters_of_many_events, headers_in_vain, tiny_chunks_behind_a_large_one, types_in_one_another,
         long_class_of_many_methods, long_name_of_many_threads, methods_read_again, long_class_of_objects, long_name_in_each_frame,
         results_of_many_events, deep_json, deep_lines, many_lines, prefixes, sums_over_64_bits]


def run(command, name, data, options, folder, limit):
    source, result = os.path.join(folder, name), os.path.join(folder, "result.html")
    with open(source, "wb") as f:
        f.write(data)
    if os.path.exists(result):
        os.remove(result)

    def bounds():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 30, 3 << 30))

    p = subprocess.Popen([command, "convert", *options, source, result], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, preexec_fn=bounds)
    said = p.stdout.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(p.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    said = said.replace(source, "FILE").strip().split("\n")[-1][:150]
    how = "read" if code == 0 else "refused" if code > 0 else "**signal %d**" % -code
    written = os.path.getsize(result) >> 20 if os.path.exists(result) else 0
    print("| %s | %.1f s | %d MB | %d MB | %s | %s |" % (
        name, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10, written, how, said if code else ""), flush=True)
    os.remove(source)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mb", type=float, default=10)
    p.add_argument("--only", default="")
    p.add_argument("--limit", type=int, default=60, help="seconds of CPU time")
    p.add_argument("--command", default="build/bin/jstrobe")
    p.add_argument("--write", metavar="DIR", help="leave the files there; nothing reads them")
    p.add_argument("--dir", default=None, help="for the files; the system's for temporary ones unless given")
    a = p.parse_args()
    if a.write:
        for kind in KINDS:
            with open(os.path.join(a.write, kind.__name__), "wb") as f:
                f.write(kind(int(a.mb * (1 << 20)))[0])
        return
    print("| file | CPU | memory | result | end | said |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=a.dir) as folder:
        for kind in KINDS:
            if a.only in kind.__name__:
                data, options = kind(int(a.mb * (1 << 20)))
                run(a.command, kind.__name__, data, options, folder, a.limit)


if __name__ == "__main__":
    main()
