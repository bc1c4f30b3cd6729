#include "made_jfr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/vector.h"

static void put_number(struct buffer *b, uint64_t value, bool wide, unsigned size)
{
	unsigned i;

	if (wide) {
		for (i = size; i-- > 0;)
			buffer_putc(b, (char)(value >> 8 * i));
		return;
	}
	for (i = 0; i < 8 && value > 0x7f; i++, value >>= 7)
		buffer_putc(b, (char)(0x80 | (value & 0x7f)));
	buffer_putc(b, (char)value);
}

void made_long(struct made *m, uint64_t value)
{
	put_number(&m->bytes, value, m->wide, 8);
}

void made_int(struct made *m, uint64_t value)
{
	put_number(&m->bytes, value, m->wide, 4);
}

void made_byte(struct made *m, unsigned value)
{
	buffer_putc(&m->bytes, (char)value);
}

static void put_text(struct buffer *b, const char *text, bool wide)
{
	buffer_putc(b, 3);
	put_number(b, strlen(text), wide, 4);
	buffer_puts(b, text);
}

void made_text(struct made *m, const char *text)
{
	put_text(&m->bytes, text, m->wide);
}

/* ---- events ---- */

/* The size has 4 bytes: a padded number, as recorders write that fill it in later. */
void made_event(struct made *m, uint64_t type)
{
	m->event = m->bytes.length;
	buffer_append(&m->bytes, "\0\0\0\0", 4);
	made_long(m, type);
}

void made_event_end(struct made *m)
{
	uint64_t size = m->bytes.length - m->event;
	char *at = m->bytes.data + m->event;
	unsigned i;

	for (i = 0; i < 4; i++)
		at[i] = (char)(m->wide ? size >> (24 - 8 * i) : (i < 3 ? 0x80 : 0) | (size >> 7 * i & 0x7f));
}

/* ---- metadata ---- */

struct made_field {
	const char *name;
	unsigned type;
	const char *flags; /* p: pooled, a: array, t: in ticks, n: in ns */
};

struct made_type {
	unsigned id;
	const char *name;
	bool ours;
	struct made_field fields[9];
};

static const struct made_type types[] = {
	{MADE_LONG, "long", false, {{0}}}, {MADE_INT, "int", false, {{0}}},
	{MADE_BOOLEAN, "boolean", false, {{0}}}, {MADE_STRING, "java.lang.String", false, {{0}}},
	{MADE_FLOAT, "float", false, {{0}}},
	{MADE_TIMESPAN, "jdk.jfr.Timespan", false, {{0}}}, {MADE_TIMESTAMP, "jdk.jfr.Timestamp", false, {{0}}},
	{MADE_THREAD, "java.lang.Thread", false,
	 {{"osName", MADE_STRING, ""}, {"osThreadId", MADE_LONG, ""}, {"javaName", MADE_STRING, ""},
	  {"javaThreadId", MADE_LONG, ""}}},
	{MADE_CLASS, "java.lang.Class", false, {{"name", MADE_SYMBOL, "p"}, {"modifiers", MADE_INT, ""}}},
	{MADE_SYMBOL, "jdk.types.Symbol", false, {{"string", MADE_STRING, ""}}},
	{MADE_METHOD, "jdk.types.Method", false,
	 {{"type", MADE_CLASS, "p"}, {"name", MADE_SYMBOL, "p"}, {"descriptor", MADE_SYMBOL, "p"},
	  {"modifiers", MADE_INT, ""}, {"hidden", MADE_BOOLEAN, ""}}},
	{MADE_STACK, "jdk.types.StackTrace", false,
	 {{"truncated", MADE_BOOLEAN, ""}, {"frames", MADE_FRAME, "a"}}},
	{MADE_FRAME, "jdk.types.StackFrame", false,
	 {{"method", MADE_METHOD, "p"}, {"lineNumber", MADE_INT, ""}, {"bytecodeIndex", MADE_INT, ""},
	  {"type", MADE_FRAME_TYPE, "p"}}},
	{MADE_FRAME_TYPE, "jdk.types.FrameType", false, {{"description", MADE_STRING, ""}}},
	{MADE_STATE, "jdk.types.ThreadState", false, {{"name", MADE_STRING, ""}}},
	{MADE_SPACE, "jdk.types.VirtualSpace", false, {{"start", MADE_LONG, ""}, {"end", MADE_LONG, ""}}},
	{MADE_EXECUTION, "jdk.ExecutionSample", false,
	 {{"startTime", MADE_LONG, "t"}, {"sampledThread", MADE_THREAD, "p"},
	  {"stackTrace", MADE_STACK, "p"}, {"state", MADE_STATE, "p"}}},
	{MADE_NATIVE, "jdk.NativeMethodSample", false,
	 {{"startTime", MADE_LONG, "t"}, {"sampledThread", MADE_THREAD, "p"},
	  {"stackTrace", MADE_STACK, "p"}, {"state", MADE_STATE, "p"}}},
	{MADE_CPU_TIME, "jdk.CPUTimeSample", false,
	 {{"startTime", MADE_LONG, "t"}, {"stackTrace", MADE_STACK, "p"}, {"eventThread", MADE_THREAD, "p"},
	  {"failed", MADE_BOOLEAN, ""}, {"samplingPeriod", MADE_LONG, "n"}, {"biased", MADE_BOOLEAN, ""}}},
	{MADE_WALL, "profiler.WallClockSample", false,
	 {{"startTime", MADE_LONG, "t"}, {"sampledThread", MADE_THREAD, "p"},
	  {"stackTrace", MADE_STACK, "p"}, {"state", MADE_STATE, "p"}, {"samples", MADE_INT, ""},
	  {"timeSpan", MADE_LONG, "t"}}},
	{MADE_ALLOC, "jdk.ObjectAllocationSample", false,
	 {{"startTime", MADE_LONG, "t"}, {"eventThread", MADE_THREAD, "p"}, {"stackTrace", MADE_STACK, "p"},
	  {"objectClass", MADE_CLASS, "p"}, {"weight", MADE_LONG, ""}}},
	{MADE_TLAB, "jdk.ObjectAllocationInNewTLAB", false,
	 {{"startTime", MADE_LONG, "t"}, {"eventThread", MADE_THREAD, "p"}, {"stackTrace", MADE_STACK, "p"},
	  {"objectClass", MADE_CLASS, "p"}, {"allocationSize", MADE_LONG, ""}, {"tlabSize", MADE_LONG, ""}}},
	{MADE_MONITOR, "jdk.JavaMonitorEnter", false,
	 {{"startTime", MADE_LONG, "t"}, {"duration", MADE_LONG, "t"}, {"eventThread", MADE_THREAD, "p"},
	  {"stackTrace", MADE_STACK, "p"}, {"monitorClass", MADE_CLASS, "p"}}},
	{MADE_SETTING, "jdk.ActiveSetting", false,
	 {{"startTime", MADE_LONG, "t"}, {"id", MADE_LONG, ""}, {"name", MADE_STRING, ""},
	  {"value", MADE_STRING, ""}}},
	{MADE_RECORDING, "jdk.ActiveRecording", false, {{"startTime", MADE_LONG, "t"}}},
	/* nothing that is wanted: structs, arrays, floats */
	{MADE_HEAP, "test.Heap", false,
	 {{"startTime", MADE_LONG, "t"}, {"space", MADE_SPACE, ""}, {"spaces", MADE_SPACE, "a"},
	  {"share", MADE_FLOAT, ""}, {"names", MADE_STRING, "a"}, {"keys", MADE_SYMBOL, "ap"}}},
	{MADE_FAR, "test.Far", false,
	 {{"startTime", MADE_LONG, "t"}, {"duration", MADE_LONG, "t"}, {"stackTrace", MADE_STACK, "p"}}},
	{MADE_COUNTERS, "jstrobe.Counters", true,
	 {{"startTime", MADE_LONG, "t"}, {"event", MADE_STRING, ""}, {"engine", MADE_STRING, ""},
	  {"interval", MADE_LONG, ""}, {"taken", MADE_LONG, ""}, {"stored", MADE_LONG, ""},
	  {"complete", MADE_LONG, ""}, {"cpuTime", MADE_LONG, ""}, {"ownCpuTime", MADE_LONG, ""}}},
	{MADE_WEIGHTS, "jstrobe.SampleWeights", true,
	 {{"startTime", MADE_LONG, "t"}, {"unit", MADE_LONG, "n"}, {"weights", MADE_STRING, ""}}},
	{MADE_WALL_WEIGHTS, "jstrobe.WallWeights", true,
	 {{"startTime", MADE_LONG, "t"}, {"unit", MADE_LONG, "n"}, {"weights", MADE_STRING, ""}}},
	{MADE_EVENT, "jstrobe.EventSample", true,
	 {{"startTime", MADE_LONG, "t"}, {"sampledThread", MADE_THREAD, "p"},
	  {"stackTrace", MADE_STACK, "p"}, {"state", MADE_STATE, "p"}, {"event", MADE_STRING, ""},
	  {"weight", MADE_LONG, ""}}},
	{MADE_LOST, "jstrobe.SamplesLost", true,
	 {{"startTime", MADE_LONG, "t"}, {"event", MADE_STRING, ""}, {"reason", MADE_STRING, ""},
	  {"samples", MADE_LONG, ""}, {"weight", MADE_LONG, ""}}},
};

struct tree {
	struct buffer elements;
	VECTOR(char *) strings;
	bool wide;
};

static void put_int(struct tree *t, uint64_t n)
{
	put_number(&t->elements, n, t->wide, 4);
}

static void put_string(struct tree *t, const char *text)
{
	size_t i;

	for (i = 0; i < t->strings.count; i++)
		if (strcmp(t->strings.items[i], text) == 0)
			break;
	if (i == t->strings.count)
		*VECTOR_PUSH(&t->strings) = strdup(text);
	put_int(t, i);
}

static void put_id(struct tree *t, unsigned id)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id);
	put_string(t, text);
}

static void put_field(struct tree *t, const struct made_field *f)
{
	bool pooled = strchr(f->flags, 'p'), array = strchr(f->flags, 'a');
	bool ticks = strchr(f->flags, 't'), ns = strchr(f->flags, 'n');

	put_string(t, "field");
	put_int(t, 2u + pooled + array);
	put_string(t, "name");
	put_string(t, f->name);
	put_string(t, "class");
	put_id(t, f->type);
	if (pooled) {
		put_string(t, "constantPool");
		put_string(t, "true");
	}
	if (array) {
		put_string(t, "dimension");
		put_string(t, "1");
	}
	put_int(t, ticks || ns);
	if (!ticks && !ns)
		return;
	put_string(t, "annotation");
	put_int(t, 2);
	put_string(t, "class");
	put_id(t, strcmp(f->name, "startTime") ? MADE_TIMESPAN : MADE_TIMESTAMP);
	put_string(t, "value");
	put_string(t, ticks ? "TICKS" : "NANOSECONDS");
	put_int(t, 0);
}

static void put_type(struct tree *t, const struct made_type *type)
{
	unsigned count = 0;
	bool event = type->id >= MADE_EXECUTION;

	while (count < ARRAY_LEN(type->fields) && type->fields[count].name)
		count++;
	put_string(t, "class");
	put_int(t, 2u + event);
	put_string(t, "name");
	put_string(t, type->name);
	put_string(t, "id");
	put_id(t, type->id);
	if (event) {
		put_string(t, "superType");
		put_string(t, "jdk.jfr.Event");
	}
	put_int(t, count);
	for (count = 0; count < ARRAY_LEN(type->fields) && type->fields[count].name; count++)
		put_field(t, &type->fields[count]);
}

static void put_metadata(struct made *m)
{
	struct tree t = {.wide = m->wide};
	unsigned i, count = 0;

	buffer_init(&t.elements, -1);
	for (i = 0; i < ARRAY_LEN(types); i++)
		count += !types[i].ours || m->ours;
	put_string(&t, "root");
	put_int(&t, 0);
	put_int(&t, 1);
	put_string(&t, "metadata");
	put_int(&t, 0);
	put_int(&t, count);
	for (i = 0; i < ARRAY_LEN(types); i++)
		if (!types[i].ours || m->ours)
			put_type(&t, &types[i]);
	made_event(m, 0);
	m->metadata = m->event - m->chunk;
	made_long(m, m->ticks);
	made_long(m, 0);
	made_long(m, 1);
	made_int(m, t.strings.count);
	for (i = 0; i < t.strings.count; i++) {
		made_text(m, t.strings.items[i]);
		free(t.strings.items[i]);
	}
	buffer_append(&m->bytes, t.elements.data, t.elements.length);
	made_event_end(m);
	free(t.strings.items);
	buffer_free(&t.elements);
}

/* ---- chunks ---- */

static void set(struct made *m, size_t offset, uint64_t value)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		m->bytes.data[m->chunk + offset + i] = (char)(value >> (56 - 8 * i));
}

void made_begin(struct made *m, int64_t start_ns, uint64_t ticks, uint64_t ticks_per_second)
{
	if (!m->bytes.data)
		buffer_init(&m->bytes, -1);
	m->chunk = m->bytes.length;
	m->metadata = m->constants = 0;
	m->start_ns = start_ns;
	m->ticks = ticks;
	m->ticks_per_second = ticks_per_second;
	buffer_append(&m->bytes, "FLR\0\0\2\0\1", 8);
	while (m->bytes.length < m->chunk + 68)
		buffer_putc(&m->bytes, 0);
	set(m, 8, 1 << 30); /* as async-profiler: the size is not known yet */
	set(m, 32, (uint64_t)start_ns);
	set(m, 48, ticks);
	set(m, 56, ticks_per_second);
	m->bytes.data[m->chunk + 64] = 1;
	m->bytes.data[m->chunk + 67] = m->wide ? 0 : 1;
	put_metadata(m);
}

void made_end(struct made *m, int64_t duration)
{
	set(m, 8, m->bytes.length - m->chunk);
	set(m, 16, m->constants);
	set(m, 24, m->metadata);
	set(m, 40, (uint64_t)duration);
	m->bytes.data[m->chunk + 64] = 0;
}

void made_constants(struct made *m, unsigned pools)
{
	size_t at = m->bytes.length - m->chunk;

	made_event(m, 1);
	made_long(m, m->ticks);
	made_long(m, 0);
	made_long(m, m->constants ? (uint64_t)m->constants - at : 0);
	made_byte(m, 0);
	made_int(m, pools);
	m->constants = at;
}

void made_pool(struct made *m, uint64_t type, uint64_t count)
{
	made_long(m, type);
	made_int(m, count);
}

void made_constants_end(struct made *m)
{
	made_event_end(m);
}

/* ---- what most tests want ---- */

static void put_thread(struct made *m, uint64_t key, const char *name, uint64_t tid)
{
	made_long(m, key);
	made_text(m, name);
	made_long(m, tid);
	made_text(m, name);
	made_long(m, key);
}

static void put_named(struct made *m, uint64_t key, const char *text)
{
	made_long(m, key);
	made_text(m, text);
}

static void put_method(struct made *m, uint64_t key, uint64_t class, uint64_t name, uint64_t descriptor)
{
	made_long(m, key);
	made_long(m, class);
	made_long(m, name);
	made_long(m, descriptor);
	made_int(m, 1);
	made_byte(m, 0);
}

static void put_frame(struct made *m, uint64_t method, uint64_t line, uint64_t kind)
{
	made_long(m, method);
	made_int(m, line);
	made_int(m, 3);
	made_long(m, kind);
}

void made_usual_constants(struct made *m, uint64_t base)
{
	static const char *const symbols[] = {"demo/Main", "main", "run", "()V", "libc.so.6", "write", "()L;"};
	static const char *const kinds[] = {"Interpreted", "JIT compiled", "Inlined", "Native"};
	static const char *const states[] = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING"};
	unsigned i;

	made_constants(m, 7);
	made_pool(m, MADE_THREAD, 2);
	put_thread(m, 1, "main", 101);
	put_thread(m, 2, "worker", 102);
	made_pool(m, MADE_STATE, ARRAY_LEN(states));
	for (i = 0; i < ARRAY_LEN(states); i++)
		put_named(m, i + 1, states[i]);
	made_pool(m, MADE_FRAME_TYPE, ARRAY_LEN(kinds));
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		put_named(m, i + 1, kinds[i]);
	made_pool(m, MADE_SYMBOL, ARRAY_LEN(symbols));
	for (i = 0; i < ARRAY_LEN(symbols); i++)
		put_named(m, base + i + 1, symbols[i]);
	made_pool(m, MADE_CLASS, 2);
	made_long(m, base + 1);
	made_long(m, base + 1);
	made_int(m, 1);
	made_long(m, base + 2);
	made_long(m, base + 5);
	made_int(m, 1);
	made_pool(m, MADE_METHOD, 3);
	put_method(m, base + 1, base + 1, base + 2, base + 4);
	put_method(m, base + 2, base + 1, base + 3, base + 4);
	put_method(m, base + 3, base + 2, base + 6, base + 7);
	made_pool(m, MADE_STACK, 2);
	made_long(m, base + 1);
	made_byte(m, 0);
	made_int(m, 2);
	put_frame(m, base + 2, 12, 2);
	put_frame(m, base + 1, 7, 1);
	made_long(m, base + 2);
	made_byte(m, 1);
	made_int(m, 3);
	put_frame(m, base + 3, 0, 4);
	put_frame(m, base + 2, 13, 3);
	put_frame(m, base + 1, 7, 1);
	made_constants_end(m);
}

void made_sample(struct made *m, uint64_t type, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state)
{
	made_event(m, type);
	made_long(m, time);
	made_long(m, thread);
	made_long(m, stack);
	made_long(m, state);
	made_event_end(m);
}

void made_execution(struct made *m, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state)
{
	made_sample(m, MADE_EXECUTION, time, thread, stack, state);
}

void made_cpu_time(struct made *m, uint64_t time, uint64_t thread, uint64_t stack, uint64_t ns)
{
	made_event(m, MADE_CPU_TIME);
	made_long(m, time);
	made_long(m, stack);
	made_long(m, thread);
	made_byte(m, 0);
	made_long(m, ns);
	made_byte(m, 0);
	made_event_end(m);
}

void made_wall(struct made *m, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state,
	       uint64_t samples, uint64_t span)
{
	made_event(m, MADE_WALL);
	made_long(m, time);
	made_long(m, thread);
	made_long(m, stack);
	made_long(m, state);
	made_int(m, samples);
	made_long(m, span);
	made_event_end(m);
}

const char *made_file_of(const void *bytes, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("made", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

const char *made_file(const struct made *m)
{
	if (m->bytes.failed)
		abort();
	return made_file_of(m->bytes.data, m->bytes.length);
}

void made_free(struct made *m)
{
	buffer_free(&m->bytes);
	memset(m, 0, sizeof(*m));
}
