/*
 * Traces of Perfetto: packets, slices and threads, by a reader of protobuf made for it. tests/jvm/test_perfetto.py reads
 * them by Perfetto's own messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/exports/exports.h"
#include "timed_sample.h"

/* What is left of a message. */
struct message {
	const unsigned char *at, *end;
};

struct field {
	uint64_t number, value; /* value: of a number */
	struct message bytes;
};

static uint64_t varint(struct message *m)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;; shift += 7) {
		assert_true(m->at < m->end && shift < 64);
		value |= (uint64_t)(*m->at & 0x7f) << shift;
		if (*m->at++ < 0x80)
			return value;
	}
}

static bool next_field(struct message *m, struct field *f)
{
	uint64_t key, size;

	if (m->at == m->end)
		return false;
	key = varint(m);
	*f = (struct field){.number = key >> 3};
	if ((key & 7) == 0) {
		f->value = varint(m);
		return true;
	}
	assert_int_equal(key & 7, 2);
	size = varint(m);
	assert_true(size <= (size_t)(m->end - m->at));
	f->bytes = (struct message){m->at, m->at + size};
	m->at += size;
	return true;
}

/* Field NUMBER of M: the last one; zeroed: there is none. */
static struct field get(struct message m, uint64_t number)
{
	struct field f, found = {0};

	while (next_field(&m, &f))
		if (f.number == number)
			found = f;
	return found;
}

static struct buffer traced(const struct profile *p)
{
	static const struct format_options options = {.threads = true, .exports = exports_write};
	struct buffer out = BUFFER_INIT;

	format_write(format_by_name("perfetto"), &p, 1, &options, &out, NULL);
	assert_int_equal(out.failed, 0);
	return out;
}

static struct message all_of(const struct buffer *b)
{
	return (struct message){(const unsigned char *)b->data, (const unsigned char *)b->data + b->length};
}

enum { BEGIN = 1, END, MOMENT };

struct open_track {
	uint64_t uuid, at;
	unsigned depth;
};

/* The one called UUID of TRACKS. */
static struct open_track *track_of(struct open_track tracks[20], uint64_t uuid)
{
	unsigned i;

	for (i = 0; tracks[i].uuid && tracks[i].uuid != uuid; i++)
		assert_true(i < 19);
	tracks[i].uuid = uuid;
	return &tracks[i];
}

/* Slices of a track end in the order of time, each before the one that it stands in. */
static void slices_nest(void **state)
{
	const struct profile p = timed_profile();
	struct buffer out = traced(&p);
	struct open_track tracks[20] = {{0}}, *t;
	unsigned counts[MOMENT + 1] = {0}, states = 3, i;
	struct message trace = all_of(&out);
	struct field packet, event;
	uint64_t at, type;

	(void)state;
	while (next_field(&trace, &packet)) {
		event = get(packet.bytes, 11);
		if (!event.number)
			continue;
		at = get(packet.bytes, 8).value;
		type = get(event.bytes, 9).value;
		t = track_of(tracks, get(event.bytes, 11).value);
		assert_true(at >= t->at && at >= p.started_at && type >= BEGIN && type <= MOMENT);
		assert_true(type != END || t->depth);
		t->at = at;
		t->depth += type == BEGIN ? 1 : type == END ? -1u : 0;
		counts[type]++;
	}
	for (i = 0; i < 20; i++)
		assert_int_equal(tracks[i].depth, 0);
	/* three of the program's spans, which cross, need two tracks */
	assert_int_equal(counts[BEGIN], TIMED_LONG + states);
	assert_int_equal(counts[END], counts[BEGIN]);
	assert_int_equal(counts[MOMENT], TIMED_MARKS - TIMED_LONG);
	buffer_free(&out);
}

/* Threads of the same id, or of none, have one of ours; each is named once. */
static void threads_stay_apart(void **state)
{
	const struct profile p = timed_profile();
	struct buffer out = traced(&p);
	struct message trace = all_of(&out);
	uint64_t tids[10], tid, i, count = 0;
	struct field packet, thread;

	(void)state;
	while (next_field(&trace, &packet)) {
		thread = get(get(packet.bytes, 60).bytes, 4);
		if (!thread.number)
			continue;
		tid = get(thread.bytes, 2).value;
		for (i = 0; i < count; i++)
			assert_true(tids[i] != tid);
		assert_true(tid == 101 || tid > 1 << 30);
		assert_true(count < 10);
		tids[count++] = tid;
	}
	assert_int_equal(count, 4);
	buffer_free(&out);
}

/* What has neither an id nor a name is one, of samples and of marks, which says that it is not one thread alone. */
static void threads_without_a_name_are_told(void **state)
{
	static const struct profile_thread nameless[] = {{101, "", 4, 40000000}, {0, "", 3, 30000000}, {0, "x", 1, 1}};
	static const struct profile_mark_thread of_marks[] = {{0, ""}, {0, ""}};
	struct profile p = timed_profile();
	struct profile_marks marks = *p.marks;
	struct field packet, thread, name;
	char found[4][40] = {""};
	struct message trace;
	struct buffer out;
	unsigned count = 0;

	(void)state;
	p.threads = nameless;
	marks.threads = of_marks;
	p.marks = &marks;
	out = traced(&p);
	trace = all_of(&out);
	while (next_field(&trace, &packet)) {
		thread = get(get(packet.bytes, 60).bytes, 4);
		if (!thread.number)
			continue;
		assert_true(count < ARRAY_LEN(found));
		name = get(thread.bytes, 5);
		snprintf(found[count++], sizeof(found[0]), "%.*s", (int)(name.bytes.end - name.bytes.at),
			 (const char *)name.bytes.at);
	}
	assert_int_equal(count, 3);
	assert_string_equal(found[0], "");
	assert_string_equal(found[1], "threads without a name");
	assert_string_equal(found[2], "x");
	buffer_free(&out);
}

/* What the samples weigh is what the stacks weigh, and they are in the order of time. */
static void samples_are_whole(void **state)
{
	const struct profile p = timed_profile();
	struct buffer out = traced(&p);
	struct message trace = all_of(&out), followers;
	uint64_t weight = 0, samples = 0, before = 0;
	struct field packet, sample;

	(void)state;
	while (next_field(&trace, &packet)) {
		sample = get(packet.bytes, 135);
		if (!sample.number)
			continue;
		assert_true(get(packet.bytes, 8).value >= before);
		before = get(packet.bytes, 8).value;
		weight += get(sample.bytes, 11).value;
		followers = get(sample.bytes, 14).bytes;
		samples += varint(&followers);
	}
	assert_int_equal(weight, 80000000);
	assert_int_equal(samples, 8);
	assert_true(before == p.started_at + 40 * NS_PER_MS);
	buffer_free(&out);
}

/* Of a profile that does not know when it began, samples and slices have a time, too: it may be 0. */
static void all_have_a_time(void **state)
{
	static const struct profile_mark start[] = {{0, 5000, 1, 0, 0}, {0, 0, 2, 0, 0}};
	struct profile p = timed_profile();
	struct profile_marks marks = *p.marks;
	struct message trace;
	struct buffer out;
	struct field packet, at;
	unsigned timed = 0, first = 0;

	(void)state;
	p.started_at = 0;
	marks.items = start;
	marks.item_count = ARRAY_LEN(start);
	p.marks = &marks;
	out = traced(&p);
	trace = all_of(&out);
	while (next_field(&trace, &packet)) {
		at = get(packet.bytes, 8);
		if (!get(packet.bytes, 11).number && !get(packet.bytes, 135).number) {
			assert_int_equal(at.number, 0);
			continue;
		}
		assert_int_equal(at.number, 8);
		timed++;
		first += !at.value;
	}
	/* a sample, the begin of its state, a span and an event */
	assert_int_equal(first, 4);
	assert_true(timed > first);
	buffer_free(&out);
}

/* Samples of P are in the order of time; the last one is at LAST. */
static void check_times(const struct profile *p, uint64_t last)
{
	struct buffer out = traced(p);
	struct message trace = all_of(&out);
	struct field packet;
	uint64_t at = 0;

	while (next_field(&trace, &packet)) {
		if (!get(packet.bytes, 135).number)
			continue;
		assert_true(get(packet.bytes, 8).value >= at);
		at = get(packet.bytes, 8).value;
	}
	assert_true(at == last);
	buffer_free(&out);
}

/* Times that are more than there is are the last there is, and do not begin again. */
static void times_do_not_wrap(void **state)
{
	struct profile p = timed_profile();
	struct profile_stack stacks[3];
	uint32_t i;

	(void)state;
	p.moment_step = 1ull << 61;
	check_times(&p, UINT64_MAX);
	for (i = 0; i < ARRAY_LEN(stacks); i++) {
		stacks[i] = p.stacks[0];
		stacks[i].weight = 1ull << 63;
	}
	p.stacks = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	assert_false(profile_has_times(&p));
	check_times(&p, UINT64_MAX);
}

/* Samples of one time stand by thread, whichever order the profile has them in. */
static void order_is_one(void **state)
{
	struct profile p = timed_profile();
	struct buffer out = traced(&p), other;
	struct profile_moment moments[10];

	(void)state;
	assert_true(p.moment_count <= ARRAY_LEN(moments) && p.moments[1].at == p.moments[2].at);
	memcpy(moments, p.moments, p.moment_count * sizeof(*moments));
	moments[1] = p.moments[2];
	moments[2] = p.moments[1];
	p.moments = moments;
	other = traced(&p);
	assert_true(out.length == other.length && memcmp(out.data, other.data, out.length) == 0);
	buffer_free(&out);
	buffer_free(&other);
}

/* The attribute KEY of the trace of P, in OUT: false: it has none. */
static bool attribute_of(const struct profile *p, const char *key, char out[200])
{
	struct buffer file = traced(p);
	struct message trace = all_of(&file), attributes, text;
	struct field packet, item;
	bool found = false;

	while (next_field(&trace, &packet)) {
		attributes = get(packet.bytes, 126).bytes;
		while (attributes.at && next_field(&attributes, &item)) {
			text = get(item.bytes, 1).bytes;
			if ((size_t)(text.end - text.at) != strlen(key) || memcmp(text.at, key, strlen(key)) != 0)
				continue;
			text = get(item.bytes, 3).bytes;
			snprintf(out, 200, "%.*s", (int)(text.end - text.at), (const char *)text.at);
			found = true;
		}
	}
	buffer_free(&file);
	return found;
}

/* Marks that were too many to be kept are told of by their number. */
static void left_out_marks_are_told(void **state)
{
	struct profile p = timed_profile();
	struct profile_marks marks = *p.marks;
	struct profile_mark_name names[3];
	char text[200];

	(void)state;
	assert_true(attribute_of(&p, "jstrobe", text));
	assert_false(attribute_of(&p, "jstrobe.marks", text));
	memcpy(names, marks.names, sizeof(names));
	names[1].count = 25000;
	names[2].kept = 0;
	marks.names = names;
	p.marks = &marks;
	assert_true(attribute_of(&p, "jstrobe.marks", text));
	assert_string_equal(text, "Spans: 4 of 25,000; Events: 0 of 1; they are too many: of each name the longest are "
			    "in this file, of equally long ones all or none");
}

/* A million samples need memory for the profile alone: the file leaves while it is made. */
static void nothing_is_kept(void **state)
{
	static const struct format_options options = {.threads = true, .exports = exports_write};
	struct profile_moment *moments = calloc(1000000, sizeof(*moments));
	struct profile p = timed_profile();
	const struct profile *profiles[] = {&p};
	struct buffer out;
	FILE *file = tmpfile();
	uint32_t i;

	(void)state;
	assert_true(moments && file);
	for (i = 0; i < 1000000; i++)
		moments[i] = (struct profile_moment){.at = i, .stack = i % 4, .thread = i % 3, .samples = 1, .weight = i};
	p.moments = moments;
	p.moment_count = 1000000;
	buffer_init(&out, fileno(file));
	format_write(format_by_name("perfetto"), profiles, 1, &options, &out, NULL);
	assert_true(out.capacity < 1 << 20);
	assert_int_equal(buffer_flush(&out), 0);
	assert_true(out.written > 10000000 && out.written < 200000000);
	buffer_free(&out);
	fclose(file);
	free(moments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_nest), cmocka_unit_test(threads_stay_apart), cmocka_unit_test(samples_are_whole),
		cmocka_unit_test(threads_without_a_name_are_told),
		cmocka_unit_test(all_have_a_time), cmocka_unit_test(times_do_not_wrap),
		cmocka_unit_test(order_is_one), cmocka_unit_test(left_out_marks_are_told),
		cmocka_unit_test(nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
