/*
 * wait_tables.c - tables of a profile of waits for locks: by lock, by owner, by waiter.
 */
#include "profile/writers/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean.h"
#include "common/base/decimal.h"
#include "profile/model/human.h"

#define LINES 10

struct line {
	char name[160];
	uint64_t waits, time, longest;
	uint64_t open;
};

static void put_head(struct buffer *out, const char *longest, const char *what)
{
	buffer_printf(out, "    time      %%     waits%s  %s\n", longest, what);
}

#define LONGEST "   longest"
#define NO_LONGEST "" /* which threads have none of */

static void put_line(struct buffer *out, const struct profile *p, const struct line *l, bool longest)
{
	human_right(out, human_time(l->time).text, 8);
	buffer_printf(out, " %6s%% %9s", decimal(percent_of(l->time, p->weight_stored), 2).text,
		      human_count(l->waits).text);
	if (longest)
		human_right(out, human_time(l->longest).text, 10);
	buffer_puts(out, "  ");
	clean_name(out, l->name);
	if (l->open)
		buffer_printf(out, ", %s not over", human_count(l->open).text);
	buffer_putc(out, '\n');
}

static void put_rest(struct buffer *out, uint32_t count, uint32_t limit, const char *what)
{
	if (count > limit)
		buffer_printf(out, "         and %s more %s\n", human_count(count - limit).text, what);
	buffer_putc(out, '\n');
}

/* "java.lang.Object@1b2c3d4e (monitor)" */
static void name_lock(const struct profile_waits *w, char *out, size_t size)
{
	size_t n, i;

	n = (size_t)snprintf(out, size, "%s", *w->name ? w->name : w->kind == LOCK_SLEEP ? "Thread.sleep" :
			     "(no lock given)");
	for (i = 0; i < MIN(n, size - 1); i++)
		if (out[i] == '/')
			out[i] = '.';
	n = MIN(n, size - 1);
	if (w->identity)
		n += (size_t)snprintf(out + n, size - n, "@%llx", (unsigned long long)w->identity);
	n = MIN(n, size - 1);
	snprintf(out + n, size - n, " (%s)", lock_kind_names[w->kind].word);
}

static void put_locks(struct buffer *out, const struct profile *p, uint32_t limit)
{
	uint32_t i;

	put_head(out, LONGEST, "lock waited for");
	for (i = 0; i < MIN(p->lock_count, limit); i++) {
		const struct profile_waits *w = &p->locks[i];
		struct line l = {.waits = w->waits, .time = w->time, .longest = w->longest, .open = w->open};

		name_lock(w, l.name, sizeof(l.name));
		put_line(out, p, &l, true);
	}
	put_rest(out, p->lock_count, limit, "locks");
}

static void put_owners(struct buffer *out, const struct profile *p, uint32_t limit)
{
	uint32_t i;

	if (!p->owner_count)
		return;
	put_head(out, LONGEST, "held by, when the wait began");
	for (i = 0; i < MIN(p->owner_count, limit); i++) {
		const struct profile_waits *w = &p->owners[i];
		struct line l = {.waits = w->waits, .time = w->time, .longest = w->longest, .open = w->open};

		snprintf(l.name, sizeof(l.name), "%s", *w->name ? w->name : "(others)");
		put_line(out, p, &l, true);
	}
	put_rest(out, p->owner_count, limit, "owners");
}

static int by_weight(const void *a, const void *b)
{
	uint64_t x = (*(const struct profile_thread *const *)a)->weight;
	uint64_t y = (*(const struct profile_thread *const *)b)->weight;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void put_waiters(struct buffer *out, const struct profile *p, uint32_t limit)
{
	const struct profile_thread **order = calloc(p->thread_count + 1, sizeof(*order));
	uint32_t i;

	if (!order) {
		out->failed = out->failed ? out->failed : ENOMEM;
		return;
	}
	for (i = 0; i < p->thread_count; i++)
		order[i] = &p->threads[i];
	qsort(order, p->thread_count, sizeof(*order), by_weight);
	put_head(out, NO_LONGEST, "thread that waited");
	for (i = 0; i < MIN(p->thread_count, limit); i++) {
		struct line l = {.waits = order[i]->samples, .time = order[i]->weight};

		snprintf(l.name, sizeof(l.name), "%s", order[i]->name);
		put_line(out, p, &l, false);
	}
	put_rest(out, p->thread_count, limit, "threads");
	free(order);
}

void waits_tables(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	uint32_t limit = options->flat ? options->flat : LINES;

	put_locks(out, p, limit);
	put_owners(out, p, limit);
	put_waiters(out, p, limit);
}
