/* Recordings that are open, cut off or damaged: what can be read is, and what was not is said. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "made_jfr.h"
#include "profile/readers/jfr/chunk.h"
#include "profile/readers/read_formats.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

#define START 1790000000000000000ll

/* Samples in the file called NAME; NOTES (may be NULL) becomes a copy of what was said. */
static uint64_t samples_of(const char *name, char **notes)
{
	struct conversion *c;
	struct options o;
	struct error err = {0};
	uint64_t samples;
	uint32_t count;

	options_init(&o);
	if (readers_read(name, &o, true, &c, &err)) {
		assert_int_not_equal(err.code, 0);
		assert_true(err.text[0]);
		return 0;
	}
	samples = convert_profiles(c, &count)[0]->stored;
	if (notes)
		*notes = strdup(readers_notes(c));
	readers_free(c);
	return samples;
}

/* A chunk with its constants before and between the events, as ours and the JDK's are while open. */
static void put_chunk(struct made *m, bool finished, unsigned samples)
{
	unsigned i;

	made_begin(m, START, 1000, 1000000000);
	made_usual_constants(m, 0);
	for (i = 0; i < samples; i++)
		made_execution(m, 1000 + i, 1 + i % 2, 1, 1);
	made_constants(m, 1);
	made_pool(m, MADE_SYMBOL, 1);
	made_long(m, 99);
	made_text(m, "late");
	made_constants_end(m);
	for (i = 0; i < samples; i++)
		made_execution(m, 2000 + i, 1, 2, 1);
	if (finished)
		made_end(m, 5000);
}

static void open_chunk(void **state)
{
	struct made m = {.ours = false};
	char *notes = NULL;

	put_chunk(&m, true, 3);
	put_chunk(&m, false, 4);
	made_event(&m, MADE_EXECUTION); /* begun, and then the process was killed */
	made_event_end(&m);
	m.bytes.data[m.event] = (char)0xa0;
	assert_int_equal(samples_of(made_file(&m), &notes), 14);
	assert_non_null(strstr(notes, "1 chunk was not finished"));
	assert_non_null(strstr(notes, "bytes are damaged or not finished"));
	free(notes);
	made_free(&m);
}

/* A header that speaks of a size that the file does not have, or of things that are not there. */
static void headers_that_do_not_hold_true(void **state)
{
	static const struct {
		unsigned offset;
		unsigned char value;
	} rows[] = {{8, 1}, {12, 9}, {16, 1}, {20, 9}, {23, 69}, {24, 1}, {31, 200}, {64, 1}, {64, 255}};
	struct made m = {.ours = false};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		put_chunk(&m, true, 3);
		m.bytes.data[rows[i].offset] = (char)rows[i].value;
		assert_int_equal(samples_of(made_file(&m), NULL), 6);
		made_free(&m);
	}
}

/* Whatever follows a damaged event is lost, up to the next chunk. */
static void damage_between_chunks(void **state)
{
	struct made m = {.ours = false};
	char *notes = NULL;
	size_t end;

	put_chunk(&m, true, 3);
	end = m.bytes.length;
	buffer_puts(&m.bytes, "this is none of it");
	put_chunk(&m, true, 2);
	assert_int_equal(samples_of(made_file(&m), &notes), 10);
	assert_non_null(strstr(notes, "18 bytes are damaged"));
	free(notes);
	/* the last event of the first chunk has no size now */
	memset(m.bytes.data + end - 9, 0, 9);
	assert_int_equal(samples_of(made_file(&m), NULL), 9);
	made_free(&m);
}

static void without_constants(void **state)
{
	struct made m = {.ours = false};
	char *notes = NULL;

	/* async-profiler writes constants when a chunk ends */
	made_begin(&m, START, 1000, 1000000000);
	made_execution(&m, 1001, 1, 1, 1);
	assert_int_equal(samples_of(made_file(&m), &notes), 1);
	free(notes);
	made_free(&m);
}

/* Each byte less is at most a sample less, and never one more. */
/* As jstrobe writes them: each sample as a pair, its own account, and batches of wall-clock samples beside. */
static void put_ours(struct made *m)
{
	unsigned i;

	made_begin(m, START, 1000, 1000000000);
	made_usual_constants(m, 0);
	for (i = 0; i < 3; i++) {
		made_execution(m, 1000 + i, 1 + i % 2, 1 + i % 2, 1);
		made_cpu_time(m, 1000 + i, 1 + i % 2, 1 + i % 2, 1000000);
		made_wall(m, 1500 + i, 1, 2, 3, 20, 400);
	}
	made_event(m, MADE_COUNTERS);
	made_long(m, 2000);
	made_text(m, "cpu");
	made_text(m, "perf");
	made_long(m, 1000000);
	made_long(m, 3);
	made_long(m, 3);
	made_long(m, 3);
	made_long(m, 3500000);
	made_long(m, 500000);
	made_event_end(m);
	made_end(m, 5000);
}

/* As async-profiler writes them: the constants when a chunk ends, whose size is 1 GB until then. */
static void put_peers(struct made *m)
{
	unsigned i;

	made_begin(m, START, 1000, 1000000000);
	for (i = 0; i < 3; i++)
		made_execution(m, 1000 + i, 1 + i % 2, 1 + i % 2, 1);
	made_usual_constants(m, 0);
	made_end(m, 5000);
}

/* However much of M is there, it has as many samples as without the last byte, or one more; WHOLE at the end. */
static void cut(struct made *m, uint64_t whole)
{
	uint64_t last = 0, samples;
	size_t n;

	for (n = 0; n <= m->bytes.length; n++) {
		samples = samples_of(made_file_of(m->bytes.data, n), NULL);
		assert_true(samples >= last && samples <= last + 1);
		last = samples;
	}
	assert_int_equal(last, whole);
	made_free(m);
}

static void cut_at_every_byte(void **state)
{
	static const char size_unknown[8] = {0, 0, 0, 0, 0x40};
	struct made jdks = {.ours = false}, ours = {.ours = true}, peers = {.ours = false};

	put_chunk(&jdks, true, 3);
	put_chunk(&jdks, true, 2);
	cut(&jdks, 10);
	put_ours(&ours);
	put_ours(&ours);
	cut(&ours, 6);
	put_peers(&peers);
	put_peers(&peers);
	memcpy(peers.bytes.data + peers.chunk + 8, size_unknown, sizeof(size_unknown));
	cut(&peers, 6);
}

static void change(struct made *m, uint64_t whole)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	unsigned char was;
	size_t n, i;

	for (n = 0; n < m->bytes.length; n++) {
		was = (unsigned char)m->bytes.data[n];
		for (i = 0; i < ARRAY_LEN(values); i++) {
			m->bytes.data[n] = (char)values[i];
			samples_of(made_file(m), NULL);
		}
		m->bytes.data[n] = (char)was;
	}
	assert_int_equal(samples_of(made_file(m), NULL), whole);
	made_free(m);
}

static void changed_at_every_byte(void **state)
{
	struct made jdks = {.ours = false}, ours = {.ours = true}, peers = {.ours = false};

	put_chunk(&jdks, true, 2);
	change(&jdks, 4);
	put_ours(&ours);
	change(&ours, 3);
	put_peers(&peers);
	change(&peers, 3);
}

/* A header is not believed whose checkpoints lie in one another: each would have the bytes of all behind it read. */
static void checkpoints_that_overlap(void **state)
{
	struct made m = {.ours = false};
	struct chunk_event e;
	struct chunk c;
	struct input in;
	uint64_t first, size = 0;
	size_t i;

	put_chunk(&m, true, 3);
	in = (struct input){.bytes = (uint8_t *)m.bytes.data, .size = m.bytes.length, .name = "overlap"};
	assert_int_equal(chunk_find(&c, &in, 0), 0);
	assert_true(c.finished);
	assert_int_equal(c.constants.count, 2);
	first = c.constants.items[1];
	assert_true(first < c.constants.items[0]);
	chunk_free(&c);
	/* up to the chunk's end */
	size = m.bytes.length - first;
	for (i = 0; i < 4; i++)
		m.bytes.data[first + i] = (char)(size >> 7 * i & 0x7f) | (i < 3 ? (char)0x80 : 0);
	assert_int_equal(chunk_find(&c, &in, 0), 0);
	assert_false(c.finished);
	for (i = 0, size = 0; i < c.constants.count; i++) {
		assert_true(chunk_event(&c, c.constants.items[i], &e));
		size += e.size;
	}
	assert_in_range(size, 1, in.size);
	chunk_free(&c);
	made_free(&m);
}

static void types_without_end(void **state)
{
	static const char name[] = "jdk.types.VirtualSpace";
	struct made m = {.ours = false};
	char *at;

	/* its fields "start" and "end" become of its own type: 20 (long) is 48 (itself) */
	put_chunk(&m, true, 2);
	at = memmem(m.bytes.data, m.bytes.length, name, strlen(name));
	assert_non_null(at);
	at = memmem(m.bytes.data, m.bytes.length, "\3\00220", 4);
	assert_non_null(at);
	memcpy(at + 2, "48", 2);
	samples_of(made_file(&m), NULL);
	made_free(&m);
}

/* The repaired file in memory, to be unmapped; its name in PATH. */
static int repaired(const struct made *m, char path[32], struct buffer *notes)
{
	int fd = memfd_create("repaired", MFD_CLOEXEC);
	struct error err;

	assert_true(fd >= 0);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	assert_int_equal(readers_repair(made_file(m), fd, notes, &err), 0);
	return fd;
}

/* Every chunk of the result is finished, and says the same as what could be read before. */
static void repair(void **state)
{
	struct made m = {.ours = false};
	struct buffer notes = BUFFER_INIT;
	struct input in;
	struct chunk c;
	struct error err;
	char path[32];
	uint64_t at = 0;
	unsigned chunks = 0;
	int wide, fd;

	for (wide = 0; wide < 2; wide++) {
		m.wide = wide;
		put_chunk(&m, true, 3);
		put_chunk(&m, false, 4);
		buffer_puts(&m.bytes, "\xa0");
		fd = repaired(&m, path, &notes);
		assert_int_equal(samples_of(path, NULL), 14);
		assert_int_equal(input_open(&in, path, &err), 0);
		for (at = 0; chunk_find(&c, &in, at) == 0; at = c.next, chunk_free(&c), chunks++) {
			assert_int_equal(c.start, at);
			assert_true(c.finished);
			assert_int_equal(c.constants.count, 2);
		}
		chunk_free(&c);
		assert_int_equal(at, in.size);
		input_close(&in);
		close(fd);
		made_free(&m);
	}
	assert_int_equal(chunks, 4);
	buffer_putc(&notes, '\0');
	assert_non_null(strstr(notes.data, "1 chunk was not finished"));
	buffer_free(&notes);
}

/* What THREADS of them make of the file called NAME, as collapsed stacks; FACTS are filled in. */
static char *read_by(const char *name, unsigned threads, struct recording_info *info, struct read_aggregate *aggregate)
{
	struct selection all = {.families = "cpu", .states = "", .threads = "", .context_filter = {"", "", ""}, .by_thread = true};
	struct format_options options = {.threads = true};
	struct profile p = {.main_class = "", .jdk = "", .engine = ""};
	const struct profile *shown = &p;
	struct buffer out = BUFFER_INIT;
	struct input in;
	struct error err;

	memset(info, 0, sizeof(*info));
	memset(aggregate, 0, sizeof(*aggregate));
	aggregate->per_thread = true;
	assert_int_equal(input_open(&in, name, &err), 0);
	assert_int_equal(recording_read(&in, &all, aggregate, info, false, threads), 0);
	input_close(&in);
	assert_int_equal(read_aggregate_profile(aggregate, 0, &p), 0);
	format_write(format_by_name("collapsed"), &shown, 1, &options, &out, NULL);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	read_aggregate_profile_free(&p);
	return out.data;
}

static void put_lost(struct made *m, uint64_t samples)
{
	made_event(m, MADE_LOST);
	made_long(m, 1000);
	made_text(m, "cpu");
	made_text(m, "queue_full");
	made_long(m, samples);
	made_long(m, 10 * samples);
	made_event_end(m);
}

/* However many threads read, and whichever chunk each reads, the sums are the same. */
static void several_threads(void **state)
{
	struct made m = {.ours = true};
	struct recording_info one, many;
	struct read_aggregate aggregate;
	char *expected, *found;
	const char *name;
	unsigned i, threads;

	for (i = 0; i < 40; i++) {
		made_begin(&m, START + i, 1000, 1000000000);
		made_usual_constants(&m, i % 3);
		made_execution(&m, 1000, 1 + i % 2, 1 + i % 3, 1);
		made_execution(&m, 1000, 2, 2 + i % 3, 1);
		put_lost(&m, i);
		if (i % 7)
			made_end(&m, 5000);
		else
			made_byte(&m, 0);
	}
	name = made_file(&m);
	expected = read_by(name, 1, &one, &aggregate);
	assert_int_equal(one.chunks, 40);
	assert_int_equal(one.open_chunks, 6);
	assert_int_equal(one.lost_bytes, 6);
	assert_int_equal(one.counts.items[0].lost[LOSS_queue_full], 780);
	read_aggregate_free(&aggregate);
	for (threads = 2; threads < 6; threads++) {
		found = read_by(name, threads, &many, &aggregate);
		assert_string_equal(found, expected);
		assert_int_equal(many.start_ns, one.start_ns);
		assert_int_equal(many.end_ns, one.end_ns);
		assert_int_equal(many.open_chunks, 6);
		assert_int_equal(many.lost_bytes, 6);
		assert_int_equal(many.counts.items[0].lost[LOSS_queue_full], 780);
		assert_int_equal(many.counts.items[0].lost_weight[LOSS_queue_full], 7800);
		free(found);
		free(many.counts.items);
		read_aggregate_free(&aggregate);
	}
	free(one.counts.items);
	free(expected);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_chunk),
		cmocka_unit_test(headers_that_do_not_hold_true),
		cmocka_unit_test(damage_between_chunks),
		cmocka_unit_test(without_constants),
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(changed_at_every_byte),
		cmocka_unit_test(checkpoints_that_overlap),
		cmocka_unit_test(types_without_end),
		cmocka_unit_test(repair),
		cmocka_unit_test(several_threads),
	};

	return cmocka_run_group_tests_name("convert/damage", tests, NULL, NULL);
}
