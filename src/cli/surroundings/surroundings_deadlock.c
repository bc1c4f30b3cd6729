/*
 * surroundings_deadlock.c - whether threads wait for each other's monitors in a circle, as the JVM's own tables say
 * from outside: which monitor each thread waits to enter, and who has that.
 *
 * The JVM does not stand still meanwhile, so a circle may be made up of what was true one after the other. One that is
 * there again a moment later, with the same threads and monitors, is one: no thread in it can go on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/attach/foreign.h"
#include "cli/memory/resident.h"
#include "cli/surroundings/surroundings_look.h"
#include "common/os/os.h"

#define THREADS_MAX 100000u
#define LOCK_STACK_MAX 8u
#define ANONYMOUS 1u         /* an owner that its lock stack alone tells (JDK 21 and later) */
#define ZGC_SHIFT_LEAST 13u
#define ZGC_SHIFT_MOST 16u
#define AGAIN (20 * NS_PER_MS)
#define LOOK_NS (400 * NS_PER_MS) /* a look that takes longer tells nothing: the session waits for it */
#define NO_ONE UINT32_MAX

struct waiting_thread {
	uint64_t address, pending; /* of the JVM's object for it; of the monitor that it waits to enter, 0 */
	uint64_t id, stack_low, stack_high;
	uint64_t locked[LOCK_STACK_MAX]; /* references on its lock stack, if they have been read; ended by 0 */
	uint32_t tid;
	uint32_t owner;   /* of the pending monitor: place in threads, or NO_ONE */
	uint32_t seen_by; /* the search that came by, 0: none yet */
};

struct circle {
	uint32_t count; /* threads; 0: there is none */
	uint32_t first, second; /* tid: of one, and of the one that has what it waits for */
	uint64_t monitor;       /* that */
};

/* Where the fields lie; -1: this JVM has none. */
struct fields {
	int64_t osthread, tid, pending, id, base, size, owner, object, lock_stack, top, oops;
};

struct sight {
	struct peek peek;
	struct fields at;
	uint64_t until; /* ns: it is given up then */
	bool lock_stacks_read;
	VECTOR(struct waiting_thread) threads;
	bool unclear; /* an owner is not among them: a virtual thread, or not to be told */
};

static int64_t of_thread(const struct vm_tables *t, const char *field)
{
	int64_t offset = vm_tables_offset(t, "JavaThread", field);

	return offset >= 0 ? offset : vm_tables_offset(t, "Thread", field);
}

static bool find_fields(const struct vm_tables *t, struct fields *f)
{
	*f = (struct fields){
		.osthread = of_thread(t, "_osthread"), .tid = vm_tables_offset(t, "OSThread", "_thread_id"),
		.pending = of_thread(t, "_current_pending_monitor"), .id = of_thread(t, "_monitor_owner_id"),
		.base = of_thread(t, "_stack_base"), .size = of_thread(t, "_stack_size"),
		.owner = vm_tables_offset(t, "ObjectMonitor", "_owner"),
		.object = vm_tables_offset(t, "ObjectMonitor", "_object"),
		.lock_stack = of_thread(t, "_lock_stack"), .top = vm_tables_offset(t, "LockStack", "_top"),
		.oops = vm_tables_offset(t, "LockStack", "_base[0]"),
	};
	return f->osthread >= 0 && f->tid >= 0 && f->pending >= 0 && f->owner >= 0;
}

/* The word at OBJECT's field; 0: not known. */
static uint64_t word(struct sight *s, uint64_t object, int64_t field)
{
	uint64_t value = 0;

	return object && field >= 0 && peek_word(&s->peek, object + (uint64_t)field, &value) ? value : 0;
}

static bool has_time(const struct sight *s)
{
	return os_monotonic() < s->until;
}

static bool add_thread(struct sight *s, uint64_t address)
{
	struct waiting_thread *t = VECTOR_PUSH(&s->threads);

	if (!t)
		return false;
	t->address = address;
	t->pending = word(s, address, s->at.pending);
	t->id = word(s, address, s->at.id);
	t->stack_high = word(s, address, s->at.base);
	t->stack_low = t->stack_high - MIN(word(s, address, s->at.size), t->stack_high);
	t->tid = (uint32_t)word(s, word(s, address, s->at.osthread), s->at.tid);
	return true;
}

/* False: the JVM's tables do not tell. */
static bool read_threads(struct sight *s)
{
	struct vm_tables *t = vm_tables_open(&s->peek);
	uint64_t list, array, length = 0, thread, i;
	bool whole = t && find_fields(t, &s->at);

	list = whole ? vm_tables_value(t, &s->peek, "ThreadsSMRSupport", "_java_thread_list") : 0;
	array = whole ? vm_tables_at(t, &s->peek, list, "ThreadsList", "_threads") : 0;
	whole = array && vm_tables_offset(t, "ThreadsList", "_length") >= 0;
	length = whole ? vm_tables_at(t, &s->peek, list, "ThreadsList", "_length") & 0xffffffff : 0;
	for (i = 0; whole && i < MIN(length, THREADS_MAX); i++)
		whole = has_time(s) && peek_word(&s->peek, array + i * sizeof(thread), &thread) &&
			add_thread(s, thread);
	vm_tables_close(t);
	return whole;
}

/* Whether ENTRY is the object that REFERENCE means: ZGC keeps flags in the lowest 13 to 16 bits of one. */
static bool is_same(uint64_t entry, uint64_t reference)
{
	unsigned shift = ZGC_SHIFT_LEAST;

	while (shift <= ZGC_SHIFT_MOST && entry != reference >> shift)
		shift++;
	return entry && (entry == reference || shift <= ZGC_SHIFT_MOST);
}

/* What all threads have locked without a monitor. */
static void read_lock_stacks(struct sight *s)
{
	int64_t first = s->at.lock_stack + s->at.oops;
	uint32_t i, k, top;

	for (i = 0; i < s->threads.count && has_time(s); i++) {
		struct waiting_thread *t = &s->threads.items[i];

		top = (uint32_t)word(s, t->address, s->at.lock_stack + s->at.top);
		for (k = 0; k < LOCK_STACK_MAX && first + 8 * k < (int64_t)top; k++)
			t->locked[k] = word(s, t->address, first + 8 * k);
	}
	s->lock_stacks_read = true;
}

static bool has_locked(const struct waiting_thread *t, uint64_t object)
{
	uint32_t k;

	for (k = 0; k < LOCK_STACK_MAX && t->locked[k]; k++)
		if (is_same(t->locked[k], object))
			return true;
	return false;
}

/* Who has the monitor: place in threads, or NO_ONE: not known, or a virtual thread. */
static uint32_t owner_of(struct sight *s, uint64_t monitor)
{
	uint64_t owner = word(s, monitor, s->at.owner), object = 0;
	uint32_t i;

	/* the object is behind a weak handle: a pointer to where the collector keeps the reference */
	if (owner == ANONYMOUS && s->at.lock_stack >= 0 && s->at.top >= 0 && s->at.oops >= 0) {
		object = word(s, word(s, monitor, s->at.object), 0);
		if (object && !s->lock_stacks_read)
			read_lock_stacks(s);
	}
	for (i = 0; owner && i < s->threads.count; i++) {
		const struct waiting_thread *t = &s->threads.items[i];

		if (owner == ANONYMOUS ? object && has_locked(t, object) :
		    s->at.id >= 0 ? t->id == owner :
		    t->address == owner || (owner >= t->stack_low && owner < t->stack_high))
			return i;
	}
	s->unclear |= owner != 0;
	return NO_ONE;
}

static int by_monitor(const void *a, const void *b)
{
	const struct waiting_thread *x = *(struct waiting_thread *const *)a, *y = *(struct waiting_thread *const *)b;

	return x->pending < y->pending ? -1 : x->pending > y->pending;
}

/* Each monitor's owner, asked for once. False: out of memory or time. */
static bool find_owners(struct sight *s)
{
	struct waiting_thread **waiting = calloc(s->threads.count + 1, sizeof(struct waiting_thread *));
	size_t i, count = 0;

	for (i = 0; waiting && i < s->threads.count; i++) {
		s->threads.items[i].owner = NO_ONE;
		if (s->threads.items[i].pending)
			waiting[count++] = &s->threads.items[i];
	}
	if (waiting)
		qsort(waiting, count, sizeof(struct waiting_thread *), by_monitor);
	for (i = 0; waiting && i < count && has_time(s); i++)
		waiting[i]->owner = i && waiting[i - 1]->pending == waiting[i]->pending ? waiting[i - 1]->owner :
				    owner_of(s, waiting[i]->pending);
	free(waiting);
	return waiting && has_time(s);
}

/* The circle that thread AT is in. */
static struct circle circle_of(const struct sight *s, uint32_t at)
{
	const struct waiting_thread *all = s->threads.items, *first = &all[at];
	struct circle c = {.count = 1};
	uint32_t i;

	for (i = all[at].owner; i != at; i = all[i].owner) {
		c.count++;
		/* the same in each look, wherever the search came in */
		first = &all[i] < first ? &all[i] : first;
	}
	c.first = first->tid;
	c.second = all[first->owner].tid;
	c.monitor = first->pending;
	return c;
}

/* Each thread is come by once: a search ends where an earlier one was. */
static struct circle find_circle(struct sight *s)
{
	struct waiting_thread *all = s->threads.items;
	uint32_t start, at;

	for (start = 0; start < s->threads.count; start++) {
		for (at = start; at != NO_ONE && !all[at].seen_by; at = all[at].owner)
			all[at].seen_by = start + 1;
		/* a thread that has what it waits for has just got it */
		if (at != NO_ONE && all[at].seen_by == start + 1 && all[at].owner != at)
			return circle_of(s, at);
	}
	return (struct circle){.count = 0};
}

/* False: it cannot be known. */
static bool look(pid_t pid, struct circle *c)
{
	struct sight s = {.at.pending = -1, .until = os_monotonic() + LOOK_NS};
	struct mappings maps = {.count = 0};
	struct error ignored;
	char path[64];
	bool known;
	int fd;

	*c = (struct circle){.count = 0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = foreign_open(AT_FDCWD, path);
	if (fd < 0 || mappings_read(fd, &maps))
		return false;
	known = peek_open(&s.peek, pid, &maps, &ignored) == 0;
	if (known) {
		known = !s.peek.refused && read_threads(&s) && find_owners(&s);
		if (known)
			*c = find_circle(&s);
		known &= c->count || !s.unclear;
		peek_close(&s.peek);
	}
	free(s.threads.items);
	mappings_free(&maps);
	return known;
}

void look_at_deadlock(struct surroundings *s, pid_t pid)
{
	struct circle c, again;

	if (!look(pid, &c))
		return;
	if (c.count) {
		os_sleep(AGAIN);
		if (!look(pid, &again))
			return;
		if (again.count != c.count || again.first != c.first || again.second != c.second ||
		    again.monitor != c.monitor)
			c.count = 0;
	}
	around_set(s, AROUND_deadlocked, c.count);
	if (c.count) {
		around_set(s, AROUND_deadlock_thread, c.first);
		around_set(s, AROUND_deadlock_owner, c.second);
	}
}
