#include "profile/model/work/contention.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/vector.h"

/* What a row has with one group, or with one method of its owners. */
struct pair {
	uint32_t row, what;
	uint64_t weight, by_activity[ACTIVITIES];
};

struct pairs {
	struct map places; /* row and what → index + 1 */
	VECTOR(struct pair) list;
};

/* How many locks of a class were waited for: one that is known, or several, or it is not known. */
enum { LOCKS_ONE = 1, LOCKS_SEVERAL };
#define LOCK_APART (1u << 31)

struct finding {
	const struct profile *p;
	struct contention *to;
	struct map by_place; /* name, of waits for a lock with which, or with who asks, → row + 1 */
	struct map locks;    /* name of a class of locks → LOCKS_* */
	VECTOR(struct contended) rows;
	struct pairs waiters, places, methods, owners; /* by group; by name; by name; by pattern */
	struct pairs threads; /* that wait, of wall time */
};

static bool add(struct pairs *s, uint32_t row, uint32_t what, uint8_t activity, uint64_t weight)
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
		row->group = NO_GROUP;
		row->method = row->asked_in = NO_NAME_OF;
		*slot = (uint32_t)f->rows.count;
	}
	return slot && *slot ? &f->rows.items[*slot - 1] : NULL;
}

/* How the JDK takes a virtual thread off its carrier: that says nothing of what the thread waits for. */
static bool is_of_carrier(const struct profile_frame *frame)
{
	static const char *const classes[] = {"java/lang/VirtualThread", "java/lang/BaseVirtualThread",
					      "java/lang/ThreadBuilders", "java/lang/System$", "jdk/internal/"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(classes); i++)
		if (text_begins(frame->class_name, classes[i]))
			return true;
	return false;
}

/* ---- who waits ---- */

/*
 * Where stack S of wall time asks for its lock: frame number, or NO_NAME_OF. LOCK gets its class where methods of
 * java.util.concurrent say it.
 */
static uint32_t place_in(const struct profile *p, const struct profile_stack *s, const char **lock)
{
	uint32_t i;

	*lock = NULL;
	for (i = s->depth; i-- > 0;) {
		const struct profile_frame *frame = &p->frames[s->frames[i]];

		if (!frame_is_method(frame) || is_of_carrier(frame))
			continue;
		if (s->state == THREAD_BLOCKED)
			return s->frames[i];
		if (text_begins(frame->class_name, "java/util/concurrent/"))
			*lock = frame->class_name;
		else if (!text_begins(frame->class_name, "sun/misc/"))
			return s->frames[i];
	}
	return NO_NAME_OF;
}

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

/* Stack number I, of a thread that waits for a lock. */
static bool add_waiter(struct finding *f, uint32_t i)
{
	const struct profile_stack *s = &f->p->stacks[i];
	bool of_waits = f->p->weight_kind == WEIGHT_WAIT;
	uint32_t group = f->to->work->groups.of_stack[i], number, frame;
	const uint32_t *names = f->to->names.of_frame;
	struct contended *row;
	const char *lock;

	frame = place_in(f->p, s, &lock);
	if (!of_waits && frame == NO_NAME_OF)
		return true;
	row = of_waits ? row_of_wait(f, s, frame) : row_at(f, names[frame], NO_NAME_OF);
	if (!row)
		return false;
	number = (uint32_t)(row - f->rows.items);
	if (!of_waits)
		row->lock = lock;
	row->unowned |= row->lock && strstr(row->lock, "/Semaphore");
	if (s->state == THREAD_BLOCKED)
		row->blocked += s->weight;
	if (s->state == THREAD_RUNNABLE)
		row->ready += s->weight;
	row->samples += s->samples;
	row->weight += s->weight;
	if (!of_waits && s->thread != PROFILE_NO_THREAD &&
	    !add(&f->threads, number, s->thread, ACTIVITY_LOCK, s->weight))
		return false;
	return (frame == NO_NAME_OF || add(&f->places, number, names[frame], ACTIVITY_LOCK, s->weight)) &&
	       (group == NO_GROUP || add(&f->waiters, number, group, ACTIVITY_LOCK, s->weight));
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

/*
 * What FRAMES[0..DEPTH) did that has gone through method PLACE to get a lock: the first method of the program that
 * PLACE calls, or PLACE; NO_NAME_OF while it gets or gives back a lock there. Has it not, the innermost method of the
 * program, or at all.
 */
static uint32_t method_in(const struct finding *f, const uint32_t *frames, uint32_t depth, uint32_t place)
{
	uint32_t i, any = NO_NAME_OF, innermost = NO_NAME_OF, called = NO_NAME_OF;
	const char *inner = ""; /* class of the method that the present one calls */

	for (i = depth; i-- > 0;) {
		const struct profile_frame *frame = &f->p->frames[frames[i]];
		uint32_t name = f->to->names.of_frame[frames[i]];

		if (!frame_is_method(frame))
			continue;
		if (name == place && called == NO_NAME_OF && text_begins(inner, "java/util/concurrent/locks/"))
			return NO_NAME_OF; /* it asks for a lock, or gives one back */
		if (name == place)
			return called == NO_NAME_OF ? name : called;
		inner = frame->class_name;
		if (any == NO_NAME_OF)
			any = name;
		if (class_is_of_jdk(frame->class_name) || strstr(frame->class_name, "$$Lambda"))
			continue;
		called = name;
		if (innermost == NO_NAME_OF)
			innermost = name;
	}
	return innermost == NO_NAME_OF ? any : innermost;
}

/* Who waits for ROW alone, and most, did not hold it up: GROUP is a thread that does. */
static bool is_waiter(const struct finding *f, const struct contended *row, uint32_t text)
{
	const struct thread_groups *g = &f->to->work->groups;

	return row->group != NO_GROUP && g->groups[row->group].threads == 1 && g->groups[row->group].text == text;
}

/*
 * Whether a thread of those that wait for ROW, which has no CPU behind the method that asks, says nothing: on a busy
 * machine they all stand so, with the lock or without it.
 */
static bool waits_for_cpu_too(const struct contended *row, uint8_t activity, uint32_t group)
{
	return activity == ACTIVITY_RUNNABLE && group != NO_GROUP && group == row->group;
}

/* Stack number I of wall time may be that of an owner: of each row whose place it has gone through. */
static bool add_holder(struct finding *f, uint32_t i)
{
	const struct profile_stack *s = &f->p->stacks[i];
	const struct thread_groups *g = &f->to->work->groups;
	const char *lock;
	uint8_t activity = activity_of_owner(s->state, g->activity[i]);
	uint32_t waits_at = g->activity[i] == ACTIVITY_LOCK ? place_in(f->p, s, &lock) : NO_NAME_OF, at, seen = 0;
	bool awaits = awaits_condition(f->p, s);

	/* Object.wait gives the monitor back */
	if (s->state == THREAD_WAITING)
		return true;
	for (at = 0; at < s->depth; at++) {
		uint32_t name = f->to->names.of_frame[s->frames[at]], *row = map_get(&f->by_place, name), method;

		if (!row || *row == seen)
			continue;
		seen = *row; /* recursion counts once */
		if ((waits_at != NO_NAME_OF && f->to->names.of_frame[waits_at] == name) ||
		    (awaits && !f->rows.items[*row - 1].blocked))
			continue;
		method = method_in(f, s->frames, s->depth, name);
		if (method == NO_NAME_OF || f->rows.items[*row - 1].unowned ||
		    waits_for_cpu_too(&f->rows.items[*row - 1], activity, g->of_stack[i]) ||
		    (s->thread != PROFILE_NO_THREAD &&
		     is_waiter(f, &f->rows.items[*row - 1], g->groups[g->of_stack[i]].text)))
			continue;
		if (!add(&f->methods, *row - 1, method, activity, s->weight) ||
		    (s->thread != PROFILE_NO_THREAD &&
		     !add(&f->owners, *row - 1, g->groups[g->of_stack[i]].text, activity, s->weight)))
			return false;
	}
	return true;
}

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

	for (row = 0; h->lock && row < f->rows.count; row++) {
		const struct contended *r = &f->rows.items[row];

		if (!r->lock || r->unowned || strcmp(r->lock, f->p->locks[h->lock - 1].name) != 0 ||
		    is_waiter(f, r, pattern) || !can_own(f, h, r))
			continue;
		method = method_in(f, h->frames, h->depth, r->asked_in);
		if (method != NO_NAME_OF && (!add(&f->methods, row, method, ACTIVITY_RUNNING, h->time) ||
					     !add(&f->owners, row, pattern, ACTIVITY_RUNNING, h->time)))
			return false;
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

static bool find_holders(struct finding *f)
{
	uint32_t i;

	for (i = 0; i < f->rows.count; i++)
		take_locks(f->p, &f->rows.items[i]);
	if (!find_askers(f))
		return false;
	for (i = 0; f->p->weight_kind == WEIGHT_WAIT && i < f->p->holder_count; i++)
		if (!add_seen_holder(f, i))
			return false;
	for (i = 0; f->p->weight_kind != WEIGHT_WAIT && i < f->p->stack_count; i++)
		if (!add_holder(f, i))
			return false;
	return true;
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
static void take_owners(struct finding *f)
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
}

/*
 * Of wall time: while a thread waited someone had the lock. Those who were seen in the methods that ask for it, and did
 * not wait there, are no owners where they were so for less than half of the longest wait: it was held elsewhere.
 */
static bool drop_unlikely(struct finding *f)
{
	uint64_t *longest = calloc(f->rows.count + 1, sizeof(*longest));
	size_t i;

	for (i = 0; longest && i < f->threads.list.count; i++) {
		const struct pair *pair = &f->threads.list.items[i];

		longest[pair->row] = MAX(longest[pair->row], pair->weight);
	}
	for (i = 0; longest && i < f->rows.count; i++) {
		struct contended *row = &f->rows.items[i];

		if (row->known_weight >= longest[i] / 2)
			continue;
		row->method = NO_NAME_OF;
		row->owner = NULL;
	}
	free(longest);
	return longest;
}

#define OWNER_OF 4 /* a thread, or those called like it, that has so much of it is an owner, not one by chance */

/* Of wall time: which rows may be of several locks. False: no memory. */
static bool find_several(struct finding *f)
{
	uint32_t *waiting = calloc(f->rows.count + 1, sizeof(*waiting));
	uint32_t *having = calloc(f->rows.count + 1, sizeof(*having));
	bool whole = waiting && having;
	size_t i;

	for (i = 0; whole && i < f->threads.list.count; i++)
		waiting[f->threads.list.items[i].row]++;
	for (i = 0; whole && i < f->owners.list.count; i++) {
		const struct pair *pair = &f->owners.list.items[i];

		having[pair->row] += pair->weight >= f->rows.items[pair->row].known_weight / OWNER_OF;
	}
	for (i = 0; whole && i < f->rows.count; i++)
		f->rows.items[i].several = waiting[i] > 1 && !f->rows.items[i].unowned &&
					   (!f->rows.items[i].owner || having[i] > 1);
	free(waiting);
	free(having);
	return whole;
}

static int most_first(const void *a, const void *b)
{
	const struct contended *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int find(struct finding *f)
{
	if (name_table_build(&f->to->names, f->p, STYLE_TEXT | STYLE_NORM) || !find_waiters(f) ||
	    !take_waiters(f) || !find_holders(f))
		return -ENOMEM;
	take_methods(f);
	take_owners(f);
	if (!drop_unlikely(f) || !find_several(f))
		return -ENOMEM;
	if (f->rows.count)
		qsort(f->rows.items, f->rows.count, sizeof(*f->rows.items), most_first);
	f->to->rows = f->rows.items;
	f->to->count = (uint32_t)f->rows.count;
	f->rows.items = NULL;
	return 0;
}

static void free_pairs(struct pairs *s)
{
	map_free(&s->places);
	free(s->list.items);
}

int contention_find(struct contention *c, const struct profile *p, struct work *w)
{
	struct finding f = {.p = p, .to = c};
	int rc;

	memset(c, 0, sizeof(*c));
	c->work = w;
	rc = find(&f);
	map_free(&f.by_place);
	map_free(&f.locks);
	free(f.rows.items);
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
	c->rows = NULL;
}
