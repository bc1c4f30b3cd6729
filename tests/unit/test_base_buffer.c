/* The growing buffer: contents, JSON escaping, its way into a descriptor, a full disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"

static const char *text_of(struct buffer *b)
{
	buffer_putc(b, '\0');
	return b->data;
}

static void grows(void **state)
{
	struct buffer b = BUFFER_INIT;
	char expected[20000];
	int i, n = 0;

	for (i = 0; i < 2000; i++) {
		buffer_printf(&b, "%d,", i);
		n += sprintf(expected + n, "%d,", i);
	}
	assert_int_equal(b.length, n);
	assert_memory_equal(b.data, expected, n);
	buffer_append(&b, NULL, 0);
	buffer_puts(&b, "");
	assert_int_equal(b.length, n);
	assert_int_equal(buffer_flush(&b), 0); /* without descriptor: stays */
	assert_int_equal(b.length, n);
	buffer_free(&b);
	buffer_free(&b);
}

static void json_of(const char *text, const char *expected)
{
	struct buffer b = BUFFER_INIT;

	buffer_json(&b, text);
	assert_string_equal(text_of(&b), expected);
	buffer_free(&b);
}

static void json(void **state)
{
	json_of("", "\"\"");
	json_of("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	json_of("\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"");
	json_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* overlong, surrogate, past U+10FFFF, lone continuation, cut at the end */
	json_of("\xc0\x80", "\"\\u0000\""); /* the JVM's own kind */
	json_of("a\xed\xa0\xbd\xed\xb8\x80z", "\"a\\ud83d\\ude00z\"");
	json_of("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	json_of("\xed\xa0\x80", "\"\\ufffd\"");
	json_of("\xed\xa0\x80x", "\"\\ufffdx\"");
	json_of("\xed\xb8\x80\xed\xa0\xbd", "\"\\ufffd\\ufffd\"");
	json_of("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	json_of("\xf5\xff", "\"\\ufffd\\ufffd\"");
	json_of("x\x80y", "\"x\\ufffdy\"");
	json_of("x\xe2\x82", "\"x\\ufffd\\ufffd\"");
	json_of("\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\"");
}

/* All that is appended arrives, in order, in pieces of any size. */
static void to_a_descriptor(void **state)
{
	char path[] = "/tmp/jstrobe-buffer-XXXXXX";
	int fd = mkstemp(path);
	struct buffer b;
	size_t total = 0, at, i;
	char *piece = malloc(300000), *back;

	assert_true(fd >= 0);
	unlink(path);
	buffer_init(&b, fd);
	for (i = 1; i < 300000; i = i * 3 + 1) {
		for (at = 0; at < i; at++)
			piece[at] = (char)((total + at) * 31 >> 4);
		buffer_append(&b, piece, i);
		total += i;
	}
	assert_true(b.written > 0); /* not all is kept until the end */
	assert_int_equal(buffer_flush(&b), 0);
	assert_int_equal(b.written, total);
	back = malloc(total);
	assert_int_equal(pread(fd, back, total, 0), total);
	for (at = 0; at < total; at++)
		if (back[at] != (char)(at * 31 >> 4))
			fail_msg("byte %zu differs", at);
	assert_int_equal(lseek(fd, 0, SEEK_END), total);
	free(back);
	free(piece);
	buffer_free(&b);
	close(fd);
}

static void full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY), i;
	struct buffer b;

	assert_true(fd >= 0);
	buffer_init(&b, fd);
	for (i = 0; i < 100000; i++)
		buffer_puts(&b, "0123456789");
	assert_int_equal(b.failed, ENOSPC);
	assert_true(b.capacity < 1u << 20); /* it did not gather what it could not write */
	assert_int_equal(buffer_flush(&b), -ENOSPC);
	assert_int_equal(b.written, 0);
	buffer_free(&b);
	close(fd);
}

static void closed_descriptor(void **state)
{
	struct buffer b;

	buffer_init(&b, 999);
	buffer_puts(&b, "x");
	assert_int_equal(buffer_flush(&b), -EBADF);
	assert_int_equal(buffer_flush(&b), -EBADF);
	buffer_free(&b);
}

static void errors(void **state)
{
	struct error err;
	char longer[2000];

	assert_int_equal(error_set(&err, ENOENT, "no %s at %d", "file", 7), -ENOENT);
	assert_int_equal(err.code, ENOENT);
	assert_string_equal(err.text, "no file at 7");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(error_set(&err, EIO, "%s", longer), -EIO);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1); /* cut, not overrun */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),     cmocka_unit_test(json),
		cmocka_unit_test(full_disk), cmocka_unit_test(to_a_descriptor),
		cmocka_unit_test(errors),    cmocka_unit_test(closed_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
