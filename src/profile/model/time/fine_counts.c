/*
 * fine_counts.c - a row of counts that grows with time, and is folded where it would be too long.
 */
#include "profile/model/time/fine_counts.h"

#include <stdlib.h>
#include <string.h>

void fine_counts_begin(struct fine_counts *f)
{
	if (!f->step)
		f->step = FINE_STEP;
}

void fine_counts_give_up(struct fine_counts *f)
{
	free(f->counts.items);
	memset(&f->counts, 0, sizeof(f->counts));
	f->given_up = true;
}

/* Steps twice as long. */
static void fold(struct fine_counts *f)
{
	size_t i, half = (f->counts.count + 1) / 2;

	for (i = 0; i < f->counts.count; i++) {
		uint32_t count = f->counts.items[i];

		if (i % 2 == 0)
			f->counts.items[i / 2] = count;
		else if (__builtin_add_overflow(f->counts.items[i / 2], count, &f->counts.items[i / 2]))
			f->given_up = true;
	}
	f->counts.count = half;
	f->step *= 2;
}

/* The count of AT; NULL: there is no memory. */
static uint32_t *count_at(struct fine_counts *f, uint64_t at)
{
	size_t place;

	while (at / f->step >= FINE_MOST)
		fold(f);
	place = at / f->step;
	if (place >= f->counts.count) {
		if (place >= f->counts.capacity && !VECTOR_RESERVE(&f->counts, MIN(2 * place + 1, (size_t)FINE_MOST)))
			return NULL;
		memset(f->counts.items + f->counts.count, 0, (place + 1 - f->counts.count) * sizeof(*f->counts.items));
		f->counts.count = place + 1;
	}
	return &f->counts.items[place];
}

void fine_counts_add(struct fine_counts *f, uint64_t at, uint64_t samples)
{
	uint32_t *count, now = 0;

	if (!f->step || f->given_up)
		return;
	count = count_at(f, at);
	if (!count || samples > UINT32_MAX || __builtin_add_overflow(*count, (uint32_t)samples, &now))
		f->given_up = true;
	else
		*count = now;
	if (f->given_up)
		fine_counts_give_up(f);
}

void fine_counts_join(struct fine_counts *f, const struct fine_counts *from)
{
	size_t i;

	if (from->given_up)
		fine_counts_give_up(f);
	for (i = 0; i < from->counts.count; i++)
		if (from->counts.items[i])
			fine_counts_add(f, i * from->step, from->counts.items[i]);
}

void fine_counts_free(struct fine_counts *f)
{
	free(f->counts.items);
	memset(f, 0, sizeof(*f));
}
