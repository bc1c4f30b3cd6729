/*
 * moment_order.c - moments are put into order by their numbers' digits, from the last on (radix sort: Knuth, The Art of
 * Computer Programming 3, 5.2.5), which for a million of them takes a third of what comparing them does.
 */
#include "profile/model/time/moment_order.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT 11 /* bits */
#define DIGIT_MASK ((1u << DIGIT) - 1)
#define FEW 64   /* so few are compared */

/* By which numbers of a moment, and where in it each is: all are of 32 bits. */
#define NUMBERS 4
#define PLACE(number) offsetof(struct profile_moment, number)
static const size_t by_time[NUMBERS] = {PLACE(at), PLACE(stack), PLACE(thread), PLACE(span)};
static const size_t by_place[NUMBERS] = {PLACE(stack), PLACE(thread), PLACE(at), PLACE(span)};

static inline uint32_t number_at(const struct profile_moment *m, size_t place)
{
	return *(const uint32_t *)((const char *)m + place);
}

static int compare(const struct profile_moment *x, const struct profile_moment *y, const size_t *order)
{
	unsigned i;

	for (i = 0; i < NUMBERS; i++)
		if (number_at(x, order[i]) != number_at(y, order[i]))
			return number_at(x, order[i]) < number_at(y, order[i]) ? -1 : 1;
	return 0;
}

static int compare_by(const void *x, const void *y, void *order)
{
	return compare(x, y, order);
}

int moment_order_compare_place(const struct profile_moment *x, const struct profile_moment *y)
{
	return compare(x, y, by_place);
}

static bool is_ordered(const struct profile_moment *items, size_t n, const size_t *order)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (compare(&items[i - 1], &items[i], order) > 0)
			return false;
	return true;
}

/* In which bits of the number at PLACE moments differ. */
static uint32_t bits_that_differ(const struct profile_moment *items, size_t n, size_t place)
{
	uint32_t bits = 0;
	size_t i;

	for (i = 1; i < n; i++)
		bits |= number_at(&items[i], place) ^ number_at(&items[0], place);
	return bits;
}

/* By one digit of the number at PLACE, from SHIFT bits on; what has the same stays as it stood. */
static void sort_digit(const struct profile_moment *from, struct profile_moment *to, size_t n, size_t place,
		       unsigned shift)
{
	size_t starts[1 << DIGIT] = {0}, i, at = 0, count;

	for (i = 0; i < n; i++)
		starts[number_at(&from[i], place) >> shift & DIGIT_MASK]++;
	for (i = 0; i < ARRAY_LEN(starts); i++) {
		count = starts[i];
		starts[i] = at;
		at += count;
	}
	for (i = 0; i < n; i++)
		to[starts[number_at(&from[i], place) >> shift & DIGIT_MASK]++] = from[i];
}

static void sort(struct profile_moment *items, size_t n, const size_t *order)
{
	struct profile_moment *spare, *from = items, *to, *held;
	unsigned i, shift;

	if (!n || is_ordered(items, n, order))
		return;
	spare = n > FEW ? malloc(n * sizeof(*items)) : NULL;
	if (!spare) {
		qsort_r(items, n, sizeof(*items), compare_by, (void *)(uintptr_t)order);
		return;
	}
	to = spare;
	for (i = NUMBERS; i-- > 0;) {
		uint32_t bits = bits_that_differ(items, n, order[i]);

		for (shift = 0; shift < 32; shift += DIGIT) {
			if (!(bits >> shift & DIGIT_MASK))
				continue;
			sort_digit(from, to, n, order[i], shift);
			held = from;
			from = to;
			to = held;
		}
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	free(spare);
}

void moment_order_time(struct profile_moment *items, size_t n)
{
	sort(items, n, by_time);
}

void moment_order_place(struct profile_moment *items, size_t n)
{
	sort(items, n, by_place);
}
