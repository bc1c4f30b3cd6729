/* Maps, interned texts and vectors against plain truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "common/words/enum_names.h"
#include "common/words/events.h"

#define MANY 100000u

static void map_keeps_all(void **state)
{
	struct map m = {0};
	uint32_t i, *value;
	bool fresh;

	assert_null(map_get(&m, 1));
	for (i = 0; i < MANY; i++) {
		/* Neighbours, multiples of a large power of two, and 0. */
		value = map_put(&m, (uint64_t)i << (i % 3 * 20), &fresh);
		assert_non_null(value);
		if (fresh)
			assert_int_equal(*value, 0);
		*value = i + 1;
	}
	for (i = MANY; i-- > 0;) {
		value = map_get(&m, (uint64_t)i << (i % 3 * 20));
		assert_non_null(value);
		/* A key that came twice has the later value. */
		assert_true(*value - 1 >= i && (uint64_t)(*value - 1) << ((*value - 1) % 3 * 20) ==
						       (uint64_t)i << (i % 3 * 20));
	}
	assert_null(map_get(&m, UINT64_MAX));
	assert_true(m.count <= MANY && m.count * 4 <= m.capacity * 3 + 4);
	map_put(&m, 0, &fresh);
	assert_false(fresh);
	map_put(&m, UINT64_MAX, &fresh);
	assert_true(fresh);
	map_free(&m);
	assert_null(map_get(&m, 0));
	map_free(&m);
}

/* The key that hash_mix makes HASH of. */
static uint64_t key_of(uint64_t hash)
{
	static const unsigned shifts[] = {31, 27, 30};
	static const uint64_t factors[] = {1, 0x94d049bb133111ebull, 0xbf58476d1ce4e5b9ull};
	uint64_t inverse, key = hash;
	unsigned i, k;

	for (i = 0; i < ARRAY_LEN(shifts); i++) {
		for (inverse = 1, k = 0; k < 6; k++)
			inverse *= 2 - factors[i] * inverse;
		key = hash = key * inverse;
		for (k = 0; k < 64 / shifts[i]; k++)
			key = hash ^ key >> shifts[i];
	}
	return key;
}

/* Used slots in a row: the longest look-up. */
static uint32_t longest_run(const struct map *m)
{
	uint32_t i, run = 0, longest = 0;

	for (i = 0; i < m->capacity; i++) {
		run = m->slots[i].used ? run + 1 : 0;
		longest = MAX(longest, run);
	}
	return longest;
}

/* A file that chooses its keys would have each of them looked up behind all others. */
static void chosen_keys_do_not_meet(void **state)
{
	struct map m = {0};
	uint64_t i;

	assert_true(hash_mix(key_of(5ull << 32)) == 5ull << 32);
	for (i = 1; i <= 4000; i++)
		assert_non_null(map_put(&m, key_of(i << 32), NULL));
	assert_int_equal(m.count, 4000);
	assert_in_range(longest_run(&m), 1, 1000);
	map_free(&m);
}

/* Eight pairs of words: with one multiplication a word both of a pair come to the same, whatever was before. */
static void chosen_texts_do_not_meet(void **state)
{
	struct strings s = {0};
	uint64_t words[16], shared = 0;
	uint32_t i, bit;

	for (i = 0; i < 256; i++) {
		memset(words, 'a', sizeof(words));
		for (bit = 0; bit < 8; bit++)
			if (i >> bit & 1) {
				words[2 * bit] ^= 1ull << 63;
				words[2 * bit + 1] ^= 1ull << 63 | 1ull << 31;
			}
		assert_int_not_equal(strings_add(&s, (char *)words, sizeof(words)), 0);
	}
	assert_int_equal(s.index.count, 256);
	/* texts that share a hash have the next keys */
	for (i = 0; i < s.index.capacity; i++)
		shared += s.index.slots[i].used && map_get(&s.index, s.index.slots[i].key - 1);
	assert_int_equal(shared, 0);
	strings_free(&s);
}

static void strings_are_shared(void **state)
{
	struct strings s = {0};
	uint32_t *number = malloc(MANY * sizeof(*number));
	char text[32];
	uint32_t i;

	assert_string_equal(strings_get(&s, 0), "");
	assert_int_equal(strings_add(&s, "", 0), 0);
	for (i = 0; i < MANY; i++) {
		int n = sprintf(text, "text %u", i);

		number[i] = strings_add(&s, text, (size_t)n);
		assert_true(number[i] > 0);
	}
	for (i = 0; i < MANY; i++) {
		int n = sprintf(text, "text %u", i);

		assert_string_equal(strings_get(&s, number[i]), text);
		assert_int_equal(strings_add(&s, text, (size_t)n), number[i]);
	}
	/* A part of a longer text, a beginning of a kept one, and the end of one are texts of their own. */
	i = strings_add(&s, "text 1 and more", 6);
	assert_int_equal(i, number[1]);
	i = strings_add(&s, "tex", 3);
	assert_string_equal(strings_get(&s, i), "tex");
	assert_string_equal(strings_get(&s, number[1]), "text 1");
	assert_string_equal(strings_get(&s, 0), "");
	free(number);
	strings_free(&s);
	assert_string_equal(strings_get(&s, 0), "");
}

/* A text of the table itself, and a part of one, while it moves to make room: all sizes of texts, all rests of room. */
static void own_texts_are_added(void **state)
{
	uint32_t size;

	for (size = 1; size <= 24; size++) {
		struct strings s = {0};
		uint32_t i, number, part;
		char text[32];

		for (i = 0; i < 20000; i++) {
			snprintf(text, sizeof(text), "%0*u", (int)size, i);
			number = strings_add(&s, text, strlen(text));
			assert_int_equal(strings_add(&s, strings_get(&s, number), strlen(text)), number);
			part = strings_add(&s, strings_get(&s, number) + 1, strlen(text) - 1);
			assert_string_equal(strings_get(&s, part), text + 1);
		}
		strings_free(&s);
	}
}

static void vector_items_begin_zeroed(void **state)
{
	VECTOR(struct { uint32_t a; char b[7]; }) v = {0};
	uint32_t i, j;

	for (i = 0; i < 10000; i++) {
		assert_non_null(VECTOR_PUSH(&v));
		assert_int_equal(v.items[i].a, 0);
		for (j = 0; j < 7; j++)
			assert_int_equal(v.items[i].b[j], 0);
		v.items[i].a = i;
		memset(v.items[i].b, 0xff, 7);
		if (i % 10 == 9) { /* a place given up and used again */
			v.count--;
			VECTOR_PUSH(&v)->a = i;
			assert_int_equal(v.items[i].b[0], 0);
		}
	}
	assert_int_equal(v.count, 10000);
	for (i = 0; i < 10000; i++)
		assert_int_equal(v.items[i].a, i);
	free(v.items);
}

/* The tables of words are complete: outputs index them without looking. */
static void names(void **state)
{
	int i;

	for (i = 0; i < FRAME_KINDS; i++)
		assert_true(frame_kind_names[i].word[0] && frame_kind_names[i].suffix);
	for (i = 0; i < LOSS_REASONS; i++)
		assert_true(loss_names[i].name[0] && loss_names[i].meaning[0]);
	for (i = 0; i < WALK_ENDS; i++)
		assert_true(walk_end_names[i].name[0] && walk_end_names[i].frame[0] == '[');
	assert_int_equal(FRAME_KINDS, 8); /* three bits */
	assert_string_equal(loss_names[LOSS_queue_full].name, "queue_full");
	assert_string_equal(walk_end_names[END_truncated].frame, "[truncated]");
}

/* Files of earlier versions are read by the names that they have. */
static void losses_by_name(void **state)
{
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		assert_int_equal(loss_by_name(loss_names[i].name), i);
	assert_int_equal(loss_by_name("unanswered"), LOSS_signal_pending);
	assert_int_equal(loss_by_name("late"), LOSS_missed_tick);
	assert_int_equal(loss_by_name("unseen"), LOSS_not_observed);
	assert_int_equal(loss_by_name("no such reason"), LOSS_REASONS);
	assert_int_equal(loss_by_name(""), LOSS_REASONS);
}

/* Emptied with few keys, a map that had many is as small as a new one: else each round would go through all its room. */
static void map_gives_much_room_back(void **state)
{
	struct map m = {.slots = NULL};
	uint64_t i, large;

	for (i = 0; i < 100000; i++)
		assert_non_null(map_put(&m, i, NULL));
	large = map_bytes(&m);
	map_clear(&m);
	assert_int_equal(map_bytes(&m), large); /* it may get as many again */
	assert_non_null(map_put(&m, 1, NULL));
	map_clear(&m);
	assert_true(map_bytes(&m) < large / 16);
	assert_null(map_get(&m, 1));
	assert_non_null(map_put(&m, 2, NULL));
	map_free(&m);
}

/* What the rows of events.def promise each other. */
static void events(void **state)
{
	const struct event_row *row;
	unsigned i, j;

	for (row = event_rows; row->name; row++) {
		struct event_fields f = event_fields_of(row->name);
		unsigned classes = 0, weights = 0;

		assert_ptr_equal(event_row_named(row->name), row);
		assert_true(row->help[0] && row->help[strlen(row->help) - 1] != '.');
		/* 0: each is a sample, and that is the only choice */
		assert_true(!row->available || row->interval >= row->least);
		assert_true(!row->available || row->interval || strcmp(row->name, "nativemap") == 0);
		assert_true(f.count <= EVENT_FIELDS_MAX);
		for (i = 0; i < f.count; i++) {
			classes += f.items[i].kind == EVENT_FIELD_CLASS;
			weights += f.items[i].kind == EVENT_FIELD_WEIGHT;
			for (j = 0; j < i; j++)
				assert_string_not_equal(f.items[i].key, f.items[j].key);
		}
		assert_true(classes <= 1 && weights <= 1);
	}
	for (i = 0; i < WEIGHT_KINDS; i++)
		assert_int_equal(weight_kind_of(weight_kind_names[i].of), i);
	assert_int_equal(weight_kind_of("no such"), WEIGHT_KINDS);
	assert_null(event_row_named("page-fault"));
	assert_int_equal(event_row_of("lock@5", 4)->weight, WEIGHT_WAIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_keeps_all),
		cmocka_unit_test(map_gives_much_room_back),
		cmocka_unit_test(chosen_keys_do_not_meet),
		cmocka_unit_test(chosen_texts_do_not_meet),
		cmocka_unit_test(strings_are_shared),
		cmocka_unit_test(own_texts_are_added),
		cmocka_unit_test(vector_items_begin_zeroed),
		cmocka_unit_test(names),
		cmocka_unit_test(losses_by_name),
		cmocka_unit_test(events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
