/*
 * Recordings: numbers and texts as the format has them, flushes that fail, keys over chunks. What a whole
 * file looks like to readers is tests/jvm/test_recording.py's business.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/secrets.h"
#include "common/base/utf8.h"
#include "profile/writers/jfr/jfr.h"
#include "profile/writers/jfr/jfr_emit.h"
#include "profile/writers/jfr/jfr_weights.h"

static void numbers(void **state)
{
	static const struct {
		uint64_t value;
		size_t length;
		const char *bytes;
	} rows[] = {
		{0, 1, "\x00"}, {1, 1, "\x01"}, {127, 1, "\x7f"}, {128, 2, "\x80\x01"}, {16383, 2, "\xff\x7f"},
		{16384, 3, "\x80\x80\x01"}, {UINT32_MAX, 5, "\xff\xff\xff\xff\x0f"},
		{1ull << 56, 9, "\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
		{UINT64_MAX, 9, "\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct buffer b = BUFFER_INIT;

		jfr_put_number(&b, rows[i].value);
		assert_int_equal(b.length, rows[i].length);
		assert_memory_equal(b.data, rows[i].bytes, b.length);
		buffer_free(&b);
	}
}

static void is_text(const char *from, const char *to, size_t n)
{
	struct buffer b = BUFFER_INIT;

	utf8_put(&b, from);
	assert_int_equal(b.length, n);
	assert_memory_equal(b.data, to, n);
	buffer_free(&b);
}

/* What Java names can hold, and what no text may. */
static void texts(void **state)
{
	is_text("plain", "plain", 5);
	is_text("\xe2\x82\xac", "\xe2\x82\xac", 3);
	is_text("a\xed\xa0\xb4\xed\xb4\x9e" "b", "a\xf0\x9d\x84\x9e" "b", 6); /* a pair of surrogates */
	is_text("\xed\xa0\xb4!", "\xef\xbf\xbd!", 4);                        /* half a pair, either */
	is_text("\xed\xb4\x9e!", "\xef\xbf\xbd!", 4);
	is_text("\xed\xa0\xb4\xed\xa0\xb4", "\xef\xbf\xbd\xef\xbf\xbd", 6);
	is_text("a\xc0\x80z", "a\0z", 3);
	is_text("\xff\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 9);  /* cut in the middle */
	is_text("\xed", "\xef\xbf\xbd", 3);
}

static void masked(const char *from, const char *to)
{
	struct buffer b = BUFFER_INIT;

	secrets_put(&b, from);
	buffer_putc(&b, '\0');
	assert_string_equal(b.data, to);
	buffer_free(&b);
}

static void secrets(void **state)
{
	assert_true(secrets_is_name("DB_PASSWORD", 11));
	assert_true(secrets_is_name("ssl.keystore", 12));
	assert_false(secrets_is_name("user.home", 9));
	masked("-Dapi.token=abc -Duser.home=/root x", "-Dapi.token=*** -Duser.home=/root x");
	masked("Main --password hunter2 --port 80", "Main --password *** --port 80");
	masked("Main --password --port 80", "Main --password --port 80");
	masked("-Da=key=hunter2 jdbc:x?user=u&password=p", "-Da=key=*** jdbc:x?user=u&password=***");
	masked("-javaagent:x.jar=secret:a:b", "-javaagent:x.jar=secret:***");
	masked("a  b", "a  b");
	masked("", "");
}

/* ---- files ---- */

static struct jfr *open_memory(int *fd, uint64_t max_size)
{
	struct jfr_options o = {.cpu_events = JFR_CPU_EXECUTION | JFR_CPU_TIME, .max_size = max_size};
	struct jfr *j;

	*fd = memfd_create("recording", 0);
	assert_true(*fd >= 0);
	j = jfr_new(*fd, &o, NS_PER_S, NS_PER_S);
	assert_non_null(j);
	return j;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

/* A sample on a new thread, in method NAME. */
static void sample(struct jfr *j, uint64_t time, const char *name)
{
	struct jfr_frame f = {.method = jfr_method(j, "pkg/A", name, "()V", false), .line = 3, .bci = 1, .kind = FRAME_C2};
	uint32_t thread = jfr_thread(j, &(struct jfr_thread){.tid = 7, .java_id = 1, .is_java = true, .name = "t"});

	assert_int_not_equal(f.method, 0);
	jfr_cpu_sample(j, time, thread, jfr_stack(j, &f, 1, false), 1000);
}

static uint64_t big(const unsigned char *p)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* The chunk at START says that it is whole and as long as the rest of the file. */
static uint64_t chunk(int fd, uint64_t start)
{
	unsigned char header[68];

	assert_int_equal(pread(fd, header, sizeof(header), (off_t)start), sizeof(header));
	assert_memory_equal(header, "FLR\0\0\2\0\1", 8);
	assert_int_equal(header[64], 0);
	return big(header + 8);
}

static void whole_after_each_flush(void **state)
{
	struct error err;
	uint64_t size;
	int fd, i;
	struct jfr *j = open_memory(&fd, 0);

	assert_int_equal(size_of(fd), 0);
	for (i = 1; i < 4; i++) {
		sample(j, i * NS_PER_S, "m");
		assert_int_equal(jfr_flush(j, i * NS_PER_S, &err), 0);
		assert_int_equal(chunk(fd, 0), size_of(fd));
	}
	/* nothing came: nothing is written */
	size = size_of(fd);
	assert_int_equal(jfr_flush(j, 9 * NS_PER_S, &err), 0);
	assert_int_equal(size_of(fd), size);
	assert_int_equal(jfr_finish(j, 9 * NS_PER_S, &err), 0);
	jfr_free(j);
	close(fd);
}

/* Keys go on through the file, constants are written again in each chunk. */
static void chunks(void **state)
{
	struct error err;
	int fd;
	struct jfr *j = open_memory(&fd, 0);
	uint32_t first = jfr_method(j, "pkg/A", "m", "()V", false), second;
	uint64_t size;

	assert_int_equal(jfr_method(j, "pkg/A", "m", "()V", false), first);
	assert_int_not_equal(jfr_method(j, "pkg/A", "m", "(I)V", false), first);
	sample(j, 2 * NS_PER_S, "m");
	assert_int_equal(jfr_rotate(j, 3 * NS_PER_S, 3 * NS_PER_S, &err), 0);
	size = size_of(fd);
	assert_int_equal(chunk(fd, 0), size);
	second = jfr_method(j, "pkg/A", "m", "()V", false);
	assert_true(second > first);
	sample(j, 4 * NS_PER_S, "m");
	assert_int_equal(jfr_finish(j, 4 * NS_PER_S, &err), 0);
	assert_int_equal(chunk(fd, 0), size);
	assert_int_equal(chunk(fd, size), size_of(fd) - size);
	jfr_free(j);
	close(fd);
}

/* A disk that is full takes nothing of the flush, and all of the next when there is room again. */
static void full_disk(void **state)
{
	struct rlimit none = {0, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
	char name[] = "/tmp/jstrobe-test-XXXXXX";
	struct jfr_options o = {.cpu_events = JFR_CPU_TIME};
	struct error err;
	int fd = mkstemp(name), i;
	struct jfr *j = jfr_new(fd, &o, 0, NS_PER_S);
	uint64_t size;

	signal(SIGXFSZ, SIG_IGN);
	sample(j, NS_PER_S, "m");
	assert_int_equal(jfr_flush(j, NS_PER_S, &err), 0);
	size = size_of(fd);
	none.rlim_cur = size + 30; /* a part of it would fit */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	for (i = 0; i < 3; i++) {
		sample(j, 2 * NS_PER_S, "other");
		assert_int_equal(jfr_flush(j, 2 * NS_PER_S, &err), -EFBIG);
		assert_non_null(strstr(err.text, "cannot be written"));
		assert_int_equal(size_of(fd), size);
		assert_int_equal(chunk(fd, 0), size);
		assert_int_equal(jfr_pending(j), 0);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	sample(j, 3 * NS_PER_S, "other");
	assert_int_equal(jfr_finish(j, 3 * NS_PER_S, &err), 0);
	assert_int_equal(chunk(fd, 0), size_of(fd));
	assert_true(size_of(fd) > size);
	jfr_free(j);
	close(fd);
	unlink(name);
}

/* What other hands do to the file ends the recording, and is said from then on. */
static void other_hands(void **state)
{
	struct error err;
	int fd;
	struct jfr *j = open_memory(&fd, 0);

	sample(j, NS_PER_S, "m");
	assert_int_equal(jfr_flush(j, NS_PER_S, &err), 0);
	assert_int_equal(ftruncate(fd, 10), 0);
	sample(j, NS_PER_S, "m");
	assert_int_equal(jfr_flush(j, NS_PER_S, &err), -EIO);
	assert_non_null(strstr(err.text, "truncated"));
	assert_int_equal(size_of(fd), 10);
	sample(j, NS_PER_S, "m");
	assert_int_equal(jfr_finish(j, NS_PER_S, &err), -EIO);
	assert_int_equal(jfr_pending(j), 0);
	jfr_free(j);
	close(fd);
}

static void limit(void **state)
{
	struct error err;
	int fd, i, rc = 0;
	struct jfr *j = open_memory(&fd, 64 * 1024);

	for (i = 1; i < 100000 && rc == 0; i++) {
		sample(j, (uint64_t)i * NS_PER_S, "m");
		rc = i % 100 ? 0 : jfr_flush(j, (uint64_t)i * NS_PER_S, &err);
	}
	assert_int_equal(rc, -EFBIG);
	assert_non_null(strstr(err.text, "maxsize"));
	assert_true(size_of(fd) > 50 * 1024 && size_of(fd) <= 64 * 1024);
	assert_int_equal(chunk(fd, 0), size_of(fd));
	jfr_free(j);
	close(fd);
}

/* An event with more or fewer values than its type has fields is a mistake of ours, and written nowhere. */
/* The number at *TEXT, moved past it. */
static int64_t next_number(const char **text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint64_t value = 0;
	unsigned shift = 0, bits;

	do {
		const char *at = strchr(letters, *(*text)++);

		assert_non_null(at);
		bits = (unsigned)(at - letters);
		value |= (uint64_t)(bits & 31) << shift;
		shift += 5;
	} while (bits & 32);
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* COUNT weights, read back: up to each of them the sum is right within a 32nd of an interval. Letters used. */
static size_t there_and_back(const uint64_t *weights, size_t count, uint64_t interval)
{
	int64_t sum = 0, written = 0, last = 0, repeats, bound = (int64_t)interval / 32;
	struct jfr_weights w;
	const char *text;
	size_t i, length;

	jfr_weights_init(&w, interval);
	for (i = 0; i < count; i++)
		jfr_weights_add(&w, weights[i]);
	text = jfr_weights_text(&w);
	length = strlen(text);
	for (i = 0; i < count;) {
		last += next_number(&text);
		assert_true(last >= 0);
		for (repeats = next_number(&text); repeats >= 0; repeats--, i++) {
			assert_true(i < count);
			sum += (int64_t)weights[i];
			written += last * w.unit;
			assert_true(written - sum <= bound && sum - written <= bound);
		}
	}
	assert_int_equal(*text, '\0');
	jfr_weights_free(&w);
	return length;
}

static void weights_as_text(void **state)
{
	const uint64_t odd[] = {0, 1, 999, 1000000000000, 0, 0, 5000000, 5000001, 3, 1000000, 1000000, 17};
	static uint64_t steady[5000], wild[5000];
	size_t i;

	assert_true(there_and_back(odd, ARRAY_LEN(odd), 1000000) > ARRAY_LEN(odd));
	assert_true(there_and_back(odd, 1, 1) > 0);
	for (i = 0; i < ARRAY_LEN(steady); i++) {
		steady[i] = 1000000 + i * 7919 % 9001; /* a timer of 1 ms that is up to 9 us late */
		wild[i] = i * 2654435761u % 20000000;
	}
	assert_true(there_and_back(steady, ARRAY_LEN(steady), 1000000) < ARRAY_LEN(steady) / 4);
	there_and_back(wild, ARRAY_LEN(wild), 1000000);
	there_and_back(wild, ARRAY_LEN(wild), 100000);
}

static void put_tag(struct jfr *j, uint64_t time, uint32_t thread, const char *tag)
{
	const struct jfr_value v[] = {JFR_N(1000), JFR_N(thread), JFR_N(jfr_string(j, tag))};

	jfr_event(j, JFR_SPAN, time, v, ARRAY_LEN(v));
}

/* Tags are constants: each once as long as there are few, and without end they take no more and more memory. */
static void tags(void **state)
{
	const struct jfr_options o = {.began = 1};
	int fd = memfd_create("tags", 0);
	struct jfr *j = jfr_new(fd, &o, 1, 1);
	uint32_t thread = jfr_thread(j, &(struct jfr_thread){.tid = 1, .name = "main"}), first;
	size_t held, most = 0;
	struct error err;
	char tag[128];
	int i;

	first = jfr_string(j, "often");
	assert_true(first && jfr_string(j, "") != first && jfr_string(j, "") == jfr_string(j, ""));
	for (i = 0; i < 400000; i++) {
		snprintf(tag, sizeof(tag), "request %d of many, each of which has a tag of its own", i);
		put_tag(j, (uint64_t)i * 1000, thread, tag);
		if (i < 4000)
			assert_int_equal(jfr_string(j, "often"), first);
		if (i % 1000)
			continue;
		assert_int_equal(jfr_flush(j, (uint64_t)i * 1000, &err), 0);
		held = jfr_chunk_held(j);
		most = MAX(most, held);
	}
	assert_true(most < (2u << 20));
	assert_true(jfr_string(j, "often") > first);
	assert_int_equal(jfr_finish(j, 400000000, &err), 0);
	assert_true(jfr_last_key(j) >= 400000);
	jfr_free(j);
	close(fd);
}

static void wrong_values(void **state)
{
	const struct jfr_value v[] = {JFR_S("a"), JFR_S("b"), JFR_S("c")};
	struct error err;
	int fd;
	struct jfr *j = open_memory(&fd, 0);

	jfr_event(j, JFR_SYSTEM_PROPERTY, NS_PER_S, v, 2);
	assert_int_equal(jfr_flush(j, NS_PER_S, &err), 0);
	jfr_event(j, JFR_SYSTEM_PROPERTY, NS_PER_S, v, 3);
	assert_int_equal(jfr_flush(j, NS_PER_S, &err), -EINVAL);
	jfr_event(j, JFR_SYSTEM_PROPERTY, NS_PER_S, v, 1);
	assert_int_equal(jfr_flush(j, NS_PER_S, &err), -EINVAL);
	jfr_free(j);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(texts), cmocka_unit_test(secrets),
		cmocka_unit_test(whole_after_each_flush), cmocka_unit_test(chunks), cmocka_unit_test(full_disk),
		cmocka_unit_test(other_hands), cmocka_unit_test(limit), cmocka_unit_test(weights_as_text),
		cmocka_unit_test(tags), cmocka_unit_test(wrong_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
