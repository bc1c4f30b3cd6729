/* Collapsed stacks: what their numbers count is not said, and what is no text is not searched for lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buffer.h"
#include "profile/readers/readers.h"
#include "profile/writers/diff.h"

#define LONGEST (16u << 20) /* bytes of a line */
#define SPARSE (64ull << 30)

static const char *path_of(int fd)
{
	static char path[2][40];
	static unsigned turn;
	char *to = path[turn++ % 2];

	snprintf(to, sizeof(path[0]), "/proc/self/fd/%d", fd);
	return to;
}

static int file_of(const char *text)
{
	int fd = memfd_create("collapsed", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static int read_file(int fd, struct conversion **c, struct error *err)
{
	struct options o;

	*c = NULL;
	options_init(&o);
	return readers_read(path_of(fd), &o, false, c, err);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A file of 64 GB with nothing in it, at once or behind whole lines. */
static void holes_are_not_searched(void **state)
{
	static const char *const begins[] = {"", "a;b 1\n", "a;b 1\na;c 2\nx"};
	struct conversion *c;
	struct error err;
	double began;
	unsigned i;
	int fd;

	for (i = 0; i < ARRAY_LEN(begins); i++) {
		fd = file_of(begins[i]);
		assert_int_equal(ftruncate(fd, (off_t)SPARSE), 0);
		began = cpu_seconds();
		assert_int_equal(read_file(fd, &c, &err), -EINVAL);
		assert_non_null(strstr(err.text, "neither a JFR recording nor collapsed stacks"));
		if (cpu_seconds() - began > 2)
			fail_msg("%.1f s for %s", cpu_seconds() - began, begins[i]);
		close(fd);
	}
}

/* A line of LENGTH bytes, ended or not by the file's end. */
static int read_line(size_t length, bool ended)
{
	char *text = malloc(length + 2);
	struct conversion *c;
	struct error err;
	int fd, rc;

	memset(text, 'm', length);
	strcpy(text + length - 2, " 7");
	if (ended)
		strcat(text, "\n");
	fd = file_of(text);
	rc = read_file(fd, &c, &err);
	if (rc == 0)
		readers_free(c);
	close(fd);
	free(text);
	return rc;
}

static void lines_up_to_a_limit(void **state)
{
	assert_int_equal(read_line(3, false), 0);
	assert_int_equal(read_line(3, true), 0);
	assert_int_equal(read_line(LONGEST - 1, true), 0);
	assert_int_equal(read_line(LONGEST, false), 0);
	assert_int_equal(read_line(LONGEST + 1, true), -EINVAL);
	assert_int_equal(read_line(LONGEST + 1, false), -EINVAL);
}

/* Made with --total, or not: two files cannot be told apart, and a word for one would be wrong for the other. */
static void numbers_of_no_known_unit(void **state)
{
	int one = file_of("a;b 12000000\na;c 8000000\n"), two = file_of("a;b 3\na;c 5\n");
	struct diff d = {.before_name = "one", .after_name = "two"};
	struct format_options options = {.total = false};
	struct buffer json = BUFFER_INIT, text = BUFFER_INIT, hot = BUFFER_INIT;
	struct conversion *before, *after;
	struct error err;
	uint32_t count;

	assert_int_equal(read_file(one, &before, &err), 0);
	assert_int_equal(read_file(two, &after, &err), 0);
	d.before = convert_profiles(before, &count)[0];
	d.after = convert_profiles(after, &count)[0];
	assert_int_equal(diff_unit(&d, false, &err), 0);
	diff_json(&d, &json);
	diff_text(&d, &options, 0, &text);
	format_write(format_by_name("hot"), &d.before, 1, &options, &hot, NULL);
	buffer_putc(&json, '\0');
	buffer_putc(&text, '\0');
	buffer_putc(&hot, '\0');
	assert_non_null(strstr(json.data, "\"unit\": \"units\""));
	assert_null(strstr(text.data, "samples"));
	assert_null(strstr(hot.data, "samples"));
	assert_non_null(strstr(hot.data, "20000000 units, of what is not said"));
	buffer_free(&json);
	buffer_free(&text);
	buffer_free(&hot);
	readers_free(before);
	readers_free(after);
	close(one);
	close(two);
}

/* What stacks say of walks that ended early is counted. */
static void walks_that_ended_early(void **state)
{
	int fd = file_of("[break_native];a;b 5\n[main tid=1];[truncated];c 2\na;b 3\n");
	struct format_options options = {.total = false};
	struct buffer out = BUFFER_INIT;
	const struct profile *p;
	struct conversion *c;
	struct error err;
	uint32_t count;

	assert_int_equal(read_file(fd, &c, &err), 0);
	p = convert_profiles(c, &count)[0];
	assert_false(p->ends_unknown);
	assert_int_equal(p->complete, 3);
	assert_int_equal(p->ended_early[END_bad_native], 5);
	assert_int_equal(p->ended_early[END_truncated], 2);
	format_write(format_by_name("json"), &p, 1, &options, &out, NULL);
	buffer_putc(&out, '\0');
	assert_non_null(strstr(out.data, "\"bad_native\": 5,"));
	buffer_free(&out);
	readers_free(c);
	close(fd);
}

/* How often WORD is a kind of a frame in JSON. */
static unsigned kinds_of(const char *json, const char *word)
{
	unsigned n = 0;
	const char *at;

	for (json = strstr(json, "\"kinds\""); json; json = strstr(json + 1, "\"kinds\""))
		for (at = strstr(json, word); at && at < strchr(json, ']'); at = strstr(at + 1, word))
			n++;
	return n;
}

/* A Java frame without an ending, of which nothing says how it was compiled; the page says no more of it. */
static void kinds_that_are_not_said(void **state)
{
	static const struct {
		const char *text;
		bool unknown;
	} files[] = {
		{"java/lang/Thread.run;demo/A.b 5\n", true},
		{"java/lang/Thread.run_[j];demo/A.b 5\n", true},
		{"java/lang/Thread.run_[0];demo/A.b_[j];write 5\n", false},
	};
	struct format_options options = {.total = false};
	struct conversion *c;
	struct error err;
	uint32_t count;
	size_t i;

	for (i = 0; i < ARRAY_LEN(files); i++) {
		int fd = file_of(files[i].text);
		struct buffer out = BUFFER_INIT;
		const struct profile *p;

		assert_int_equal(read_file(fd, &c, &err), 0);
		p = convert_profiles(c, &count)[0];
		assert_int_equal(p->kinds_unknown, files[i].unknown);
		format_write(format_by_name("html"), &p, 1, &options, &out, NULL);
		buffer_putc(&out, '\0');
		assert_non_null(strstr(out.data, files[i].unknown ? "\"kindsUnknown\":true" : "\"kindsUnknown\":false"));
		buffer_free(&out);
		/* JSON does not either, also when it is read again */
		buffer_init(&out, -1);
		format_write(format_by_name("json"), &p, 1, &options, &out, NULL);
		buffer_putc(&out, '\0');
		assert_int_equal(kinds_of(out.data, "\"java\""), files[i].unknown ? 2 : 0);
		assert_int_equal(kinds_of(out.data, "\"jit\""), files[i].unknown ? 0 : 1);
		readers_free(c);
		close(fd);
		fd = file_of(out.data);
		assert_int_equal(read_file(fd, &c, &err), 0);
		assert_int_equal(convert_profiles(c, &count)[0]->kinds_unknown, files[i].unknown);
		buffer_free(&out);
		readers_free(c);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_are_not_searched), cmocka_unit_test(lines_up_to_a_limit),
		cmocka_unit_test(numbers_of_no_known_unit), cmocka_unit_test(walks_that_ended_early),
		cmocka_unit_test(kinds_that_are_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
