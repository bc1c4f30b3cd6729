/*
 * lock_page.c - members of the page's data for web/locks.js:
 *
 *   lockRows   of each lock, or of what cannot be told apart, an object:
 *                lock, identity, kind   its class, hash code ("" = not known) and how it is waited for
 *                asked                  the method that asks for it most
 *                locks                  of so many of its class; unowned: no thread has it; several: it may be several
 *                waits, weight          recorded waits (of wall time: samples), and time
 *                longest, open          0: not known
 *                groups                 who waited, [name, threads (0: not known), waits, weight]
 *                owners                 who had it, [pattern of names, method, waits, weight]; known: weight of all;
 *                                       of wall time the one that is most likely, with what it did in place of numbers
 *                named                  who else had it, by name alone, [name, weight at least, at most]
 *                waiting, having        stacks, the heaviest ones: [whose, waits, weight]
 *                more                   how many others there are, of waiting and of having
 *   lockWaits  they are waits, not wall time; lockOwners: it is known who had them, of some at least
 *   lockMore   how many more locks there are, and their weight
 *   lockNames  names of frames
 *   lockStacks of each stack above, first those that wait, varints: number of frames, their names from the root on,
 *              how many were cut off in front of them
 */
#include "profile/views/lock_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "common/base/vector.h"
#include "profile/model/work/named_owners.h"
#include "profile/views/views.h"
#include "profile/writers/page/page_put.h"

#define ROWS 100u
#define STACKS 12u
#define SHARES 12u
#define DEPTH 64u /* the innermost frames: a page is no place for all frames of all locks */

/* What a row has of one group of threads, of one owner, or of one stack. */
struct share {
	uint32_t what, method; /* group, or pattern and method, or number of the stack or holder */
	uint32_t threads;
	uint64_t waits, weight;
};

struct shares {
	VECTOR(struct share);
};

struct making {
	struct json_writer *to;
	const struct profile *p;
	const struct contention *c;
	struct page_bytes stacks;
	uint32_t *names;  /* name → number in lockNames + 1 */
	uint32_t named;
	uint32_t *seen;   /* thread → the last row in which it was seen + 1 */
	struct shares waiting, having, groups, owners; /* of the row at hand */
};

static int heaviest_first(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->what != y->what ? (x->what < y->what ? -1 : 1) : x->method < y->method ? -1 : x->method > y->method;
}

static void sort(struct shares *s)
{
	if (s->count)
		qsort(s->items, s->count, sizeof(*s->items), heaviest_first);
}

/* False: no memory. */
static bool push(struct shares *s, struct share share)
{
	struct share *new = VECTOR_PUSH(s);

	if (new)
		*new = share;
	return new;
}

/* To that of the same kind, if there is one. */
static bool add(struct shares *s, struct share share)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		struct share *known = &s->items[i];

		if (known->what != share.what || known->method != share.method)
			continue;
		known->threads += share.threads;
		known->waits += share.waits;
		known->weight += share.weight;
		return true;
	}
	return push(s, share);
}

/* ---- what belongs to a row ---- */

/* Stack number I waits for row ROW. */
static bool add_waiting(struct making *m, uint32_t row, uint32_t i)
{
	const struct profile_stack *s = &m->p->stacks[i];
	const struct thread_groups *g = &m->c->work->groups;
	uint32_t group = g->of_stack[i];
	bool known = s->thread != PROFILE_NO_THREAD && group != NO_GROUP && g->groups[group].threads;
	bool new = known && m->seen[s->thread] != row + 1;

	if (known)
		m->seen[s->thread] = row + 1;
	return push(&m->waiting, (struct share){i, 0, 0, s->samples, s->weight}) &&
	       add(&m->groups, (struct share){group, 0, new, s->samples, s->weight});
}

static bool gather(struct making *m, uint32_t row)
{
	const struct contention *c = m->c;
	bool whole = true;
	uint32_t i;
	size_t k;

	m->waiting.count = m->having.count = m->groups.count = m->owners.count = 0;
	for (i = 0; whole && i < m->p->stack_count; i++)
		if (c->row_of[i] == row + 1)
			whole = add_waiting(m, row, i);
	for (k = 0; whole && k < c->by_count; k++) {
		const struct contended_by *by = &c->by[k];
		const struct profile_waits *h = &m->p->holders[by->holder];

		if (by->row == row)
			whole = push(&m->having, (struct share){by->holder, 0, 0, h->waits, h->time}) &&
				add(&m->owners, (struct share){by->pattern, by->method, 0, h->waits, h->time});
	}
	sort(&m->waiting);
	sort(&m->having);
	sort(&m->groups);
	sort(&m->owners);
	return whole;
}

/* ---- as data ---- */

static void put_stack(struct making *m, const uint32_t *frames, uint32_t depth)
{
	uint32_t shown = MIN(depth, DEPTH), i;

	page_varint(&m->stacks, shown);
	for (i = depth - shown; i < depth; i++) {
		uint32_t *number = &m->names[m->c->names.of_frame[frames[i]]];

		if (!*number)
			*number = ++m->named;
		page_varint(&m->stacks, *number - 1);
	}
	page_varint(&m->stacks, depth - shown);
}

static void begin_share(struct making *m, const char *name)
{
	json_array(m->to, NULL);
	json_put_text(m->to, NULL, name);
}

static void end_share(struct making *m, const struct share *s)
{
	json_put_number(m->to, NULL, s->waits);
	json_put_number(m->to, NULL, s->weight);
	json_end(m->to);
}

static const char *group_name(const struct making *m, uint32_t group)
{
	const struct thread_groups *g = &m->c->work->groups;

	return group == NO_GROUP ? "" : thread_group_name(g, &g->groups[group]);
}

static void put_groups(struct making *m)
{
	size_t i;

	json_array(m->to, "groups");
	for (i = 0; i < MIN(m->groups.count, (size_t)SHARES); i++) {
		begin_share(m, group_name(m, m->groups.items[i].what));
		json_put_number(m->to, NULL, m->groups.items[i].threads);
		end_share(m, &m->groups.items[i]);
	}
	json_end(m->to);
}

static void put_owners(struct making *m, const struct contended *r)
{
	bool of_waits = m->p->weight_kind == WEIGHT_WAIT;
	size_t i;

	json_array(m->to, "owners");
	for (i = 0; i < MIN(m->owners.count, (size_t)SHARES); i++) {
		begin_share(m, strings_get(&m->c->work->groups.texts, m->owners.items[i].what));
		json_put_text(m->to, NULL, name_text(&m->c->names, m->owners.items[i].method));
		end_share(m, &m->owners.items[i]);
	}
	if (!of_waits && r->method != NO_NAME_OF) {
		begin_share(m, r->owner);
		json_put_text(m->to, NULL, name_text(&m->c->names, r->method));
		json_put_text(m->to, NULL, activity_names[r->activity].head);
		json_end(m->to);
	}
	json_end(m->to);
	json_put_number(m->to, "known", of_waits ? r->known_weight : 0);
}

static void put_stacks(struct making *m)
{
	size_t i, waiting = MIN(m->waiting.count, (size_t)STACKS), having = MIN(m->having.count, (size_t)STACKS);

	json_array(m->to, "waiting");
	for (i = 0; i < waiting; i++) {
		const struct profile_stack *s = &m->p->stacks[m->waiting.items[i].what];

		begin_share(m, group_name(m, m->c->work->groups.of_stack[m->waiting.items[i].what]));
		end_share(m, &m->waiting.items[i]);
		put_stack(m, s->frames, s->depth);
	}
	json_end(m->to);
	json_array(m->to, "having");
	for (i = 0; i < having; i++) {
		const struct profile_waits *h = &m->p->holders[m->having.items[i].what];

		begin_share(m, h->name);
		end_share(m, &m->having.items[i]);
		put_stack(m, h->frames, h->depth);
	}
	json_end(m->to);
	json_array(m->to, "more");
	json_put_number(m->to, NULL, m->waiting.count - waiting);
	json_put_number(m->to, NULL, m->having.count - having);
	json_end(m->to);
}

/* Recordings have no table of locks: how their threads waited says only whether it was for a monitor. */
static const char *kind_of(const struct contended *r, bool of_waits)
{
	if (of_waits && r->locks)
		return lock_kind_names[r->kind].word;
	return r->blocked * 2 > r->weight ? "monitor" : of_waits ? "" :
	       r->ready * 2 > r->weight ? "class initialisation" : "lock";
}

/* Of wall time only the class of locks of java.util.concurrent is known. */
static void put_name(struct making *m, const struct contended *r)
{
	bool of_waits = m->p->weight_kind == WEIGHT_WAIT;
	char identity[17] = "", *at;
	struct buffer class_name = BUFFER_INIT;

	if (r->identity)
		snprintf(identity, sizeof(identity), "%" PRIx64, r->identity);
	buffer_puts(&class_name, r->lock ? r->lock : "");
	for (at = class_name.data; at && at < class_name.data + class_name.length; at++)
		if (*at == '/')
			*at = '.';
	json_put_text(m->to, "lock", r->of_class ? name_text(&m->c->names, r->place) :
		      buffer_text(&class_name, m->to->out));
	json_put_texts(m->to, {"identity", identity}, {"kind", kind_of(r, of_waits)},
		       {"asked", r->asked_in == NO_NAME_OF ? "" : name_text(&m->c->names, r->asked_in)});
	buffer_free(&class_name);
}

/* The lock that R is of; NULL: there may be several, or it is not known. */
static const struct profile_waits *only_lock(const struct profile *p, const struct contended *r)
{
	uint32_t i;

	if (r->number)
		return &p->locks[r->number - 1];
	for (i = 0; r->lock && r->locks == 1 && i < p->lock_count; i++)
		if (strcmp(p->locks[i].name, r->lock) == 0)
			return &p->locks[i];
	return NULL;
}

static bool put_named(struct making *m, uint32_t row, const struct profile_waits *one)
{
	struct named_owner *named = NULL;
	size_t count = 0, i;

	if (one && m->p->weight_kind == WEIGHT_WAIT && !m->c->rows[row].unowned &&
	    !named_owners_of(m->c, m->p, row, one, &named, &count))
		return false;
	json_array(m->to, "named");
	for (i = 0; i < MIN(count, (size_t)SHARES); i++) {
		begin_share(m, named[i].name);
		json_put_number(m->to, NULL, named[i].least);
		json_put_number(m->to, NULL, named[i].most);
		json_end(m->to);
	}
	json_end(m->to);
	free(named);
	return true;
}

static bool put_row(struct making *m, uint32_t row)
{
	const struct contended *r = &m->c->rows[row];
	const struct profile_waits *one = only_lock(m->p, r);

	if (!gather(m, row))
		return false;
	json_object(m->to, NULL);
	put_name(m, r);
	/* of a lock that is waited for idly as well, that is no part of this */
	json_put_numbers(m->to, {"locks", r->locks}, {"waits", r->samples}, {"weight", r->weight},
			 {"longest", one ? MIN(one->longest, r->weight) : 0},
			 {"open", one ? MIN(one->open, r->samples) : 0});
	json_put_bool(m->to, "unowned", r->unowned);
	json_put_bool(m->to, "several", r->several);
	put_groups(m);
	put_owners(m, r);
	if (!put_named(m, row, one))
		return false;
	put_stacks(m);
	json_end(m->to);
	return true;
}

static int put_names(struct making *m)
{
	uint32_t *names = calloc((size_t)m->named + 1, sizeof(*names)), i;

	for (i = 0; names && i < m->c->names.count; i++)
		if (m->names[i])
			names[m->names[i] - 1] = i;
	json_array(m->to, "lockNames");
	for (i = 0; names && i < m->named; i++)
		json_put_text(m->to, NULL, name_text(&m->c->names, names[i]));
	json_end(m->to);
	free(names);
	return names ? 0 : -ENOMEM;
}

static void put_more(struct making *m)
{
	const struct contention *c = m->c;
	uint64_t weight = 0;
	uint32_t i;

	for (i = ROWS; i < c->count; i++)
		weight += c->rows[i].weight;
	json_array(m->to, "lockMore");
	json_put_number(m->to, NULL, c->count - MIN(c->count, ROWS));
	json_put_number(m->to, NULL, weight);
	json_end(m->to);
}

int lock_page_put(struct json_writer *to, const struct profile *p, const struct contention *c)
{
	struct making m = {.to = to, .p = p, .c = c, .stacks = {.to = to, .key = "lockStacks", .views = &views,
								.bytes = BUFFER_INIT}};
	bool whole;
	uint32_t i;
	int rc = -ENOMEM;

	m.names = calloc((size_t)c->names.count + 1, sizeof(*m.names));
	m.seen = calloc((size_t)p->thread_count + 1, sizeof(*m.seen));
	whole = m.names && m.seen;
	json_put_bool(to, "lockWaits", p->weight_kind == WEIGHT_WAIT);
	json_put_bool(to, "lockOwners", p->lock_count > 0);
	json_array(to, "lockRows");
	for (i = 0; whole && i < MIN(c->count, ROWS); i++)
		whole = put_row(&m, i);
	json_end(to);
	put_more(&m);
	if (whole)
		rc = put_names(&m);
	page_bytes_end(&m.stacks);
	free(m.names);
	free(m.seen);
	free(m.waiting.items);
	free(m.having.items);
	free(m.groups.items);
	free(m.owners.items);
	return rc;
}
