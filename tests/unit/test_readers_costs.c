/* Reading costs no more than the size of a file can mean: what many items lead to is read but once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <fcntl.h>

#include <cmocka.h>

#include "foreign_files.h"
#include "made_jfr.h"
#include "profile/readers/read_contexts.h"
#include "profile/writers/protobuf.h"

#define MANY 60000   /* items that lead to one of as many fields: 3.6 billion steps */
#define SECONDS 10   /* of CPU time: a hundred times of what it takes */

struct messages {
	struct buffer all, part, inner;
};

static void put_number(struct buffer *to, unsigned field, uint64_t number)
{
	proto_varint(to, (uint64_t)field << 3);
	proto_varint(to, number);
}

/* MANY fields that no reader knows. */
static void put_junk(struct buffer *to)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		put_number(to, 9, 1);
}

static void put_text(struct buffer *to, unsigned field, const char *text)
{
	proto_bytes(to, field, text, strlen(text));
}

/* A packed list of numbers FROM, FROM + STEP, …, as field FIELD. */
static void put_list(struct messages *m, struct buffer *to, unsigned field, uint64_t from, uint64_t step)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		proto_varint(&m->inner, from + i * step);
	proto_message(to, field, &m->inner);
}

/* The file in FIELD `all` is read, or refused for what is in it, in time. */
static void expect_soon(struct messages *m, const char *refused)
{
	clock_t from = clock();
	struct error err;
	struct conversion *c = foreign_read(m->all.data, m->all.length, "csv", &err);

	assert_true(clock() - from < SECONDS * CLOCKS_PER_SEC);
	if (refused && (c || !strstr(err.text, refused)))
		fail_msg("%s is not in: %s", refused, c ? "" : err.text);
	if (!refused && !c)
		fail_msg("refused: %s", err.text);
	if (c)
		readers_free(c);
	buffer_free(&m->all);
	buffer_free(&m->part);
	buffer_free(&m->inner);
}

static void put_pprof_texts(struct messages *m)
{
	static const char *const texts[] = {"", "cpu", "nanoseconds", "f"};
	size_t i;

	put_number(&m->part, 1, 1);
	put_number(&m->part, 2, 2);
	proto_message(&m->all, 1, &m->part);
	for (i = 0; i < ARRAY_LEN(texts); i++)
		put_text(&m->all, 6, texts[i]);
}

static void put_pprof_function(struct messages *m, bool junk)
{
	put_number(&m->part, 1, 1);
	put_number(&m->part, 2, 3);
	if (junk)
		put_junk(&m->part);
	proto_message(&m->all, 5, &m->part);
}

static void put_pprof_sample(struct messages *m, uint64_t step)
{
	put_list(m, &m->part, 1, 1, step);
	proto_varint(&m->inner, 5);
	proto_message(&m->part, 2, &m->inner);
	proto_message(&m->all, 2, &m->part);
}

/* One location with as many lines, all of one function. */
static void pprof_of_one_function(void **state)
{
	struct messages m = {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT};
	unsigned i;

	(void)state;
	put_pprof_texts(&m);
	proto_varint(&m.inner, 1);
	proto_message(&m.part, 1, &m.inner);
	proto_varint(&m.inner, 5);
	proto_message(&m.part, 2, &m.inner);
	proto_message(&m.all, 2, &m.part);
	put_number(&m.part, 1, 1);
	for (i = 0; i < MANY; i++) {
		put_number(&m.inner, 1, 1);
		proto_message(&m.part, 4, &m.inner);
	}
	proto_message(&m.all, 4, &m.part);
	put_pprof_function(&m, true);
	expect_soon(&m, NULL);
}

/* As many locations of one mapping. */
static void pprof_of_one_mapping(void **state)
{
	struct messages m = {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT};
	unsigned i;

	(void)state;
	put_pprof_texts(&m);
	put_pprof_sample(&m, 1);
	for (i = 0; i < MANY; i++) {
		put_number(&m.part, 1, i + 1);
		put_number(&m.part, 2, 1);
		put_number(&m.inner, 1, 1);
		proto_message(&m.part, 4, &m.inner);
		proto_message(&m.all, 4, &m.part);
	}
	put_number(&m.part, 1, 1);
	put_junk(&m.part);
	proto_message(&m.all, 3, &m.part);
	put_pprof_function(&m, false);
	expect_soon(&m, NULL);
}

/* As many samples of one location with as many lines: a file of a megabyte would have stacks of billions. */
static void pprof_of_one_stack(void **state)
{
	struct messages m = {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT};
	unsigned i;

	(void)state;
	put_pprof_texts(&m);
	for (i = 0; i < MANY; i++) {
		proto_varint(&m.inner, 1);
		proto_message(&m.part, 1, &m.inner);
		proto_varint(&m.inner, 5);
		proto_message(&m.part, 2, &m.inner);
		proto_message(&m.all, 2, &m.part);
	}
	put_number(&m.part, 1, 1);
	for (i = 0; i < MANY; i++) {
		put_number(&m.inner, 1, 1);
		proto_message(&m.part, 4, &m.inner);
	}
	proto_message(&m.all, 4, &m.part);
	put_pprof_function(&m, false);
	expect_soon(&m, "deep stacks");
}

/* One sample with as many attributes, links to one, and locations of one mapping and one function: all with junk. */
static void otlp_of_one_of_each(void **state)
{
	static const char *const texts[] = {"", "k", "cpu", "nanoseconds", "f"};
	struct messages m = {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT};
	struct buffer profile = BUFFER_INIT, sample = BUFFER_INIT;
	unsigned i;

	(void)state;
	put_number(&m.inner, 1, 2);
	put_number(&m.inner, 2, 3);
	proto_message(&profile, 1, &m.inner);
	put_number(&sample, 1, 1);
	put_list(&m, &sample, 2, 1, 0);
	for (i = 0; i < MANY; i++)
		put_number(&sample, 3, 1);
	proto_varint(&m.inner, 7);
	proto_message(&sample, 4, &m.inner);
	proto_message(&profile, 2, &sample);
	proto_message(&m.inner, 2, &profile);
	proto_message(&m.part, 2, &m.inner);
	proto_message(&m.all, 1, &m.part);

	for (i = 0; i < ARRAY_LEN(texts); i++)
		put_text(&m.part, 5, texts[i]);
	for (i = 1; i <= 7; i++)
		if (i != 5)
			proto_message(&m.part, i, &m.inner); /* the first of each is none */
	put_junk(&m.inner);
	proto_message(&m.part, 1, &m.inner);
	put_number(&m.inner, 1, 4);
	put_junk(&m.inner);
	proto_message(&m.part, 3, &m.inner);
	put_junk(&m.inner);
	proto_message(&m.part, 4, &m.inner);
	put_number(&m.inner, 1, 1);
	put_junk(&m.inner);
	proto_message(&m.part, 6, &m.inner);
	for (i = 0; i < MANY; i++) {
		put_number(&sample, 1, 1);
		put_number(&sample, 4, 1);
		put_number(&profile, 1, 1);
		proto_message(&sample, 3, &profile);
		proto_message(&m.part, 2, &sample);
	}
	put_list(&m, &sample, 1, 1, 1);
	proto_message(&m.part, 7, &sample);
	proto_message(&m.all, 2, &m.part);
	buffer_free(&profile);
	buffer_free(&sample);
	expect_soon(&m, NULL);
}

/* A text of commas, in front of the first "=". */
static void labels_of_commas(void **state)
{
	struct buffer text = BUFFER_INIT, labels = BUFFER_INIT;
	clock_t from;
	unsigned i;

	(void)state;
	for (i = 0; i < 2 * MANY; i++)
		buffer_puts(&text, ", ");
	buffer_puts(&text, "key=value, and more, other=1");
	buffer_putc(&text, '\0');
	from = clock();
	read_context_labels(&labels, text.data);
	assert_true(clock() - from < SECONDS * CLOCKS_PER_SEC);
	buffer_putc(&labels, '\0');
	assert_string_equal(labels.data + labels.length - strlen("key\nvalue, and more\nother\n1\n") - 1,
			    "key\nvalue, and more\nother\n1\n");
	buffer_free(&text);
	buffer_free(&labels);
}

/* A chunk, a hole of 64 GB, and another chunk: as some copies of files have it. */
static void a_hole_in_a_recording(void **state)
{
	const off_t hole = (off_t)1 << 36;
	struct made m = {.wide = false};
	struct conversion *c = NULL;
	struct options o;
	struct error err;
	const char *name;
	uint32_t count;
	clock_t from;
	int fd;

	(void)state;
	made_begin(&m, 1790000000000000000, 5000000, 1000000);
	made_usual_constants(&m, 0);
	made_execution(&m, 5000001, 1, 1, 2);
	made_end(&m, 1000000000);
	name = made_file(&m);
	fd = open(name, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, m.bytes.data, m.bytes.length, hole), m.bytes.length);
	if (lseek(fd, hole / 2, SEEK_DATA) != hole)
		skip();
	options_init(&o);
	from = clock();
	assert_int_equal(readers_read(name, &o, false, &c, &err), 0);
	assert_true(clock() - from < SECONDS * CLOCKS_PER_SEC);
	assert_int_equal(convert_profiles(c, &count)[0]->stored, 2);
	assert_non_null(strstr(readers_notes(c), "bytes"));
	readers_free(c);
	close(fd);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pprof_of_one_function), cmocka_unit_test(pprof_of_one_mapping),
		cmocka_unit_test(pprof_of_one_stack), cmocka_unit_test(otlp_of_one_of_each),
		cmocka_unit_test(labels_of_commas), cmocka_unit_test(a_hole_in_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
