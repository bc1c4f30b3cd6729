/*
 * Profiles that travel from the agent to the command: each output is the same there, and what a hostile program sends
 * in their place is refused or can be followed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format_sample.h"
#include "profile/exports/exports.h"
#include "profile/readers/unpack.h"
#include "profile/writers/format.h"

#define ROUNDS 20000

/* A file with BYTES[0..N). */
static int file_of(const void *bytes, size_t n)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(buffer_write(fd, bytes, n), 0);
	return fd;
}

static void write_as(const char *format, const struct profile *const *profiles, uint32_t count, struct buffer *out)
{
	struct format_options how = {.lines = true, .threads = true, .sig = true, .lib = true, .exports = exports_write};

	buffer_init(out, -1);
	format_write(format_by_name(format), profiles, count, &how, out, NULL);
	assert_int_equal(out->failed, 0);
}

static const struct profile_waits waits[] = {
	{.name = "demo/Ledger", .identity = 7, .kind = 0, .waits = 3, .time = 900, .longest = 500, .open = 1},
};
static const uint32_t held_in[] = {0, 1};
static const struct profile_waits holders[] = {
	{.name = "pool-1", .waits = 3, .time = 900, .frames = held_in, .depth = 2},
};

/* COUNT profiles unlike in all that has arrays. */
static void make(struct profile p[2])
{
	p[0] = sample_profile(true);
	p[1] = sample_profile(false);
	p[1].event = "lock";
	p[1].weight_kind = WEIGHT_WAIT;
	p[1].locks = waits;
	p[1].lock_count = 1;
	p[1].owners = waits;
	p[1].owner_count = 1;
	p[1].holders = holders;
	p[1].holder_count = 1;
	p[1].title = "a title";
	p[1].window = (struct profile_window){.begin = "a", .end = ""};
}

static void every_output_is_the_same(void **state)
{
	struct profile made[2];
	const struct profile *const given[] = {&made[0], &made[1]};
	struct buffer packed, before, after;
	const struct format *f;
	struct unpacked u;
	struct error err;
	int fd;

	(void)state;
	make(made);
	write_as("packed", given, 2, &packed);
	fd = file_of(packed.data, packed.length);
	assert_int_equal(unpack(&u, fd, packed.length, &err), 0);
	assert_int_equal(u.count, 2);
	for (f = formats; f->name; f++) {
		if (!f->write)
			continue;
		write_as(f->name, given, 2, &before);
		write_as(f->name, (const struct profile *const *)u.profiles, 2, &after);
		assert_int_equal(before.length, after.length);
		/* paddings of structures may differ in what is packed again */
		if (*format_help(f))
			assert_memory_equal(before.data, after.data, before.length);
		buffer_free(&before);
		buffer_free(&after);
	}
	unpack_free(&u);
	buffer_free(&packed);
	close(fd);
}

static void an_empty_profile_travels(void **state)
{
	const struct profile empty = {.event = "cpu", .engine = "", .main_class = "", .jdk = ""}, *given = &empty;
	struct buffer packed;
	struct unpacked u;
	struct error err;
	int fd;

	(void)state;
	write_as("packed", &given, 1, &packed);
	fd = file_of(packed.data, packed.length);
	assert_int_equal(unpack(&u, fd, packed.length, &err), 0);
	assert_int_equal(u.count, 1);
	assert_int_equal(u.profiles[0]->stack_count, 0);
	assert_null(u.profiles[0]->title);
	unpack_free(&u);
	buffer_free(&packed);
	close(fd);
}

static void what_is_cut_is_refused(void **state)
{
	struct profile made[2];
	const struct profile *const given[] = {&made[0], &made[1]};
	struct unpacked u;
	struct buffer packed;
	struct error err;
	size_t n, whole;
	int fd;

	(void)state;
	make(made);
	write_as("packed", given, 1, &packed);
	whole = packed.length;
	buffer_free(&packed);
	write_as("packed", given, 2, &packed);
	for (n = 0; n < packed.length; n += n < 64 ? 1 : 61) {
		fd = file_of(packed.data, n);
		if (n != whole)
			assert_int_equal(unpack(&u, fd, n, &err), -EPROTO);
		unpack_free(&u);
		close(fd);
	}
	buffer_free(&packed);
}

/* Bytes changed at random: refused, or every output can be made of it. */
static void what_is_damaged_can_be_followed(void **state)
{
	struct profile made[2];
	const struct profile *const given[] = {&made[0], &made[1]};
	unsigned seed = 1, round, taken = 0;
	struct buffer packed;

	(void)state;
	make(made);
	write_as("packed", given, 2, &packed);
	for (round = 0; round < ROUNDS; round++) {
		struct unpacked u;
		struct error err;
		char *bytes = malloc(packed.length);
		int changes = 1 + rand_r(&seed) % 3, fd;

		assert_non_null(bytes);
		memcpy(bytes, packed.data, packed.length);
		while (changes-- > 0) {
			size_t at = (size_t)rand_r(&seed) % packed.length;

			bytes[at] = rand_r(&seed) % 2 ? (char)rand_r(&seed) : (char)(bytes[at] + 1);
		}
		fd = file_of(bytes, packed.length);
		if (unpack(&u, fd, packed.length, &err) == 0 && round % 8 == 0) {
			struct buffer out;

			taken++;
			write_as("html", (const struct profile *const *)u.profiles, u.count, &out);
			buffer_free(&out);
			write_as("json", (const struct profile *const *)u.profiles, u.count, &out);
			buffer_free(&out);
			write_as("text", (const struct profile *const *)u.profiles, u.count, &out);
			buffer_free(&out);
		}
		unpack_free(&u);
		free(bytes);
		close(fd);
	}
	assert_true(taken > ROUNDS / 80);
	buffer_free(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_output_is_the_same),
		cmocka_unit_test(an_empty_profile_travels),
		cmocka_unit_test(what_is_cut_is_refused),
		cmocka_unit_test(what_is_damaged_can_be_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
