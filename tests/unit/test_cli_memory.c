/* jstrobe memory on saved texts of smaps: what is read, what files' names say, and that no byte is lost or counted twice. */
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

#include "cli/memory/resident.h"
#include "common/base/buffer.h"

static int text_file(const char *text)
{
	char path[] = "/tmp/test_cli_memory-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static const char saved[] =
	"c0000000-d0000000 rw-p 00000000 00:00 0 \nSize: 262144 kB\nRss:   1000 kB\nPss:  1000 kB\n"
	"AnonHugePages:  512 kB\nSwap:   8 kB\nVmFlags: rd wr mr mw me ac sd\n"
	"d0000000-d0001000 ---p 00000000 00:00 0 \nRss:   0 kB\n"
	"7f0000000000-7f0000001000 r-xp 00001000 fd:00 77   /usr/lib/a b/libx.so.6 (deleted)\nRss:   4 kB\nPss:  1 kB\n"
	"7f0000001000-7f0000002000 rw-p 00002000 fd:00 77   /usr/lib/a b/libx.so.6 (deleted)\nRss:   4 kB\n"
	"7f0000002000-7f0000004000 rw-p 00000000 00:00 0 \nRss:   8 kB\n"
	"7f0000010000-7f0000020000 rw-s 00000000 00:01 5   /memfd:java_heap (deleted)\nRss:   64 kB\n"
	"7f0000020000-7f0000030000 r--s 00000000 fd:00 9   /opt/app/lib/some.jar\nRss:   12 kB\n"
	"7f0000030000-7f0000040000 rw-p 00000000 00:00 0   [heap]\nRss:   16 kB\n"
	"7f0000040000-7f0000041000 r-xp 00000000 fd:00 3   /usr/bin/java\nRss:   4 kB\n"
	"7f0000041000-7f0000042000 r--p 00000000 fd:00 3   /usr/bin/java\nRss:   4 kB\n"
	"7f0000050000-7f0000060000 rw-p 00000000 fd:00 4   /jdk/lib/server/classes.jsa\nRss:   20 kB\n"
	"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0   [stack]\nRss:   24 kB\n"
	"7ffd00030000-7ffd00032000 r-xp 00000000 00:00 0   [vdso]\nRss:   4 kB\nFutureFigure:  9 kB";

static void mappings_are_read(void **state)
{
	struct mappings m;

	assert_int_equal(mappings_read(text_file(saved), &m), 0);
	assert_int_equal(m.count, 13);
	assert_int_equal(m.rss, 1164 * 1024);
	assert_int_equal(m.pss, 1001 * 1024);
	assert_int_equal(m.swap, 8 * 1024);
	assert_int_equal(m.huge, 512 * 1024);
	assert_string_equal(m.items[2].path, "/usr/lib/a b/libx.so.6");
	assert_int_equal(m.items[2].offset, 0x1000);
	assert_ptr_equal(mappings_find(&m, 0xd0000fff), &m.items[1]);
	assert_null(mappings_find(&m, 0xd0001000));
	assert_null(mappings_find(&m, 0));
	mappings_free(&m);
}

static void what_is_no_smaps(void **state)
{
	static const char *const bad[] = {"nonsense\n", "c000-b000 rw-p 0 0:0 0\n", "1-2 rw-p 0 0:0\n"};
	struct mappings m;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(mappings_read(text_file(bad[i]), &m), -EBADMSG);
		mappings_free(&m);
	}
	assert_int_equal(mappings_read(text_file("Rss: 5 kB\n"), &m), 0);
	assert_int_equal(m.count + m.rss, 0);
	mappings_free(&m);
}

/* Account for TEXT with RANGES, without pagemap. */
static void account(const char *text, struct ranges *ranges, struct memory_reading *r)
{
	struct peek p = {.pagemap = -1, .windows = calloc(256, sizeof(*p.windows))};

	memset(r, 0, sizeof(*r));
	assert_int_equal(mappings_read(text_file(text), &r->maps), 0);
	p.maps = &r->maps;
	ranges_settle(ranges);
	memory_account(&p, ranges, r);
	free(p.windows);
}

static uint64_t sum(const struct memory_reading *r)
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < MEMORY_LINES; i++)
		all += r->lines[i];
	return all;
}

static void names_say_lines(void **state)
{
	struct ranges none = {0};
	struct memory_reading r;

	account(saved, &none, &r);
	assert_int_equal(r.lines[MEMORY_unnamed], 1000 * 1024);
	/* a library's data go on behind its file, and a program is one by its code */
	assert_int_equal(r.lines[MEMORY_libraries], 24 * 1024);
	assert_int_equal(r.lines[MEMORY_java_heap], 64 * 1024);
	assert_int_equal(r.lines[MEMORY_mapped], 12 * 1024);
	assert_int_equal(r.lines[MEMORY_malloc_used], 16 * 1024);
	assert_int_equal(r.lines[MEMORY_cds], 20 * 1024);
	assert_int_equal(r.lines[MEMORY_stacks_other], 24 * 1024);
	assert_int_equal(r.lines[MEMORY_kernel], 4 * 1024);
	assert_int_equal(sum(&r), r.maps.rss);
	memory_reading_free(&r);
}

static void the_first_word_holds(void **state)
{
	struct ranges c = {0};

	ranges_add(&c, 100, 200, MEMORY_gc, NULL);
	ranges_add(&c, 50, 150, MEMORY_code, NULL);
	ranges_add(&c, 120, 130, MEMORY_cds, NULL);
	ranges_add(&c, 180, 300, MEMORY_vm, NULL);
	ranges_add(&c, 7, 7, MEMORY_vm, NULL);
	ranges_settle(&c);
	assert_int_equal(c.count, 3);
	assert_int_equal(c.items[0].end, 100);
	assert_int_equal(c.items[0].line, MEMORY_code);
	assert_int_equal(c.items[1].end, 200);
	assert_int_equal(c.items[1].line, MEMORY_gc);
	assert_int_equal(c.items[2].start, 200);
	assert_int_equal(ranges_after(&c, 100), 1);
	assert_int_equal(ranges_after(&c, 300), 3);
	/* what is added later does not win */
	ranges_add(&c, 0, 1000, MEMORY_unnamed, NULL);
	ranges_settle(&c);
	assert_int_equal(c.count, 5);
	assert_int_equal(c.items[0].line, MEMORY_unnamed);
	assert_int_equal(c.items[4].end, 1000);
	free(c.items);
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* Any ranges over any mappings: each byte of smaps is in one line; and settled ranges say what the first one said. */
static void nothing_is_lost(void **state)
{
	uint64_t seed = 12345;
	unsigned round, i;

	for (round = 0; round < 300; round++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
		struct memory_reading r;
		struct ranges c = {0};
		uint64_t at = 0x10000;

		for (i = 0; i < 20; i++) {
			uint64_t pages = 1 + draw(&seed, 9);

			at += draw(&seed, 2) * 0x3000;
			buffer_printf(&text, "%llx-%llx rw-p 0 00:00 0 \nRss: %llu kB\n", (unsigned long long)at,
				      (unsigned long long)(at + pages * 4096),
				      (unsigned long long)draw(&seed, pages + 1) * 4);
			at += pages * 4096;
		}
		for (i = 0; i < 15; i++) {
			uint64_t from = draw(&seed, at);

			ranges_add(&c, from, from + draw(&seed, 0x9000), (enum memory_line)draw(&seed, MEMORY_unnamed), NULL);
		}
		buffer_putc(&text, '\0');
		account(text.data, &c, &r);
		for (i = 1; i < c.count; i++)
			assert_true(c.items[i - 1].end <= c.items[i].start && c.items[i].start < c.items[i].end);
		assert_int_equal(sum(&r), r.maps.rss);
		memory_json(&r, true, &out);
		memory_table(&r, NULL, &out);
		memory_advice(&r, &out);
		assert_int_equal(out.failed, 0);
		buffer_free(&text);
		buffer_free(&out);
		free(c.items);
		memory_reading_free(&r);
	}
}

static void sizes(void **state)
{
	char text[24];

	assert_string_equal(memory_size(0, text), "0 KB");
	assert_string_equal(memory_size(4096, text), "4 KB");
	assert_string_equal(memory_size(1023 * 1024, text), "1023 KB");
	assert_string_equal(memory_size(1024 * 1024, text), "1.0 MB");
	assert_string_equal(memory_size(412ull << 20, text), "412 MB");
	assert_string_equal(memory_size(3ull << 40, text), "3.0 TB");
}

static const char *advice(struct memory_reading *r, struct buffer *out)
{
	buffer_free(out);
	*out = (struct buffer)BUFFER_INIT;
	memory_advice(r, out);
	buffer_putc(out, '\0');
	return out->data;
}

/* Each sentence where its figures hold, and not where they do not. */
static void sentences(void **state)
{
	struct memory_reading r = {.maps.rss = 1ull << 30, .cgroup.limit = UINT64_MAX};
	struct buffer out = BUFFER_INIT;

	assert_string_equal(advice(&r, &out), "");
	r.malloc = (struct memory_malloc){.known = true, .free_known = true, .arenas = 31};
	r.lines[MEMORY_malloc_free] = 412ull << 20;
	assert_non_null(strstr(advice(&r, &out), "412 MB are free memory that glibc keeps in 31 arenas: MALLOC_ARENA_MAX=2"));
	r.malloc.arenas = 2;
	assert_null(strstr(advice(&r, &out), "MALLOC_ARENA_MAX"));
	r.lines[MEMORY_malloc_free] = 20ull << 20;
	assert_string_equal(advice(&r, &out), "");
	r.cgroup = (struct memory_cgroup){.version = 2, .limit = 2ull << 30, .used = 3ull << 29, .file = 1ull << 29};
	assert_non_null(strstr(advice(&r, &out), "1.0 GB are left"));
	r.cgroup.used = 3ull << 30;
	assert_non_null(strstr(advice(&r, &out), "nothing is left"));
	assert_null(strstr(out.data, "heap may"));
	r.counters.heap_max = 3ull << 30;
	assert_non_null(strstr(advice(&r, &out), "The heap may grow to 3.0 GB, which is more than that limit"));
	r.counters.heap_max = 1ull << 30;
	assert_non_null(strstr(advice(&r, &out), "The heap may still grow by 1.0 GB, more than is left"));
	r.cgroup.limit = UINT64_MAX;
	r.lines[MEMORY_java_heap] = 900ull << 20;
	r.counters = (struct memory_counters){.heap_used = 100ull << 20, .known = true};
	assert_string_equal(advice(&r, &out), "");
	r.counters.collections = 1;
	assert_non_null(strstr(advice(&r, &out), "when the JVM last counted, 100 MB"));
	buffer_free(&out);
}

/* What JVMs of 17 and 25 say; parts of a line, and other text, are no lines. */
static void what_nmt_says(void **state)
{
	static const char of_17[] = "1234:\n\nNative Memory Tracking:\n\n(Omitting categories weighting less than 1KB)\n\n"
		"Total: reserved=5660061KB, committed=411925KB\n       malloc: 31405KB #98811\n"
		"-                 Java Heap (reserved=4022272KB, committed=253952KB)\n"
		"                            (mmap: reserved=4022272KB, committed=253952KB) \n \n"
		"-                     Class (reserved=1048748KB, committed=300KB)\n"
		"                            (classes #585)\n"
		"                            (  Metadata:   )\n                            (    reserved=65536KB, committed=192KB)\n"
		"-    Native Memory Tracking (reserved=174KB, committed=174KB)\n";
	struct memory_nmt n;
	struct error err;

	assert_int_equal(memory_nmt_parse(of_17, &n, &err), 0);
	assert_int_equal(n.count, 3);
	assert_int_equal(n.reserved, 5660061ull << 10);
	assert_int_equal(n.committed, 411925ull << 10);
	assert_string_equal(n.lines[0].name, "Java Heap");
	assert_int_equal(n.lines[1].committed, 300 << 10);
	assert_string_equal(n.lines[2].name, "Native Memory Tracking");
	assert_int_equal(memory_nmt_parse("Native memory tracking is not enabled\n", &n, &err), -ENODATA);
	assert_non_null(strstr(err.text, "NativeMemoryTracking=summary"));
	assert_int_equal(memory_nmt_parse("", &n, &err), -EPROTO);
	assert_int_equal(memory_nmt_parse("- x (reserved=99999999999999999999KB, committed=1KB)\n", &n, &err), -EPROTO);
	assert_int_equal(memory_nmt_parse("- (reserved=1KB, committed=", &n, &err), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_are_read),
		cmocka_unit_test(what_is_no_smaps),
		cmocka_unit_test(names_say_lines),
		cmocka_unit_test(the_first_word_holds),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(sizes),
		cmocka_unit_test(sentences),
		cmocka_unit_test(what_nmt_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
