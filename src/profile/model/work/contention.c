#include "profile/model/work/contention_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/hash.h"

bool contention_add(struct pairs *s, uint32_t row, uint32_t what, uint8_t activity, uint64_t weight)
{
	uint32_t *place = map_put(&s->places, (uint64_t)row << 32 | what, NULL);
	struct pair *pair = place && !*place ? VECTOR_PUSH(&s->list) : NULL;

	if (pair) {
		pair->row = row;
		pair->what = what;
		*place = (uint32_t)s->list.count;
	}
	if (!place || !*place)
		return false;
	pair = &s->list.items[*place - 1];
	pair->weight += weight;
	pair->by_activity[activity] += weight;
	return true;
}

/* APART: name of the method that asks, or LOCK_APART and the lock, where rows are apart by it; else NO_NAME_OF. */
static struct contended *row_at(struct finding *f, uint32_t place, uint32_t apart)
{
	uint32_t *slot = map_put(&f->by_place, (uint64_t)(apart + 1) << 32 | place, NULL);
	struct contended *row = slot && !*slot ? VECTOR_PUSH(&f->rows) : NULL;

	if (row) {
		row->place = place;
		row->found = (uint32_t)f->rows.count - 1;
		row->group = NO_GROUP;
		row->method = row->asked_in = NO_NAME_OF;
		*slot = (uint32_t)f->rows.count;
	}
	return slot && *slot ? &f->rows.items[*slot - 1] : NULL;
}

/* ---- who waits ---- */

/* LOCKS_* of the class of locks that is frame LEAF; 0: no memory. */
static uint32_t locks_of(struct finding *f, uint32_t leaf)
{
	uint32_t *known = map_put(&f->locks, f->to->names.of_frame[leaf], NULL), i, count = 0;
	const char *class_name = f->p->frames[leaf].class_name;
	uint64_t identity = 0;

	for (i = 0; known && !*known && class_name && i < f->p->lock_count; i++) {
		if (strcmp(f->p->locks[i].name, class_name) != 0)
			continue;
		identity = f->p->locks[i].identity;
		count++;
	}
	if (known && !*known)
		*known = count == 1 && identity ? LOCKS_ONE : LOCKS_SEVERAL;
	return known ? *known : 0;
}

/*
 * The row of stack S of a wait, which asks for its lock in FRAME. Each lock has its own; where stacks do not tell which
 * of several of one class it was, they are apart by who asks for them.
 */
static struct contended *row_of_wait(struct finding *f, const struct profile_stack *s, uint32_t frame)
{
	uint32_t leaf = s->frames[s->depth - 1], number = f->p->frames[leaf].lock, locks = locks_of(f, leaf);
	bool by_asker;
	const uint32_t *names = f->to->names.of_frame;
	struct contended *row;

	if (f->p->frames[leaf].class_name && text_begins(f->p->frames[leaf].class_name, LOCKS_OF_MAP))
		number = 0;
	by_asker = !number && locks == LOCKS_SEVERAL && frame != NO_NAME_OF;
	row = !locks ? NULL :
		row_at(f, names[leaf], number ? LOCK_APART | number : by_asker ? names[frame] : NO_NAME_OF);
	if (row) {
		row->number = number;
		row->lock = f->p->frames[leaf].class_name;
		row->of_class = !frame_is_method(&f->p->frames[leaf]);
	}
	return row;
}

/* Of wall time: what is waited for in one method, a monitor or by LOCK, is apart. */
static uint32_t kind_of(const struct profile_stack *s, const char *lock)
{
	if (s->state == THREAD_BLOCKED || !lock)
		return s->state;
	return LOCK_APART | (uint32_t)hash_bytes(0, lock, strlen(lock));
}

/* Stack number I, of a thread that waits for a lock. */
static bool add_waiter(struct finding *f, uint32_t i)
{
	const struct profile_stack *s = &f->p->stacks[i];
	bool of_waits = f->p->weight_kind == WEIGHT_WAIT;
	uint32_t group = f->to->work->groups.of_stack[i], number, frame;
	const uint32_t *names = f->to->names.of_frame;
	struct contended *row;
	const char *lock;

	frame = contention_place_in(f->p, s, &lock);
	if (!of_waits && frame == NO_NAME_OF)
		return true;
	row = of_waits ? row_of_wait(f, s, frame) : row_at(f, names[frame], kind_of(s, lock));
	if (!row)
		return false;
	number = (uint32_t)(row - f->rows.items);
	f->row_of[i] = number + 1;
	if (!of_waits)
		row->lock = lock;
	row->unowned |= row->lock && strstr(row->lock, "/Semaphore");
	if (s->state == THREAD_BLOCKED)
		row->blocked += s->weight;
	if (s->state == THREAD_HELD)
		row->ready += s->weight;
	row->samples += s->samples;
	row->weight += s->weight;
	if (!of_waits && s->thread != PROFILE_NO_THREAD &&
	    !contention_add(&f->threads, number, s->thread, ACTIVITY_LOCK, s->weight))
		return false;
	return (frame == NO_NAME_OF || contention_add(&f->places, number, names[frame], ACTIVITY_LOCK, s->weight)) &&
	       (group == NO_GROUP || contention_add(&f->waiters, number, group, ACTIVITY_LOCK, s->weight));
}

static bool find_waiters(struct finding *f)
{
	const uint8_t *activity = f->to->work->groups.activity;
	uint32_t i;

	for (i = 0; i < f->p->stack_count; i++)
		if (activity[i] == ACTIVITY_LOCK && f->p->stacks[i].depth && !add_waiter(f, i))
			return false;
	return true;
}

/* ---- who had it ---- */

/* The pattern of the name of an owner, as that of the thread so called; in g->texts. 0: no memory, or no name. */
static uint32_t pattern_of(struct finding *f, const char *name)
{
	struct thread_groups *g = &f->to->work->groups;
	uint32_t i;

	for (i = 0; i < f->p->thread_count; i++)
		if (strcmp(f->p->threads[i].name, name) == 0)
			return g->patterns[i];
	return strings_add(&g->texts, name, strlen(name));
}

/* The class of the method that asks for each lock, and whether that asks for locks of its class nowhere else. */
static bool find_askers(struct finding *f)
{
	const char **classes = calloc(f->to->names.count + 1, sizeof(char *));
	struct contended *r, *end = f->rows.items + f->rows.count, *other;
	uint32_t i;

	for (i = 0; classes && i < f->p->frame_count; i++)
		if (frame_is_method(&f->p->frames[i]))
			classes[f->to->names.of_frame[i]] = f->p->frames[i].class_name;
	for (r = f->rows.items; classes && r < end; r++)
		r->asker = r->asked_in == NO_NAME_OF ? NULL : classes[r->asked_in];
	free(classes);
	for (r = f->rows.items; r < end; r++) {
		r->asks_here_alone = r->asker != NULL;
		for (other = f->rows.items; r->asks_here_alone && other < end; other++)
			r->asks_here_alone = other == r || other->place != r->place || !other->asker ||
					     strcmp(other->asker, r->asker) != 0;
	}
	return classes;
}

/*
 * Whether H, who had a lock of the class of ROW, can have had the lock of ROW: it is that one, or the only one; or,
 * where that is not known, H has gone through the method that asks for it, or through its class, where that asks for
 * locks of this class nowhere else.
 */
static bool can_own(const struct finding *f, const struct profile_waits *h, const struct contended *row)
{
	bool one = row->locks == 1 || (row->number && h->identity);
	const char *class_name = one ? NULL : row->asker;
	uint32_t i;

	for (i = 0; class_name && i < h->depth; i++) {
		const struct profile_frame *frame = &f->p->frames[h->frames[i]];

		if (f->to->names.of_frame[h->frames[i]] == row->asked_in ||
		    (row->asks_here_alone && frame_is_method(frame) && strcmp(frame->class_name, class_name) == 0))
			return true;
	}
	return one && (!h->identity || h->identity == row->identity);
}

/* Owner number I of those that were seen with their stacks. */
static bool add_seen_holder(struct finding *f, uint32_t i)
{
	const struct profile_waits *h = &f->p->holders[i];
	uint32_t row, method, pattern = h->lock ? pattern_of(f, h->name) : 0;
	struct contended_by *by;

	for (row = 0; h->lock && row < f->rows.count; row++) {
		const struct contended *r = &f->rows.items[row];

		if (!r->lock || r->unowned || strcmp(r->lock, f->p->locks[h->lock - 1].name) != 0 ||
		    contention_is_waiter(f, r, pattern) || !can_own(f, h, r))
			continue;
		method = contention_method_in(f, h->frames, h->depth, r->asked_in);
		if (method == NO_NAME_OF)
			continue;
		f->rows.items[row].known += h->waits;
		by = VECTOR_PUSH(&f->by);
		if (!by || !contention_add(&f->methods, row, method, ACTIVITY_RUNNING, h->time) ||
		    !contention_add(&f->owners, row, pattern, ACTIVITY_RUNNING, h->time))
			return false;
		*by = (struct contended_by){row, i, pattern, method};
	}
	return true;
}

/* Which locks of its class there are. */
static void take_locks(const struct profile *p, struct contended *row)
{
	uint32_t i;

	for (i = 0; row->lock && i < p->lock_count; i++) {
		if (strcmp(p->locks[i].name, row->lock) != 0)
			continue;
		row->kind = p->locks[i].kind;
		row->identity = row->locks++ ? 0 : p->locks[i].identity;
	}
	if (row->number) {
		row->kind = p->locks[row->number - 1].kind;
		row->identity = p->locks[row->number - 1].identity;
	}
}

static void take_methods(struct finding *f)
{
	size_t i;

	for (i = 0; i < f->methods.list.count; i++) {
		const struct pair *pair = &f->methods.list.items[i];
		struct contended *row = &f->rows.items[pair->row];
		uint8_t a;

		row->known_weight += pair->weight;
		if (pair->weight <= row->method_weight)
			continue;
		row->method = pair->what;
		row->method_weight = pair->weight;
		for (a = row->activity = 0; a < ACTIVITIES; a++)
			if (pair->by_activity[a] > pair->by_activity[row->activity])
				row->activity = a;
	}
}

/* Who held it most, by the pattern of the name. */
bool contention_take_owners(struct finding *f)
{
	uint64_t *most = calloc(f->rows.count + 1, sizeof(*most));
	size_t i;

	for (i = 0; most && i < f->owners.list.count; i++) {
		const struct pair *pair = &f->owners.list.items[i];

		if (pair->weight <= most[pair->row])
			continue;
		most[pair->row] = pair->weight;
		f->rows.items[pair->row].owner = strings_get(&f->to->work->groups.texts, pair->what);
	}
	free(most);
	return most;
}

static bool find_holders(struct finding *f)
{
	uint32_t i;

	for (i = 0; i < f->rows.count; i++)
		take_locks(f->p, &f->rows.items[i]);
	for (i = 0; i < f->p->holder_count; i++)
		if (!add_seen_holder(f, i))
			return false;
	take_methods(f);
	return contention_take_owners(f);
}

/* ---- rows ---- */

/* Who waits for each, and where most of them ask for it. */
static bool take_waiters(struct finding *f)
{
	uint64_t *most = calloc(f->rows.count + 1, sizeof(*most));
	size_t i;

	for (i = 0; i < f->waiters.list.count; i++) {
		const struct pair *pair = &f->waiters.list.items[i];
		struct contended *row = &f->rows.items[pair->row];

		if (pair->weight > row->group_weight) {
			row->group = pair->what;
			row->group_weight = pair->weight;
		}
	}
	for (i = 0; most && i < f->places.list.count; i++) {
		const struct pair *pair = &f->places.list.items[i];

		if (pair->weight <= most[pair->row])
			continue;
		most[pair->row] = pair->weight;
		f->rows.items[pair->row].asked_in = pair->what;
	}
	free(most);
	return most;
}

static int most_first(const void *a, const void *b)
{
	const struct contended *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The most weight first. False: no memory. */
static bool sort_rows(struct finding *f)
{
	uint32_t *now = calloc(f->rows.count + 1, sizeof(*now)), i;

	if (!now)
		return false;
	if (f->rows.count)
		qsort(f->rows.items, f->rows.count, sizeof(*f->rows.items), most_first);
	for (i = 0; i < f->rows.count; i++)
		now[f->rows.items[i].found] = i;
	for (i = 0; i < f->p->stack_count; i++)
		if (f->row_of[i])
			f->row_of[i] = now[f->row_of[i] - 1] + 1;
	for (i = 0; i < f->by.count; i++)
		f->by.items[i].row = now[f->by.items[i].row];
	free(now);
	return true;
}

static int find(struct finding *f)
{
	bool of_waits = f->p->weight_kind == WEIGHT_WAIT;

	if (name_table_build(&f->to->names, f->p, STYLE_TEXT | STYLE_NORM) || !find_waiters(f) ||
	    !take_waiters(f) || !find_askers(f) || !(of_waits ? find_holders(f) : wall_owners_find(f)) ||
	    !sort_rows(f))
		return -ENOMEM;
	f->to->rows = f->rows.items;
	f->to->count = (uint32_t)f->rows.count;
	f->to->row_of = f->row_of;
	f->to->by = f->by.items;
	f->to->by_count = f->by.count;
	f->rows.items = NULL;
	f->by.items = NULL;
	f->row_of = NULL;
	return 0;
}

static void free_pairs(struct pairs *s)
{
	map_free(&s->places);
	free(s->list.items);
}

int contention_find(struct contention *c, const struct profile *p, struct work *w)
{
	struct finding f = {.p = p, .to = c, .row_of = calloc((size_t)p->stack_count + 1, sizeof(*f.row_of))};
	int rc;

	memset(c, 0, sizeof(*c));
	c->work = w;
	rc = f.row_of ? find(&f) : -ENOMEM;
	free(f.row_of);
	map_free(&f.by_place);
	map_free(&f.locks);
	free(f.rows.items);
	free(f.by.items);
	free_pairs(&f.waiters);
	free_pairs(&f.places);
	free_pairs(&f.methods);
	free_pairs(&f.owners);
	free_pairs(&f.threads);
	return rc;
}

void contention_free(struct contention *c)
{
	name_table_free(&c->names);
	free(c->rows);
	free(c->row_of);
	free(c->by);
	c->rows = NULL;
	c->row_of = NULL;
	c->by = NULL;
}
