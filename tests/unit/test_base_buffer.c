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

#include "common/base/buffer.h"
#include "common/base/clean.h"
#include "common/base/error.h"
#include "common/base/json_writer.h"

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

	json_quote(&b, text);
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

static void written(enum json_layout layout, const char *expected)
{
	struct buffer b = BUFFER_INIT;
	struct json_writer w = JSON_WRITER(&b, layout);

	json_object(&w, NULL);
	json_put_numbers(&w, {"n", 1}, {"most", UINT64_MAX});
	json_put_texts(&w, {"a<b", "</script>"}, {"none", NULL});
	json_array(&w, "list");
	json_object(&w, NULL);
	json_put_bool(&w, "yes", true);
	json_array(&w, "inner");
	json_put_value(&w, NULL, "2.5");
	json_put_value(&w, NULL, "null");
	json_end(&w);
	json_end(&w);
	json_put_number(&w, NULL, 0);
	json_end(&w);
	json_array(&w, "empty");
	json_end(&w);
	json_object(&w, "object");
	json_end(&w);
	json_begin_text(&w, "bytes");
	buffer_puts(&b, "QUJD");
	json_end_text(&w);
	json_end(&w);
	assert_string_equal(text_of(&b), expected);
	buffer_free(&b);
}

static void json_layouts(void **state)
{
	written(JSON_FILE, "{\n  \"n\": 1,\n  \"most\": 18446744073709551615,\n  \"a<b\": \"</script>\",\n  \"none\": \"\",\n"
		"  \"list\": [\n    {\"yes\": true, \"inner\": [2.5, null]},\n    0\n  ],\n  \"empty\": [\n  ],\n"
		"  \"object\": {},\n  \"bytes\": \"QUJD\"\n}\n");
	written(JSON_LINE, "{\"n\":1,\"most\":18446744073709551615,\"a<b\":\"</script>\",\"none\":\"\","
		"\"list\":[{\"yes\":true,\"inner\":[2.5,null]},0],\"empty\":[],\"object\":{},\"bytes\":\"QUJD\"}\n");
	written(JSON_PAGE, "{\n\"n\":1,\n\"most\":18446744073709551615,\n\"a\\u003cb\":\"\\u003c/script>\",\n\"none\":\"\",\n"
		"\"list\":[\n{\"yes\":true,\"inner\":[2.5,null]},\n0\n],\n\"empty\":[\n],\n\"object\":{},\n"
		"\"bytes\":\"QUJD\"\n}\n");
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

#define ESC "\033"

/* TEXT as CLEAN_LINE and CLEAN_TEXT show it. */
static void expect_clean(const char *text, size_t n, const char *line, const char *lines)
{
	struct buffer b = BUFFER_INIT;

	clean_put(&b, text, n, CLEAN_LINE);
	buffer_putc(&b, '\0');
	assert_string_equal(b.data, line);
	b.length = 0;
	clean_put(&b, text, n, CLEAN_TEXT);
	buffer_putc(&b, '\0');
	assert_string_equal(b.data, lines);
	buffer_free(&b);
}

#define EXPECT_CLEAN(text, line, lines) expect_clean(text, sizeof(text) - 1, line, lines)

static void what_a_terminal_would_obey(void **state)
{
	EXPECT_CLEAN("plain ~ text", "plain ~ text", "plain ~ text");
	EXPECT_CLEAN("Größe 日本 😀", "Größe 日本 😀", "Größe 日本 😀");
	EXPECT_CLEAN(ESC "]0;x\a" ESC "[2J", "\\x1b]0;x\\x07\\x1b[2J", "\\x1b]0;x\\x07\\x1b[2J");
	EXPECT_CLEAN("a\nb\tc\rd\0e", "a\\x0ab\\x09c\\x0dd\\x00e", "a\nb\tc\\x0dd\\x00e");
	EXPECT_CLEAN("\x7f\xc2\x9b" "31m\xc2\x9d", "\\x7f\\u009b31m\\u009d", "\\x7f\\u009b31m\\u009d");
	/* the same as bytes that are no UTF-8: Latin-1 terminals */
	EXPECT_CLEAN("\x9b" "31m", "\\x9b31m", "\\x9b31m");
	EXPECT_CLEAN("a\u202eb\u2066c\u200bd\u2028", "a\\u202eb\\u2066c\\u200bd\\u2028",
		     "a\\u202eb\\u2066c\\u200bd\\u2028");
	EXPECT_CLEAN("\U000e0041\ufeff", "\\U000e0041\\ufeff", "\\U000e0041\\ufeff");
	/* cut, overlong, a surrogate, beyond the last character */
	EXPECT_CLEAN("\xe2\x82", "\\xe2\\x82", "\\xe2\\x82");
	EXPECT_CLEAN("\xc0\x9b", "\\xc0\\x9b", "\\xc0\\x9b");
	EXPECT_CLEAN("\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80");
	EXPECT_CLEAN("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80");
}

/* Every character, and every pair of bytes: what comes out has nothing that is unsafe, and is clean itself. */
static void nothing_gets_through(void **state)
{
	struct buffer b = BUFFER_INIT;
	char text[4];
	uint32_t c;

	for (c = 0; c < 0x10000; c++) {
		text[0] = (char)c;
		text[1] = (char)(c >> 8);
		text[2] = 'x';
		b.length = 0;
		clean_put(&b, text, 3, CLEAN_LINE);
		assert_int_equal(clean_length(b.data, b.length, CLEAN_LINE), b.length);
		assert_int_equal(b.data[b.length - 1], 'x');
	}
	buffer_free(&b);
}

static void a_text_with_colours(void **state)
{
	struct buffer b = BUFFER_INIT;
	const char *p;

	buffer_puts(&b, ESC "before");
	buffer_clean_begin(&b);
	buffer_colour(&b, ESC "[1m");
	for (p = "gr\xc3\xb6\xc3\x9f" "er\xc2\x9b\n"; *p; p++)
		buffer_putc(&b, *p); /* characters may come in pieces */
	buffer_printf(&b, "%s", ESC "[31m");
	buffer_colour(&b, ESC "[0m");
	buffer_puts(&b, "\xe2");
	buffer_clean_end(&b);
	buffer_puts(&b, ESC "after");
	buffer_putc(&b, '\0');
	assert_string_equal(b.data, ESC "before" ESC "[1mgrößer\\u009b\n\\x1b[31m" ESC "[0m\\xe2" ESC "after");
	buffer_free(&b);
}

/* The same through a descriptor, with characters across the borders of what is written at a time. */
static void a_long_text_with_colours(void **state)
{
	static char back[8 << 20];
	FILE *file = tmpfile();
	struct buffer b;
	size_t i, n, at = 0;

	assert_non_null(file);
	buffer_init(&b, fileno(file));
	buffer_clean_begin(&b);
	for (i = 0; i < 100000; i++) {
		buffer_append(&b, "\xe6", 1);
		buffer_append(&b, "\x97\xa5\x9b", 3);
		if (i % 7 == 0)
			buffer_colour(&b, ESC "[0m");
	}
	buffer_clean_end(&b);
	assert_int_equal(buffer_flush(&b), 0);
	buffer_free(&b);
	rewind(file);
	n = fread(back, 1, sizeof(back), file);
	for (i = 0; i < 100000; i++) {
		assert_memory_equal(back + at, "日\\x9b", 7);
		at += 7;
		if (i % 7 == 0) {
			assert_memory_equal(back + at, ESC "[0m", 4);
			at += 4;
		}
	}
	assert_int_equal(at, n);
	fclose(file);
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
		cmocka_unit_test(json_layouts),
		cmocka_unit_test(full_disk), cmocka_unit_test(to_a_descriptor),
		cmocka_unit_test(errors),    cmocka_unit_test(closed_descriptor),
		cmocka_unit_test(what_a_terminal_would_obey), cmocka_unit_test(nothing_gets_through),
		cmocka_unit_test(a_text_with_colours), cmocka_unit_test(a_long_text_with_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
