/* Packed files are read as what they hold, also where they are cut or damaged, and never fill the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/views/gzip.h"
#include "profile/readers/input/gunzip.h"

#define LINES 20000

static char path[] = "/tmp/jstrobe-test-XXXXXX";

static struct buffer stacks(void)
{
	struct buffer b = BUFFER_INIT;
	unsigned i;

	for (i = 0; i < LINES; i++)
		buffer_printf(&b, "main;run;method%u %u\n", i * 7919 % LINES, i);
	return b;
}

static struct buffer packed(const struct buffer *text, bool stored)
{
	struct buffer out = BUFFER_INIT, part = BUFFER_INIT;
	struct gzip *z = stored ? gzip_begin_stored(&out) : gzip_begin(&out);

	assert_non_null(z);
	buffer_append(&part, text->data, text->length);
	gzip_take(z, &part, true);
	gzip_end(z);
	buffer_free(&part);
	return out;
}

static int open_bytes(struct input *in, const void *bytes, size_t n, struct error *err)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
	return input_open(in, path, err);
}

static void whole_files(void **state)
{
	struct buffer text = stacks(), first, second;
	struct input in;
	struct error err;
	size_t once;

	(void)state;
	first = packed(&text, false);
	once = first.length;
	second = packed(&text, true);
	assert_true(first.length < text.length / 2 && second.length > text.length);
	assert_int_equal(open_bytes(&in, first.data, first.length, &err), 0);
	assert_false(in.cut);
	assert_int_equal(in.size, text.length);
	assert_memory_equal(in.bytes, text.data, text.length);
	input_forget(&in, 0, in.size); /* it can be read again */
	assert_memory_equal(in.bytes, text.data, text.length);
	input_close(&in);
	/* two members, and what is none */
	buffer_append(&first, second.data, second.length);
	buffer_puts(&first, "no member");
	assert_int_equal(open_bytes(&in, first.data, first.length, &err), 0);
	assert_false(in.cut);
	assert_int_equal(in.size, 2 * text.length);
	assert_memory_equal(in.bytes + text.length, text.data, text.length);
	input_close(&in);
	/* packed once more, as who packs all files does with those of pprof */
	buffer_free(&second);
	first.length = once;
	second = packed(&first, false);
	assert_int_equal(open_bytes(&in, second.data, second.length, &err), 0);
	assert_int_equal(in.size, text.length);
	assert_memory_equal(in.bytes, text.data, text.length);
	input_close(&in);
	/* not packed: as it is */
	assert_int_equal(open_bytes(&in, text.data, text.length, &err), 0);
	assert_int_equal(in.size, text.length);
	input_close(&in);
	buffer_free(&first);
	buffer_free(&second);
	buffer_free(&text);
}

/* What stands before the damage is there, and it is said. */
static void cut_and_damaged(void **state)
{
	struct buffer text = stacks(), file;
	struct error err;
	struct input in;
	size_t n, some = 0;

	(void)state;
	file = packed(&text, false);
	for (n = 3; n < file.length; n += 997) {
		if (open_bytes(&in, file.data, n, &err)) {
			assert_true(n < 2000 && strstr(err.text, "nothing of it can be unpacked"));
			continue;
		}
		assert_true(in.cut && in.size < text.length);
		assert_memory_equal(in.bytes, text.data, in.size);
		input_close(&in);
		some++;
	}
	assert_true(some > 10);
	file.data[file.length / 2] ^= 0x55;
	assert_int_equal(open_bytes(&in, file.data, file.length, &err), 0);
	assert_true(in.cut);
	input_close(&in);
	buffer_free(&file);
	buffer_free(&text);
}

/* A megabyte that stands for more than a profile does. */
static void too_much(void **state)
{
	struct buffer zeros = BUFFER_INIT, out = BUFFER_INIT;
	struct gzip *z = gzip_begin(&out);
	char *some = calloc(1, 1 << 20);
	struct error err;
	struct input in;
	unsigned i;

	(void)state;
	assert_true(z && some);
	for (i = 0; i <= 1025; i++) {
		buffer_append(&zeros, some, 1 << 20);
		gzip_take(z, &zeros, i == 1025);
	}
	gzip_end(z);
	assert_int_equal(open_bytes(&in, out.data, out.length, &err), -EFBIG);
	assert_non_null(strstr(err.text, "unpack it first"));
	buffer_free(&zeros);
	buffer_free(&out);
	free(some);
}

/* Where nothing can be unpacked to that is said, and nothing stays mapped. */
static void no_place(void **state)
{
	struct buffer text = stacks(), file = packed(&text, false);
	struct error err;
	struct input in;

	(void)state;
	setenv("TMPDIR", "/no/such/folder", 1);
	assert_true(open_bytes(&in, file.data, file.length, &err) < 0);
	assert_non_null(strstr(err.text, "/no/such/folder"));
	assert_null(in.bytes);
	unsetenv("TMPDIR");
	buffer_free(&file);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_files), cmocka_unit_test(cut_and_damaged), cmocka_unit_test(too_much),
		cmocka_unit_test(no_place),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
