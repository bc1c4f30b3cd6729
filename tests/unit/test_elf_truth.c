/*
 * Tables of whole libraries against what readelf says about the same files:
 * each row of each function.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/elf/elf.h"
#include "common/elf/rows.h"
#include "elf_walk.h"

#define COLUMNS_MAX 32
#define CIES_MAX 16

/* A row: where it starts, the CFA, the frame pointer, the stack pointer, the return address. */
struct printed {
	uintptr_t at;
	char cfa[32], fp[32], sp[32], ra[32];
};

struct cie {
	unsigned long offset;
	bool is_signal;
	struct printed row;
};

/* What readelf prints about the function it is at. */
struct listing {
	FILE *from;
	const struct image *image;
	struct cie cies[CIES_MAX];
	size_t cie_count;
	bool in_cie, is_signal;
	uintptr_t end;                        /* of the function */
	int fp_column, sp_column, ra_column;  /* behind the CFA; -1 none */
	struct printed row;                   /* the last one: it holds up to the next */
	bool have_row;
	size_t checked, by_expression;
};

static struct image_set *set;

static bool read_register(const char *text, const char *name, long *offset)
{
	size_t n = strlen(name);

	if (strncmp(text, name, n) != 0 || (text[n] != '+' && text[n] != '-'))
		return false;
	*offset = atol(text + n);
	return true;
}

static void check_fp(const struct listing *l, const struct unwind_rule *rule)
{
	long offset;

	if (strcmp(l->row.fp, "u") == 0 || strcmp(l->row.fp, "s") == 0 || !l->row.fp[0])
		assert_int_equal(rule->fp_kind, FP_SAME);
	else if (sscanf(l->row.fp, "c%ld", &offset) == 1) {
		assert_int_equal(rule->fp_kind, FP_AT_CFA);
		assert_int_equal(rule->fp_offset, offset);
	} else
		assert_true(rule->fp_kind == FP_AT_FP || rule->fp_kind == FP_LOST);
}

static void check_rule(struct listing *l, const struct unwind_rule *rule)
{
	long offset;

	l->checked++;
	if (l->is_signal) {
		assert_int_equal(rule->cfa_kind, CFA_SIGNAL);
		return;
	}
	if (strcmp(l->row.ra, "u") == 0) {
		assert_int_equal(rule->cfa_kind, CFA_END);
		return;
	}
	if (strcmp(l->row.cfa, "exp") == 0) {
		l->by_expression++;
		assert_true(rule->cfa_kind == CFA_PLT || rule->cfa_kind == CFA_FP_DEREF ||
			    rule->cfa_kind == CFA_SP_DEREF || rule->cfa_kind == CFA_UNKNOWN);
		return;
	}
	if ((l->row.sp[0] && strcmp(l->row.sp, "u") != 0) || !strchr("cr", l->row.ra[0]) ||
	    sscanf(l->row.ra + 1, "%ld", &offset) != 1) {
		assert_int_equal(rule->cfa_kind, CFA_UNKNOWN);
		return;
	}
	if (l->row.ra[0] == 'r')
		assert_int_equal(rule->ra_register, offset + 1);
	else
		assert_int_equal(rule->ra_offset, offset);
	if (read_register(l->row.cfa, "rsp", &offset))
		assert_int_equal(rule->cfa_kind, CFA_SP);
	else if (read_register(l->row.cfa, "rbp", &offset))
		assert_int_equal(rule->cfa_kind, CFA_FP);
	else {
		assert_int_equal(rule->cfa_kind, CFA_REG);
		offset = atol(strpbrk(l->row.cfa, "+-"));
	}
	assert_int_equal(rule->cfa_offset, offset);
	check_fp(l, rule);
}

/* The row printed last holds in [l->row.at, END): compare at both ends. */
static void finish_row(struct listing *l, uintptr_t end)
{
	const struct image *image = l->image;
	uintptr_t first = l->row.at + image->bias, last = end - 1 + image->bias;

	if (!l->have_row || end <= l->row.at)
		return;
	l->have_row = false;
	if (first < image->start || last >= image->end)
		return;
	assert_non_null(unwind_find(image, first));
	check_rule(l, unwind_find(image, first));
	check_rule(l, unwind_find(image, last));
}

static void start_cie(struct listing *l, const char *line)
{
	struct cie *cie = &l->cies[l->cie_count++];

	finish_row(l, l->end);
	assert_true(l->cie_count < CIES_MAX);
	cie->offset = strtoul(line, NULL, 16);
	cie->is_signal = strchr(strstr(line, " CIE \"") + 6, 'S') != NULL;
	l->in_cie = true;
}

static void start_function(struct listing *l, const char *line)
{
	unsigned long cie = 0, start = 0, end = 0;
	size_t i;

	finish_row(l, l->end);
	if (sscanf(strstr(line, "cie="), "cie=%lx pc=%lx..%lx", &cie, &start, &end) != 3)
		fail_msg("readelf wrote: %s", line);
	for (i = 0; l->cies[i].offset != cie; i++)
		assert_true(i < l->cie_count);
	l->in_cie = false;
	l->is_signal = l->cies[i].is_signal;
	/* Without rows of its own it has the one of its CIE. */
	l->have_row = true;
	l->row = l->cies[i].row;
	l->row.at = start;
	l->end = end;
}

static void read_columns(struct listing *l, char *line)
{
	int column = 0;
	char *word, *rest = line;

	l->fp_column = l->sp_column = l->ra_column = -1;
	while ((word = strtok_r(rest, " \t\n", &rest))) {
		if (strcmp(word, "rbp") == 0)
			l->fp_column = column;
		else if (strcmp(word, "rsp") == 0)
			l->sp_column = column;
		else if (strcmp(word, "ra") == 0)
			l->ra_column = column;
		column++;
	}
	l->have_row = false; /* of the CIE: real ones follow */
}

static void read_row(struct listing *l, char *line)
{
	struct printed row = {.ra = "u"};
	char *rest = line, *word;
	int column = 0;

	row.at = strtoul(strtok_r(rest, " \t\n", &rest), NULL, 16);
	while ((word = strtok_r(rest, " \t\n", &rest))) {
		if (word[0] == '(') /* "r9 (r9)" is one column */
			continue;
		column++;
		if (column == 1)
			snprintf(row.cfa, sizeof(row.cfa), "%s", word);
		else if (column == l->fp_column)
			snprintf(row.fp, sizeof(row.fp), "%s", word);
		else if (column == l->sp_column)
			snprintf(row.sp, sizeof(row.sp), "%s", word);
		else if (column == l->ra_column)
			snprintf(row.ra, sizeof(row.ra), "%s", word);
	}
	if (l->in_cie) {
		l->cies[l->cie_count - 1].row = row;
		return;
	}
	finish_row(l, row.at);
	l->have_row = true;
	l->row = row;
}

static void read_line(struct listing *l, char *line)
{
	if (strstr(line, " CIE \""))
		start_cie(l, line);
	else if (strstr(line, " FDE cie="))
		start_function(l, line);
	else if (strncmp(line, "   LOC", 6) == 0)
		read_columns(l, line);
	else if (strlen(line) > 20 && strspn(line, "0123456789abcdef") == 16)
		read_row(l, line);
}

static const struct image *find_image(const char *part)
{
	uint32_t i;

	for (i = 0; i < set->count; i++)
		if (strstr(set->images[i]->path, part))
			return set->images[i];
	return NULL;
}

static void compare(const struct image *image, const char *path)
{
	struct listing l = {.image = image};
	char command[4200], line[4096];

	if (access("/usr/bin/readelf", X_OK) != 0) {
		print_message("SKIP: no readelf to compare with\n");
		skip();
	}
	snprintf(command, sizeof(command), "readelf -W --debug-dump=frames-interp '%s' 2>/dev/null",
		 path);
	l.from = popen(command, "r");
	assert_non_null(l.from);
	while (fgets(line, sizeof(line), l.from)) {
		if (strstr(line, "section .debug_frame"))
			break;
		read_line(&l, line);
	}
	finish_row(&l, l.end);
	while (fgets(line, sizeof(line), l.from))
		;
	pclose(l.from);
	print_message("%s: %zu comparisons, %zu expressions; table of %u rows, %zu bytes\n",
		      image->name, l.checked, l.by_expression, image->unwind.row_count,
		      unwind_table_bytes(&image->unwind));
	assert_true(l.checked > 100);
	assert_true(unwind_table_bytes(&image->unwind) <
		    12 * (size_t)image->unwind.row_count + 8192 + (image->end - image->start) / 200);
}

static void own_program(void **state)
{
	char path[4096] = {0};

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	compare(find_image(path), path);
}

static void c_library(void **state)
{
	const struct image *image = find_image("/libc.so.6");

	assert_non_null(image);
	compare(image, image->path);
}

static void hotspot(void **state)
{
	const struct image *image = find_image("/libjvm.so");

	if (!image) {
		print_message("SKIP: no libjvm.so found\n");
		skip();
	}
	compare(image, image->path);
}

static void crypto(void **state)
{
	const struct image *image = find_image("/libcrypto.so");

	if (!image) {
		print_message("SKIP: no libcrypto.so.3 found (assembly with expressions)\n");
		skip();
	}
	compare(image, image->path);
}

/* Attaching must not be felt: the tables of all libraries together. */
static void reading_is_quick(void **state)
{
	struct timespec start, end;
	struct image_set *again;
	struct error err;
	double ms;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	again = image_set_read(NULL, &err);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	assert_non_null(again);
	ms = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
	print_message("%u images in %.1f ms, %zu bytes\n", again->count, ms, image_set_bytes(again));
	image_set_free(again, NULL);
	/* Some ten times what it takes, for slow machines and sanitizers. */
	assert_true(ms < 300);
}

static int set_up(void **state)
{
	const char *jvm = find_libjvm();
	struct error err;

	if (jvm && !dlopen(jvm, RTLD_LAZY))
		print_message("%s\n", dlerror());
	dlopen("libcrypto.so.3", RTLD_LAZY);
	set = image_set_read(NULL, &err);
	return set ? 0 : -1;
}

static int tear_down(void **state)
{
	image_set_free(set, NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_program), cmocka_unit_test(c_library), cmocka_unit_test(hotspot),
		cmocka_unit_test(crypto),      cmocka_unit_test(reading_is_quick),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
