/* Files that lz4 has packed are read as what they hold, also where they are cut or damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "foreign_files.h"

/* A frame as the tool lz4 writes it, of "main;run 5\n". */
static const unsigned char frame[] = {0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 0x0b, 0x00, 0x00, 0x80,
				      'm',  'a',  'i',  'n',  ';',  'r',  'u',  'n',  ' ',  '5',  '\n',
				      0x00, 0x00, 0x00, 0x00, 0x61, 0xb0, 0x2e, 0xee};

/* N frames and MORE behind them; the caller frees it. */
static struct buffer frames(unsigned n, const char *more)
{
	struct buffer b = BUFFER_INIT;

	while (n--)
		buffer_append(&b, frame, sizeof(frame));
	buffer_puts(&b, more);
	return b;
}

static bool is_built_without(void)
{
	struct error err;
	struct conversion *c = foreign_read(frame, sizeof(frame), "collapsed", &err);

	if (c)
		readers_free(c);
	return !c && strstr(err.text, "built without liblz4; run 'unlz4' on it first");
}

/* A frame of bytes of a program's own, which is passed over, in front. */
static void skipped_frames(void **state)
{
	static const unsigned char skipped[] = {0x5a, 0x2a, 0x4d, 0x18, 0x03, 0x00, 0x00, 0x00, 'a', 'b', 'c'};
	struct buffer b = BUFFER_INIT;
	char *text;

	(void)state;
	if (is_built_without())
		skip();
	buffer_append(&b, skipped, sizeof(skipped));
	buffer_append(&b, frame, sizeof(frame));
	text = foreign_as(b.data, b.length, "collapsed");
	assert_string_equal(text, "main;run 5\n");
	free(text);
	buffer_free(&b);
}

static void whole_files(void **state)
{
	static const char *const behind[] = {"", "no frame"};
	struct conversion *c;
	struct error err;
	unsigned i;

	(void)state;
	if (is_built_without())
		skip();
	for (i = 0; i < 4; i++) {
		struct buffer b = frames(i / 2 + 1, behind[i % 2]);
		char *text = foreign_as(b.data, b.length, "collapsed");

		assert_string_equal(text, i / 2 ? "main;run 10\n" : "main;run 5\n");
		free(text);
		c = foreign_read(b.data, b.length, "collapsed", &err);
		assert_string_equal(readers_notes(c), "");
		readers_free(c);
		buffer_free(&b);
	}
}

static void cut_and_damaged(void **state)
{
	struct buffer b = frames(2, "");
	struct conversion *c;
	struct error err;

	(void)state;
	if (is_built_without())
		skip();
	c = foreign_read(b.data, b.length - 1, "collapsed", &err);
	assert_non_null(c);
	assert_non_null(strstr(readers_notes(c), "the packed file ends too early or is damaged"));
	readers_free(c);
	assert_null(foreign_read(b.data, 9, "collapsed", &err));
	assert_non_null(strstr(err.text, "nothing of it can be unpacked"));
	foreign_damage(b.data, b.length, "collapsed");
	buffer_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(whole_files), cmocka_unit_test(skipped_frames), cmocka_unit_test(cut_and_damaged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
