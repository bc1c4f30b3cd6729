"""Files for other viewers, read without jstrobe's own code."""
import collections
import csv
import gzip
import importlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import jvm


def fetched(name):
    """The path of what scripts/fetch-viewers.sh calls NAME; None where it could not be fetched."""
    done = subprocess.run([os.path.join(jvm.ROOT, "scripts", "fetch-viewers.sh")], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, O=jvm.OUT), timeout=1500)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines()).get(name)


def module(place, name):
    """The module NAME of the folder PLACE; None without it."""
    if not place:
        return None
    sys.path.insert(0, place)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(place)


def otlp_messages():
    """The module of OTLP's messages; None where it could not be fetched."""
    return module(fetched("otlp"), "opentelemetry.proto.profiles.v1development.profiles_pb2")


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """(field, value) of a message of Protocol Buffers; values are numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length, at = _varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length, "it is cut"
        yield key >> 3, value


def _message(data):
    found = collections.defaultdict(list)
    for field, value in _fields(data):
        found[field].append(value)
    return found


def _packed(parts):
    numbers, at = [], 0
    data = b"".join(parts)
    while at < len(data):
        value, at = _varint(data, at)
        numbers.append(value)
    return numbers


class Samples:
    def stacks(self, kind):
        """{names joined by ';': sum of the numbers of KIND}."""
        sums = collections.Counter()
        for names, values, *_ in self.samples:
            if values.get(kind):
                sums[";".join(names)] += values[kind]
        return sums


class Pprof(Samples):
    """profile.proto: `samples` are (names root first, {type: value}, {label: text or number})."""

    def __init__(self, path):
        with gzip.open(path) as file:
            top = _message(file.read())
        texts = [text.decode() for text in top[6]]
        assert texts[0] == "" and len(texts) == len(set(texts)), "texts are not unique"

        def one(message, field):
            return message[field][0] if message[field] else 0

        def by_id(field):
            messages = [_message(m) for m in top[field]]
            ids = [one(m, 1) for m in messages]
            assert 0 not in ids and len(ids) == len(set(ids)), "ids have to be unique, and not 0"
            return dict(zip(ids, messages))

        functions = {key: texts[one(m, 2)] for key, m in by_id(5).items()}
        self.mappings = {key: texts[one(m, 5)] for key, m in by_id(3).items()}
        self.locations = {}
        for key, location in by_id(4).items():
            assert one(location, 2) in self.mappings or not one(location, 2)
            lines = [_message(line) for line in location[4]]
            self.locations[key] = [(functions[one(line, 1)], one(line, 2)) for line in lines]
        self.types = [tuple(texts[one(_message(t), n)] for n in (1, 2)) for t in top[1]]
        assert len({name for name, _ in self.types}) == len(self.types), "two types of one name"
        self.default, self.period = texts[one(top, 14)], one(top, 12)
        self.time, self.duration = one(top, 9), one(top, 10)
        self.comments = [texts[n] for n in top[13]]
        self.samples = []
        for sample in map(_message, top[2]):
            values = _packed(sample[2])
            assert len(values) == len(self.types)
            names = [name for key in _packed(sample[1]) for name, _ in self.locations[key]]
            labels = {}
            for label in map(_message, sample[3]):
                key = texts[one(label, 1)]
                assert key and key not in labels, f"label {key} stands twice"
                labels[key] = texts[one(label, 2)] if label[2] else one(label, 3)
            self.samples.append((names[::-1], dict(zip((name for name, _ in self.types), values)), labels))


class Firefox(Samples):
    """The processed format of the Firefox Profiler: `samples` are (names root first, {event: ns, bytes or a number}, ms,
    thread, category of the innermost frame)."""

    def __init__(self, path):
        with open(path) as file:
            self.file = json.load(file)
        shared, meta = self.file["shared"], self.file["meta"]
        assert meta["preprocessedProfileVersion"] == 60
        texts, self.samples = shared["stringArray"], []
        for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
            table = shared[name]
            assert {len(column) for key, column in table.items() if key != "length"} == {table["length"]}, name
        stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
        assert all(before is None or before < i for i, before in enumerate(stacks["prefix"]))
        assert all(-1 <= n < shared["resourceTable"]["length"] for n in functions["resource"])
        subcategories = [c["subcategories"] for c in meta["categories"]]
        assert all(subcategories[c][s] for c, s in zip(frames["category"], frames["subcategory"]))
        assert meta["categories"][0]["color"] == "grey" and all(c[0] == "Other" for c in subcategories)
        names, tops = [], []
        for frame, before in zip(stacks["frame"], stacks["prefix"]):
            name = texts[functions["name"][frames["func"][frame]]]
            names.append((names[before] if before is not None else ()) + (name,))
            tops.append((meta["categories"][frames["category"][frame]]["name"],
                         subcategories[frames["category"][frame]][frames["subcategory"][frame]]))
        self.threads = self.file["threads"]
        for thread in self.threads:
            samples, event = thread["samples"], thread["processName"].split(" of ")[0]
            columns = [samples[key] for key in ("stack", "time", "weight", "threadCPUDelta")]
            assert {len(column) for column in columns} == {samples["length"]}
            assert samples["time"] == sorted(samples["time"])
            scale = {"tracing-ms": 1e6, "bytes": 1, "samples": 1}[samples["weightType"]]
            for stack, at, weight, cpu in zip(*columns):
                assert cpu in (0, round(weight * scale))
                self.samples.append((names[stack] if stack is not None else (), {event: round(weight * scale)}, at,
                                     thread["name"], tops[stack] if stack is not None else None))


class Otlp(Samples):
    """ProfilesData by the classes of PyPI's opentelemetry-proto. `samples` are (names root first, {type: value}, {attribute:
    value}, (trace id, span id))."""

    def __init__(self, path, profiles_pb2):
        data = profiles_pb2.ProfilesData()
        with open(path, "rb") as file:
            data.ParseFromString(file.read())
        self.data = data
        words = data.dictionary
        texts = words.string_table
        for table in (words.mapping_table, words.location_table, words.function_table, words.link_table, words.string_table,
                      words.attribute_table, words.stack_table):
            assert table[0] == type(table[0])(), "item 0 is not empty"
            items = [item if isinstance(item, str) else item.SerializeToString() for item in table]
            assert len(items) == len(set(items)), "an item stands twice"
        (resource,) = data.resource_profiles
        (scope,) = resource.scope_profiles
        self.resource = {a.key: a.value.string_value or a.value.int_value for a in resource.resource.attributes}
        self.scope, self.profiles = scope.scope, scope.profiles
        assert len({profile.profile_id for profile in self.profiles}) == len(self.profiles)
        functions = [texts[f.name_strindex] for f in words.function_table]
        self.kinds = {}

        def attributes(indices):
            found = {}
            for index in indices:
                item = words.attribute_table[index]
                assert index and texts[item.key_strindex] not in found
                found[texts[item.key_strindex]] = item.value.string_value or item.value.int_value
            return found

        def names(stack):
            found = []
            for index in words.stack_table[stack].location_indices:
                location = words.location_table[index]
                assert index and location.mapping_index < len(words.mapping_table)
                kind = attributes(location.attribute_indices)["profile.frame.type"]
                for line in location.lines:
                    found.append(functions[line.function_index])
                    self.kinds[found[-1]] = kind
            return found[::-1]

        self.samples, self.types, self.times = [], [], set()
        for profile in self.profiles:
            kind = texts[profile.sample_type.type_strindex]
            self.types.append((kind, texts[profile.sample_type.unit_strindex]))
            assert len(profile.profile_id) == 16 and profile.duration_nano > 0 and profile.period >= 0
            seen = set()
            for sample in profile.samples:
                key = (sample.stack_index, frozenset(sample.attribute_indices), sample.link_index)
                assert key not in seen, "two samples of one stack, attributes and link"
                seen.add(key)
                times = list(sample.timestamps_unix_nano)
                assert len(sample.values) == (len(times) or 1) and times == sorted(times)
                assert not times or profile.time_unix_nano <= times[0] and times[-1] <= profile.time_unix_nano + profile.duration_nano + 1e9
                self.times.update(times)
                link = words.link_table[sample.link_index]
                self.samples.append((names(sample.stack_index), {kind: sum(sample.values)}, attributes(sample.attribute_indices),
                                     (link.trace_id.hex(), link.span_id.hex())))


class Speedscope:
    def __init__(self, path):
        with open(path) as file:
            self.file = json.load(file)
        self.frames = self.file["shared"]["frames"]

    def stacks(self, event=None):
        """{names joined by ';': weight} of all threads; of several events those of EVENT."""
        sums = collections.Counter()
        for profile in self.file["profiles"]:
            assert sum(profile["weights"]) == profile["endValue"] - profile["startValue"]
            assert len(profile["samples"]) == len(profile["weights"])
            if event and not (profile["name"] + ":").startswith(event + ":"):
                continue
            for stack, weight in zip(profile["samples"], profile["weights"]):
                if weight:
                    sums[";".join(self.frames[number]["name"] for number in stack)] += weight
        return sums


class Callgrind:
    """`selves`: {name: {event: cost}}; `calls`: {(caller, called): {event: cost}}."""

    def __init__(self, path):
        names, number = {}, r"(\d+)"
        self.calls, self.selves = {}, {}
        with open(path) as file:
            head, body = file.read().split("\n\n")
        said = dict(line.split(": ", 1) for line in head.splitlines() if not line.startswith("#"))
        self.events = said["events"].split(" ")
        self.totals = dict(zip(self.events, map(int, said["summary"].split(" "))))

        def name(text):
            found = re.fullmatch(rf"\({number}\)(?: (.*))?", text)
            assert (found[2] is None) == (found[1] in names), f"{text}: a name stands once"
            return names.setdefault(found[1], found[2])

        method = called = None
        for line in body.splitlines():
            key, _, value = line.partition("=")
            if key == "fn":
                method = name(value)
                assert called is None
            elif key == "cfn":
                called = name(value)
            elif key in ("calls", "fl"):
                assert key == "fl" or re.fullmatch(r"\d+ 0", value)
            else:
                _, *costs = map(int, line.split(" "))
                to = self.calls.setdefault((method, called), {}) if called else self.selves.setdefault(method, {})
                for event, cost in zip(self.events, costs, strict=True):
                    to[event] = to.get(event, 0) + cost
                called = None

    def inclusive(self, event):
        sums = collections.Counter()
        for (_, called), costs in self.calls.items():
            sums[called] += costs[event]
        return +sums


class Rows(Samples):
    """CSV or NDJSON by Python's own readers: `rows` with all columns, `samples` are (names root first, {event: weight})."""

    COLUMNS = ["event", "thread", "thread_id", "state", "trace_id", "span_id", "labels", "samples", "weight", "unit", "stack"]

    def __init__(self, path):
        with open(path, newline="", encoding="utf-8") as file:
            if path.endswith(".csv"):
                reader = csv.DictReader(file, strict=True)
                self.rows = list(reader)
                assert reader.fieldnames == self.COLUMNS
                assert all(None not in row and None not in row.values() for row in self.rows), "rows are not of one length"
            else:
                self.rows = [json.loads(line) for line in file]
                assert all(set(row) <= set(self.COLUMNS) for row in self.rows)
        self.samples = []
        for row in self.rows:
            names = row["stack"].split(";") if isinstance(row["stack"], str) else [frame["name"] for frame in row["stack"]]
            event = row["event"]
            self.samples.append((names, {event: int(row["weight"]), event + " samples": int(row["samples"])}))


class Picture:
    """SVG by Python's reader of XML: `graphs`, a list of frames (title, left, width, top) for each event, and `heads`."""

    def __init__(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        name = "{http://www.w3.org/2000/svg}"
        self.graphs, self.heads = [], []
        for item in root:
            if item.tag == name + "text":
                self.heads.append(item.text)
                self.graphs.append([])
            elif item.tag == name + "g":
                rect = item.find(name + "rect").attrib
                place = (float(rect["x"]), float(rect["width"]), int(rect["y"]))
                assert place[0] >= 0 and place[0] + place[1] <= float(root.get("width")) and place[2] < int(root.get("height"))
                self.graphs[-1].append((item.find(name + "title").text, *place))


class Perfetto(Samples):
    """A trace by the messages of PyPI's perfetto, resolved as Perfetto's trace processor does: `samples` are (names root
    first, {counter: number}, ns since 1970, tid or None, kinds of the frames); `slices` (track, tid or None, name, begin,
    end, {annotation: text}), `moments` (track, tid or None, name, time), `threads` {tid: name}, `counters` {name: unit}."""

    CLEARED, NEEDS_STATE, REAL_TIME = 1, 2, 1

    def __init__(self, path, trace_pb2):
        with open(path, "rb") as file:
            self.trace = trace_pb2.Trace.FromString(file.read())
        self.pb2, self.samples, self.slices, self.moments = trace_pb2, [], [], []
        self.threads, self.processes, self.tracks, self.counters, self.attributes = {}, {}, {}, {}, {}
        self.libraries, self.times, self._interned, self._defaults, open_slices = {}, [], {}, {}, {}
        for number, packet in enumerate(self.trace.packet):
            sequence = packet.trusted_packet_sequence_id
            assert sequence
            if packet.sequence_flags & self.CLEARED:
                assert packet.first_packet_on_sequence and sequence not in self._defaults
                self._interned[sequence], self._defaults[sequence] = {}, packet.trace_packet_defaults
                assert packet.trace_packet_defaults.timestamp_clock_id == self.REAL_TIME
            else:
                assert packet.sequence_flags == self.NEEDS_STATE and sequence in self._defaults
                assert not packet.first_packet_on_sequence and not packet.HasField("trace_packet_defaults")
            if packet.HasField("clock_snapshot"):
                assert not self.samples and not open_slices and number < 2
                (clock,) = packet.clock_snapshot.clocks
                assert clock.clock_id == packet.clock_snapshot.primary_trace_clock == self.REAL_TIME
                self.started = clock.timestamp
            for attribute in packet.trace_attributes.attribute:
                self.attributes[attribute.key] = attribute.string_value
            self._intern(sequence, packet.interned_data)
            if packet.HasField("track_descriptor"):
                self._track(packet.track_descriptor)
            elif packet.HasField("stack_sample"):
                self._sample(sequence, packet)
            elif packet.HasField("track_event"):
                self._event(packet, open_slices)
        assert not any(open_slices.values()), "a slice has no end"

    def _intern(self, sequence, data):
        for field, items in data.ListFields():
            table = self._interned[sequence].setdefault(field.name, {})
            for item in items:
                assert item.iid and item.iid not in table, f"{field.name} {item.iid} stands twice"
                table[item.iid] = item

    def _track(self, track):
        assert track.uuid not in self.tracks and (not track.parent_uuid or track.parent_uuid in self.tracks)
        self.tracks[track.uuid] = track
        if track.HasField("thread"):
            assert track.thread.pid in self.processes and track.thread.tid not in self.threads
            self.threads[track.thread.tid] = track.thread.thread_name
        elif track.HasField("process"):
            self.processes[track.process.pid] = track.process

    def _names(self, sequence, stack):
        tables = self._interned[sequence]
        for frame in (tables["frames"][iid] for iid in tables["callstacks"][stack].frame_ids):
            name = tables["function_names"][frame.function_name_id].str.decode()
            assert frame.HasField("rel_pc") and not frame.rel_pc
            mapping = tables["mappings"][frame.mapping_id]
            self.libraries.setdefault(name, "/".join(tables["mapping_paths"][iid].str.decode() for iid in mapping.path_string_ids))
            yield name, frame.kind_str or self.pb2.Frame.Kind.Name(frame.kind), frame.line_number

    def _sample(self, sequence, packet):
        assert packet.HasField("timestamp")  # else it is at the latest time seen
        sample, defaults = packet.stack_sample, self._defaults[sequence].stack_sample_defaults
        assert defaults.source == "jstrobe" and len(sample.follower_weights) == len(defaults.follower_descriptors)
        values = {}
        for counter, value in zip((defaults.primary_descriptor, *defaults.follower_descriptors),
                                  (sample.primary_weight, *sample.follower_weights)):
            self.counters[counter.name] = counter.unit_str or self.pb2.StackSample.Unit.Name(counter.unit)
            values[counter.name] = value
        task = self._interned[sequence]["stack_sample_task_contexts"][sample.task_context_iid]
        assert task.pid in self.processes and (not task.tid or task.tid in self.threads)
        frames = list(self._names(sequence, sample.callstack_iid)) if sample.callstack_iid else []
        self.samples.append(([name for name, _, _ in frames], values, packet.timestamp, task.tid or None,
                             [kind for _, kind, _ in frames]))
        self.times.append(packet.timestamp)

    def _event(self, packet, open_slices):
        assert packet.HasField("timestamp")
        event, track = packet.track_event, self.tracks[packet.track_event.track_uuid]
        parent = self.tracks[track.parent_uuid]
        tid = parent.thread.tid if parent.HasField("thread") else None
        stack = open_slices.setdefault(track.uuid, [])
        assert not stack or stack[-1][1] <= packet.timestamp, "events of a track are not in the order of time"
        if event.type == self.pb2.TrackEvent.TYPE_SLICE_BEGIN:
            assert event.name and list(event.categories)
            stack.append((event, packet.timestamp))
        elif event.type == self.pb2.TrackEvent.TYPE_SLICE_END:
            begun, at = stack.pop()
            self.slices.append((track.name, tid, begun.name, at, packet.timestamp,
                                {a.name: a.string_value for a in begun.debug_annotations}))
        else:
            assert event.type == self.pb2.TrackEvent.TYPE_INSTANT
            self.moments.append((track.name, tid, event.name, packet.timestamp))

    def by_thread(self, kind):
        """{(name of the thread, names joined by ';'): sum}."""
        sums = collections.Counter()
        for names, values, _, tid, _ in self.samples:
            if values.get(kind):
                sums[self.threads.get(tid, ""), ";".join(names)] += values[kind]
        return sums


def perfetto():
    """The module of Perfetto's messages; None where it could not be fetched."""
    return module(jvm.run_script("fetch-python.sh", "perfetto==0.59.1"), "perfetto.protos.perfetto.trace.perfetto_trace_pb2")
