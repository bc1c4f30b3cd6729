/* Names of kernel addresses: hand-made lists, and the kernel's own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/elf/elf.h"
#include "common/elf/kallsyms.h"

#define ASKED 400

static char path[] = "/tmp/jstrobe-kallsyms-XXXXXX";

static void write_list(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *const list =
	"0000000000000000 A fixed_percpu_data\n"
	"0000000000001000 A cpu_debug_store\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000100 t __x64_sys_read\n"
	"ffffffff81000200 W weak_one\n"
	"ffffffff81000300 D some_data\n"
	"ffffffff81000400 T after_data\n"
	"not a line of it\n"
	"ffffffff81000500\n"
	"\n"
	"ffffffffc0002000 t late_function\t[late]\n"
	"ffffffffc0001000 t early_function\t[ext4]\n"
	"ffffffffc0001000 r early_data\t[ext4]\n"
	"ffffffff81000250 t out_of_order\n";

static void hand_made(void **state)
{
	/* Not in order, one twice. */
	static const struct {
		uint64_t address;
		const char *name;
	} rows[] = {
		{0xffffffffc0001008, "early_function [ext4]"},
		{0xffffffff81000000, "startup_64"},
		{0xffffffff810000ff, "startup_64"},
		{0xffffffff81000100, "__x64_sys_read"},
		{0xffffffff8100024f, "weak_one"},
		{0xffffffff81000260, "out_of_order"},
		{0xffffffff81000300, NULL}, /* data */
		{0xffffffff81000350, NULL},
		{0xffffffff81000404, "after_data"},
		{0xffffffffc0002fff, "late_function [late]"},
		{0xffffffff81000404, "after_data"},
		{0xffffffff80ffffff, NULL}, /* below everything but numbers */
		{0xffffffffd0000000, NULL}, /* too far from the last one */
		{0, NULL},
		{UINT64_MAX, NULL},
	};
	uint64_t addresses[ARRAY_LEN(rows)];
	char *names[ARRAY_LEN(rows)], *frame_state[2];
	struct kernel_range ranges[ARRAY_LEN(rows)];
	struct error err;
	size_t i;

	write_list(list);
	for (i = 0; i < ARRAY_LEN(rows); i++)
		addresses[i] = rows[i].address;
	assert_int_equal(kallsyms_read(path, addresses, ARRAY_LEN(rows), names, ranges, &err), 0);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (ranges[i].to) {
			const uint64_t edges[] = {ranges[i].from, ranges[i].to - 1};

			assert_true(ranges[i].from <= rows[i].address && rows[i].address < ranges[i].to);
			assert_int_equal(kallsyms_read(path, edges, 2, frame_state, NULL, &err), 0);
			assert_string_equal(frame_state[0], rows[i].name);
			assert_string_equal(frame_state[1], rows[i].name);
			free(frame_state[0]);
			free(frame_state[1]);
		}
		if (rows[i].address == 0xffffffff8100024f)
			assert_int_equal(ranges[i].to, 0xffffffff81000250);
		if (rows[i].name) {
			assert_non_null(names[i]);
			assert_string_equal(names[i], rows[i].name);
		} else {
			assert_null(names[i]);
		}
		free(names[i]);
	}
	assert_int_equal(kallsyms_read(path, NULL, 0, NULL, NULL, &err), 0);
}

static void hidden(void **state)
{
	uint64_t address = 0xffffffff81000000;
	struct error err = {0};
	char *name = (char *)1;
	FILE *f = fopen(path, "w");
	int i;

	for (i = 0; i < 20000; i++)
		fprintf(f, "0000000000000000 T function_%d\n", i);
	fclose(f);
	assert_int_equal(kallsyms_read(path, &address, 1, &name, NULL, &err), -EACCES);
	assert_null(name);
	assert_int_equal(err.code, EACCES);
	assert_non_null(strstr(err.text, "/proc/sys/kernel/kptr_restrict"));
	assert_int_equal(kallsyms_read("/nowhere/kallsyms", &address, 1, &name, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/kallsyms"));
}

/* Lines that are cut, too long, or hold any byte. */
static void garbage(void **state)
{
	static const char bytes[] = "0123456789abcdefT t\t[]\n\nffffxyz";
	uint64_t addresses[3] = {0xfff, 0xffffffff81000010, UINT64_MAX};
	struct error err;
	int round;

	srand(11);
	for (round = 0; round < 300; round++) {
		char *names[3];
		FILE *f = fopen(path, "w");
		int n = rand() % 20000;

		fputs("ffffffff81000000 T here\n", f);
		while (n--)
			fputc(round % 3 ? bytes[rand() % (int)(sizeof(bytes) - 1)] : rand() % 256, f);
		if (round % 7 == 0)
			for (n = 0; n < 200000; n++)
				fputc('f', f);
		fclose(f);
		assert_int_equal(kallsyms_read(path, addresses, 3, names, NULL, &err), 0);
		assert_non_null(names[1]);
		free(names[0]);
		free(names[1]);
		free(names[2]);
	}
}

struct known {
	uint64_t address;
	char name[128];
};

/* Text symbols of the kernel at random, each with its whole list of aliases. */
static size_t sample(FILE *f, struct known *known, size_t most)
{
	char line[1024], type, name[512], module[128];
	unsigned long address;
	size_t seen = 0, count = 0;

	srand(3);
	while (fgets(line, sizeof(line), f)) {
		size_t place;

		if (sscanf(line, "%lx %c %511s %127s", &address, &type, name, module) < 3 ||
		    !strchr("tTwW", type) || address == 0 || strlen(name) > 120)
			continue;
		seen++;
		place = count < most ? count++ : (size_t)rand() % seen;
		if (place < most) {
			known[place].address = address;
			strcpy(known[place].name, name);
		}
	}
	return count;
}

/* Whether the list has NAME (perhaps with a module) at ADDRESS. */
static bool is_listed(const char *text, uint64_t address, const char *name)
{
	char line[256];
	size_t n = strcspn(name, " ");

	snprintf(line, sizeof(line), "%016lx ", (unsigned long)address);
	for (text = strstr(text, line); text; text = strstr(text + 1, line))
		if (strncmp(text + 19, name, n) == 0 && strchr("\n\t", text[19 + n]))
			return true;
	return false;
}

static char *whole_list(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char *text = calloc(1, 64 << 20);

	assert_non_null(f);
	assert_true(fread(text, 1, (64 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

static void this_kernel(void **state)
{
	static struct known known[ASKED];
	static uint64_t addresses[ASKED];
	static char *names[ASKED];
	FILE *f = fopen("/proc/kallsyms", "r");
	struct error err = {0};
	char *text;
	size_t n, i;

	if (!f) {
		print_message("SKIP: no /proc/kallsyms\n");
		skip();
	}
	n = sample(f, known, ASKED);
	fclose(f);
	if (n == 0) {
		addresses[0] = 0xffffffff81000000;
		assert_int_equal(kernel_symbols(addresses, 1, names, NULL, &err), -EACCES);
		print_message("SKIP: %s\n", err.text);
		skip();
	}
	for (i = 0; i < n; i++)
		addresses[i] = known[i].address;
	assert_int_equal(kernel_symbols(addresses, n, names, NULL, &err), 0);
	text = whole_list();
	for (i = 0; i < n; i++) {
		assert_non_null(names[i]);
		if (!is_listed(text, addresses[i], names[i]))
			fail_msg("%lx is %s, not %s", (unsigned long)addresses[i], known[i].name,
				 names[i]);
		free(names[i]);
	}
	free(text);
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	close(fd);
	return fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hand_made),
		cmocka_unit_test(hidden),
		cmocka_unit_test(garbage),
		cmocka_unit_test(this_kernel),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
