/* Stacks whose keys, lines and kinds are numbers of any length: by blocks or not, they say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made_jfr.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

#define START 1790000000000000000ll
#define METHODS 24
#define DEPTH_MAX 200
#define ROUNDS 200

/* A stack, innermost frame first. */
struct stack {
	unsigned depth;
	unsigned methods[DEPTH_MAX];
	uint32_t lines[DEPTH_MAX];
	uint64_t places[DEPTH_MAX]; /* in the code: not asked for */
	bool far_kind[DEPTH_MAX];   /* a kind whose key is a long number */
};

/* Of any length in the file; mostly short. */
static uint64_t any_number(void)
{
	uint64_t n = (uint64_t)rand() << 33 ^ (uint64_t)rand() << 8 ^ (uint64_t)rand();

	return rand() % 4 ? n & 0x3fff : n >> rand() % 64;
}

static void choose(struct stack *s)
{
	unsigned i;

	s->depth = 1 + (unsigned)rand() % DEPTH_MAX;
	for (i = 0; i < s->depth; i++) {
		s->methods[i] = (unsigned)rand() % METHODS;
		s->lines[i] = rand() % 8 ? 1 + (uint32_t)rand() % 3000 : (uint32_t)-1;
		s->places[i] = any_number();
		s->far_kind[i] = rand() % 16 == 0;
	}
}

/* Keys that are not those of any other method of the chunk; NARROW: all of at most two bytes. */
static void choose_keys(uint64_t keys[METHODS], bool narrow)
{
	unsigned i;

	for (i = 0; i < METHODS; i++)
		keys[i] = narrow ? 1000 + 7 * i : (any_number() / METHODS + 50) * METHODS + i;
}

static void put_constants(struct made *m, const uint64_t keys[METHODS], uint64_t far_kind)
{
	char name[8];
	unsigned i;

	made_usual_constants(m, 0);
	made_constants(m, 3);
	made_pool(m, MADE_SYMBOL, METHODS);
	for (i = 0; i < METHODS; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		made_long(m, 100 + i);
		made_text(m, name);
	}
	made_pool(m, MADE_METHOD, METHODS);
	for (i = 0; i < METHODS; i++) {
		made_long(m, keys[i]);
		made_long(m, 1);
		made_long(m, 100 + i);
		made_long(m, 4);
		made_int(m, 1);
		made_byte(m, 0);
	}
	made_pool(m, MADE_FRAME_TYPE, 1);
	made_long(m, far_kind);
	made_text(m, "Inlined");
	made_constants_end(m);
}

/* One sample of S, in a chunk with keys of its own. */
static void put_chunk(struct made *m, const struct stack *s, bool narrow)
{
	uint64_t keys[METHODS], far_kind = narrow ? 200 : 16 + any_number();
	unsigned i;

	choose_keys(keys, narrow);
	made_begin(m, START, 0, 1000000);
	put_constants(m, keys, far_kind);
	made_constants(m, 1);
	made_pool(m, MADE_STACK, 1);
	made_long(m, 500);
	made_byte(m, 0);
	made_int(m, s->depth);
	for (i = 0; i < s->depth; i++) {
		made_long(m, keys[s->methods[i]]);
		made_int(m, s->lines[i]);
		made_int(m, (uint32_t)s->places[i]);
		made_long(m, s->far_kind[i] ? far_kind : 2);
	}
	made_constants_end(m);
	made_execution(m, 5, 1, 500, 1);
	made_end(m, 1000000);
}

static char *expected(const struct stack *s, unsigned count, bool lines)
{
	struct buffer out = BUFFER_INIT;
	unsigned i;

	for (i = s->depth; i-- > 0;) {
		buffer_printf(&out, "demo/Main.m%u", s->methods[i]);
		if (lines && (int32_t)s->lines[i] > 0)
			buffer_printf(&out, ":%u", s->lines[i]);
		buffer_puts(&out, i ? ";" : " ");
	}
	buffer_printf(&out, "%u\n", count);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	return out.data;
}

static void expect(const struct made *m, const struct stack *s, unsigned count, bool lines)
{
	struct format_options layout = {.lines = lines};
	char *text = expected(s, count, lines);
	struct buffer out = BUFFER_INIT;
	const struct profile *const *profiles;
	struct conversion *c;
	struct options o;
	struct error err;
	uint32_t profile_count;

	options_init(&o);
	o.lines = lines;
	assert_int_equal(readers_read(made_file(m), &o, true, &c, &err), 0);
	profiles = convert_profiles(c, &profile_count);
	format_write(format_by_name("collapsed"), profiles, profile_count, &layout, &out, NULL);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, text);
	buffer_free(&out);
	readers_free(c);
	free(text);
}

static void stacks_of_any_numbers(void **state)
{
	struct stack s;
	unsigned seed;

	for (seed = 1; seed <= ROUNDS; seed++) {
		struct made m = {.wide = seed % 10 == 0};

		srand(seed);
		choose(&s);
		/* the second chunk has what the first one had, under other keys */
		put_chunk(&m, &s, seed % 2);
		put_chunk(&m, &s, seed % 3);
		put_chunk(&m, &s, seed % 3);
		expect(&m, &s, 3, seed % 5 < 2);
		made_free(&m);
	}
}

/* Line numbers that are written with more bytes than they need, nine at most. */
static void lines_of_many_bytes(void **state)
{
	struct stack s = {.depth = DEPTH_MAX};
	uint64_t keys[METHODS];
	unsigned bytes, i, k;

	for (bytes = 3; bytes <= 9; bytes++) {
		struct made m = {.ours = false};

		choose_keys(keys, true);
		made_begin(&m, START, 0, 1000000);
		put_constants(&m, keys, 200);
		made_constants(&m, 1);
		made_pool(&m, MADE_STACK, 1);
		made_long(&m, 500);
		made_byte(&m, 0);
		made_int(&m, s.depth);
		for (i = 0; i < s.depth; i++) {
			s.methods[i] = i % METHODS;
			s.lines[i] = 300 + i;
			made_long(&m, keys[s.methods[i]]);
			for (k = 0; k < bytes - 1; k++)
				made_byte(&m, 0x80 | (k < 2 ? s.lines[i] >> 7 * k & 0x7f : 0));
			made_byte(&m, 0);
			made_int(&m, 0);
			made_long(&m, 2);
		}
		made_constants_end(&m);
		made_execution(&m, 5, 1, 500, 1);
		made_end(&m, 1000000);
		expect(&m, &s, 1, true);
		made_free(&m);
	}
}

/* Many methods, so that the table of a chunk's frames grows while a stack is read. */
static void many_frames(void **state)
{
	struct made m = {.ours = false};
	struct options o;
	struct conversion *c;
	struct error err;
	uint32_t count, i, k;

	made_begin(&m, START, 0, 1000000);
	made_usual_constants(&m, 0);
	made_constants(&m, 1);
	made_pool(&m, MADE_STACK, 20);
	for (i = 0; i < 20; i++) {
		made_long(&m, 500 + i);
		made_byte(&m, 0);
		made_int(&m, 1000);
		for (k = 0; k < 1000; k++) {
			made_long(&m, 2);
			made_int(&m, 1 + i * 1000 + k);
			made_int(&m, k);
			made_long(&m, 1);
		}
	}
	made_constants_end(&m);
	for (i = 0; i < 20; i++)
		made_execution(&m, 5, 1, 500 + i, 1);
	made_end(&m, 1000000);
	options_init(&o);
	o.lines = true;
	assert_int_equal(readers_read(made_file(&m), &o, true, &c, &err), 0);
	assert_int_equal(convert_profiles(c, &count)[0]->frame_count, 20000);
	/* the innermost frame is read, and so numbered, first */
	for (i = 0; i < 20000; i++)
		assert_int_equal(convert_profiles(c, &count)[0]->frames[i].line, 1 + i);
	readers_free(c);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_any_numbers), cmocka_unit_test(lines_of_many_bytes),
		cmocka_unit_test(many_frames),
	};

	return cmocka_run_group_tests_name("convert/stacks", tests, NULL, NULL);
}
