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
	const char *note; /* behind it; NULL: none */
	uint64_t waits, time, longest;
	uint64_t open;
};

static uint64_t all_of(const struct profile *p, const struct work *w)
{
	return w ? w->profile.weight_stored : p->weight_stored;
}

static void put_head(struct buffer *out, const char *longest, const char *what)
{
	buffer_printf(out, "    time      %%     waits%s  %s\n", longest, what);
}

#define LONGEST "   longest"
#define NO_LONGEST "" /* which threads have none of */

static void put_line(struct buffer *out, uint64_t all, const struct line *l, bool longest)
{
	human_right(out, human_time(l->time).text, 8);
	buffer_printf(out, " %6s%% %9s", decimal(percent_of(l->time, all), 2).text,
		      human_count(l->waits).text);
	if (longest)
		human_right(out, human_time(l->longest).text, 10);
	buffer_puts(out, "  ");
	clean_name(out, l->name);
	if (l->note)
		clean_name(out, l->note);
	if (l->open)
		buffer_printf(out, ", %s still waiting", human_count(l->open).text);
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

/* ---- by lock ---- */

static struct line line_of(const struct profile_waits *w)
{
	return (struct line){.waits = w->waits, .time = w->time, .longest = w->longest, .open = w->open};
}

/* The waits for work. */
static void put_idle(struct buffer *out, const struct work_locks *l)
{
	if (!l->idle_locks)
		return;
	human_right(out, human_time(l->idle.time).text, 8);
	buffer_printf(out, "    idle %9s", human_count(l->idle.waits).text);
	human_right(out, human_time(l->idle.longest).text, 10);
	buffer_printf(out, "  waits for work%s, at %s lock%s; --idle shows them\n",
		      l->idle_unsure ? " or for an answer" : "", human_count(l->idle_locks).text,
		      human_plural(l->idle_locks));
}

static void put_locks(struct buffer *out, const struct profile *p, const struct work *w,
		      const struct format_options *options, uint32_t limit)
{
	struct work_locks l = {.count = p->lock_count};
	uint32_t i;

	if (w && options->views->locks(p, w, &l))
		out->failed = out->failed ? out->failed : ENOMEM;
	put_head(out, LONGEST, "lock waited for");
	for (i = 0; i < MIN(l.count, limit); i++) {
		const struct profile_waits *lock = l.items ? &l.items[i].waits : &p->locks[i];
		struct line line = line_of(lock);

		line.note = l.items ? l.items[i].note : NULL;
		name_lock(lock, line.name, sizeof(line.name));
		put_line(out, all_of(p, w), &line, true);
	}
	put_idle(out, &l);
	put_rest(out, l.count, limit, "locks");
	free(l.items);
}

/* ---- by owner, by waiter ---- */

/*
 * Whether most of what was WAITED in P without an owner was for locks that have one while they are taken. KNOWN is the
 * time of waits with one, all of them for such locks.
 */
static bool have_owners(const struct profile *p, uint64_t waited, uint64_t known)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < p->lock_count; i++)
		if (p->locks[i].kind == LOCK_MONITOR || strstr(p->locks[i].name, "/ReentrantLock$"))
			sum += p->locks[i].time;
	return sum - MIN(known, sum) > (waited - known) / 2;
}

/* Of owners it is not known which of their waits are idle: percentages are of all that have an owner. */
static void put_owners(struct buffer *out, const struct profile *p, uint64_t waited, uint32_t limit)
{
	uint64_t all = 0;
	uint32_t i;

	if (!p->owner_count)
		return;
	for (i = 0; i < p->owner_count; i++)
		all += p->owners[i].time;
	put_head(out, LONGEST, "held by, when the wait began; of all waits with an owner");
	for (i = 0; i < MIN(p->owner_count, limit); i++) {
		struct line l = line_of(&p->owners[i]);

		snprintf(l.name, sizeof(l.name), "%s", *p->owners[i].name ? p->owners[i].name : "(others)");
		put_line(out, all, &l, true);
	}
	if (waited > all + waited / 10) {
		human_right(out, human_time(waited - all).text, 8);
		buffer_printf(out, "%30sno owner is known: %s\n", "", have_owners(p, waited, all) ?
			      "the lock was just passed on, or its owner could not be told" :
			      "read locks, semaphores, conditions and results keep none");
	}
	put_rest(out, p->owner_count, limit, "owners");
}

static int by_weight(const void *a, const void *b)
{
	uint64_t x = ((const struct profile_thread *)a)->weight, y = ((const struct profile_thread *)b)->weight;

	return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * The threads of P, with what they waited besides idle waits, if its stacks say whose they are (those of owners do
 * not); how many did, to COUNT. NULL: no memory.
 */
static struct profile_thread *find_waiters(const struct profile *p, const struct work *w, uint32_t *count)
{
	struct profile_thread *threads = calloc((size_t)p->thread_count + 1, sizeof(*threads));
	bool apart = w && w->groups.count;
	uint32_t i;

	for (i = 0; threads && i < p->thread_count; i++) {
		threads[i] = p->threads[i];
		if (apart)
			threads[i].samples = threads[i].weight = 0;
	}
	for (i = 0; threads && apart && i < w->profile.stack_count; i++) {
		const struct profile_stack *s = &w->stacks[i];

		if (s->thread == PROFILE_NO_THREAD)
			continue;
		threads[s->thread].samples += s->samples;
		threads[s->thread].weight += s->weight;
	}
	if (threads)
		qsort(threads, p->thread_count, sizeof(*threads), by_weight);
	for (*count = p->thread_count; threads && *count && apart && !threads[*count - 1].weight; (*count)--)
		;
	return threads;
}

static void put_waiters(struct buffer *out, const struct profile *p, const struct work *w, uint32_t limit)
{
	uint32_t count, i;
	struct profile_thread *threads = find_waiters(p, w, &count);

	if (!threads) {
		out->failed = out->failed ? out->failed : ENOMEM;
		return;
	}
	put_head(out, NO_LONGEST, "thread that waited");
	for (i = 0; i < MIN(count, limit); i++) {
		struct line l = {.waits = threads[i].samples, .time = threads[i].weight};

		snprintf(l.name, sizeof(l.name), "%s", threads[i].name);
		put_line(out, all_of(p, w), &l, false);
	}
	put_rest(out, count, limit, "threads");
	free(threads);
}

void waits_tables(struct buffer *out, const struct profile *p, const struct work *w,
		  const struct format_options *options)
{
	uint32_t limit = options->flat ? options->flat : LINES;

	if (w && !w->profile.weight_stored) {
		buffer_puts(out, "No thread waited for a lock.\n\n");
		return;
	}
	put_locks(out, p, w, options, limit);
	put_owners(out, p, all_of(p, w), limit);
	put_waiters(out, p, w, limit);
}
