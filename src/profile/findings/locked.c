/*
 * locked.c - findings about locks: a deadlock, and the lock that threads wait for most. That is said once: as a convoy,
 * as the lock of one thread, or just as a lock.
 *
 * A convoy: two threads and more wait all the time, and the lock changes hands often. All that had it in turn had it
 * within the recording, so none for longer, on average, than the recording took divided by how many waited for it.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/decimal.h"
#include "profile/findings/evidence.h"

enum trouble { TROUBLE_NONE, TROUBLE_CONVOY, TROUBLE_OWNER, TROUBLE_LOCK };

struct locked {
	enum trouble trouble;
	const struct contended *row;
	double part;            /* waited, of the recording's time: of several threads it may be above 1 */
	double a_second, held;  /* of a convoy: how often a thread that waited gets it, and for how many ns at most */
	const char *owner;      /* the one thread that has it */
	struct share owned;     /* so much of the time that others waited */
};

static bool is_exclusive(const struct contended *row)
{
	return row->kind == LOCK_MONITOR || (row->lock && strstr(row->lock, "ReentrantLock"));
}

/* How many waits for the one lock of ROW are over. */
static uint64_t waits_over(const struct profile *p, const struct contended *row)
{
	uint32_t i;

	for (i = 0; row->identity && row->lock && i < p->lock_count; i++)
		if (p->locks[i].identity == row->identity && strcmp(p->locks[i].name, row->lock) == 0)
			return p->locks[i].waits - MIN(p->locks[i].open, p->locks[i].waits);
	return 0;
}

static bool is_convoy(const struct evidence *e, struct locked *l)
{
	uint64_t over = waits_over(e->contended, l->row);

	if (!over || !is_exclusive(l->row) || l->row->unowned || l->part < LIMIT(convoy_waiting))
		return false;
	l->held = (double)e->contended->duration / (double)over;
	l->a_second = 1e9 / l->held;
	return l->held <= LIMIT(convoy_held) * 1e9;
}

/* Time that the thread called NAME waited for locks itself. */
static uint64_t waited_by(const struct evidence *e, const char *name)
{
	const struct profile *p = &e->lock_work->profile;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		if (p->stacks[i].thread != PROFILE_NO_THREAD &&
		    strcmp(p->threads[p->stacks[i].thread].name, name) == 0)
			sum += p->stacks[i].weight;
	return sum;
}

/* Whether one thread has the lock whenever others wait for it: also if all that it has beside were other locks. */
static bool has_one_owner(const struct evidence *e, struct locked *l)
{
	uint64_t all = e->lock_work->profile.weight_stored, others = all - MIN(l->row->weight, all), least;
	const struct profile_waits *most = NULL;
	const struct profile *p = e->contended;
	uint32_t i;

	for (i = 0; i < p->owner_count; i++)
		if (!most || p->owners[i].time > most->time)
			most = &p->owners[i];
	if (!l->row->identity || !is_exclusive(l->row) || !most || !*most->name ||
	    text_begins(most->name, "virtual thread"))
		return false;
	least = MIN(most->time - MIN(others, most->time), l->row->weight);
	l->owner = most->name;
	l->owned = share_of_time(least, l->row->weight, l->row->samples);
	/* of two that take turns each has it while the other waits */
	return share_is_above(l->owned, LIMIT(lock_owner)) && waited_by(e, most->name) * 10 <= l->row->weight;
}

static struct locked look_at(const struct evidence *e)
{
	struct locked l = {TROUBLE_NONE};

	if (!e->contended || !contention_worth(&e->contention))
		return l;
	l.row = &e->contention.rows[0];
	l.part = (double)l.row->weight / (double)e->contended->duration;
	if (l.part < LIMIT(lock))
		return l;
	l.trouble = e->contended != e->lock ? TROUBLE_LOCK : is_convoy(e, &l) ? TROUBLE_CONVOY :
		    has_one_owner(e, &l) ? TROUBLE_OWNER : TROUBLE_LOCK;
	return l;
}

/* What they have in common. False: F is about another trouble. */
static bool begins(const struct evidence *e, struct profile_finding *f, enum trouble trouble, struct locked *l)
{
	*l = look_at(e);
	if (l->trouble != trouble)
		return false;
	f->score = 0.3 + 0.6 * MIN(1.0, l->part);
	if (l->row->method != NO_NAME_OF)
		snprintf(f->look, sizeof(f->look), "%s", name_text(&e->contention.names, l->row->method));
	return true;
}

#define NAME_SIZE 112

/* "shop.Stock@595e2d58" */
static void name_lock(const struct evidence *e, const struct contended *row, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%.94s@%llx", name_text(&e->contention.names, row->place),
		 (unsigned long long)row->identity);
}

/* "order-* and others" */
static void name_waiters(const struct evidence *e, const struct contended *row, char name[NAME_SIZE])
{
	const struct thread_groups *g = &e->contention.work->groups;

	snprintf(name, NAME_SIZE, "%.60s%s", row->group == NO_GROUP ? "threads" :
		 thread_group_name(g, &g->groups[row->group]),
		 row->group_weight && row->group_weight < row->weight ? " and others" : "");
}

/* The method that asks for it; "": it is not known. */
static const char *where_asked(const struct evidence *e, const struct contended *row)
{
	return row->asked_in == NO_NAME_OF ? "" : name_text(&e->contention.names, row->asked_in);
}

void finding_lock_convoy(const struct evidence *e, struct profile_finding *f)
{
	char name[NAME_SIZE], who[NAME_SIZE];
	struct locked l;

	if (!begins(e, f, TROUBLE_CONVOY, &l))
		return;
	name_lock(e, l.row, name);
	name_waiters(e, l.row, who);
	say(f, "%s waited in a convoy for %s%s%.100s: %s threads at a time, though on average each had it for %s at "
	       "most; it passed on %s times a second.", who, name, *where_asked(e, l.row) ? " in " : "",
	    where_asked(e, l.row),
	    decimal(l.part, 1).text, human_time((uint64_t)l.held).text, human_count((uint64_t)l.a_second).text);
	advise(f, "To hold it for less long changes little: ask for it less often (several things at a time, a copy "
		  "for each thread), or divide it; a fair lock makes it worse.");
}

void finding_lock_owner(const struct evidence *e, struct profile_finding *f)
{
	char name[NAME_SIZE], who[NAME_SIZE];
	struct locked l;

	if (!begins(e, f, TROUBLE_OWNER, &l))
		return;
	name_lock(e, l.row, name);
	name_waiters(e, l.row, who);
	say(f, "%s waited %s for %s%s%.80s; one thread, %.50s, had it for %s of that time%s%.80s.", who,
	    human_time(l.row->weight).text, name, *where_asked(e, l.row) ? " in " : "", where_asked(e, l.row), l.owner,
	    share_text(l.owned).text, *f->look ? ", mostly in " : "", f->look);
	advise(f, "Let it do less while it has the lock: prepare outside, and hold it for the change alone; who only "
		  "reads can do with a ReadWriteLock or a copy.");
}

static bool is_method_of_jdk(const char *name)
{
	return text_begins(name, "java.") || text_begins(name, "jdk.") || text_begins(name, "sun.");
}

/* Whether LOCK is one of a map, list or the like; NULL: it is not known. */
static bool is_collection(const char *lock)
{
	return !lock || (text_begins(lock, "java/util/") && !text_begins(lock, "java/util/concurrent/locks/"));
}

/* A lock that the JDK asks for; but methods of the program may run while they have it. */
static void advise_jdk(struct profile_finding *f, const struct contention *c, const struct contended *row)
{
	const char *owner = row->method == NO_NAME_OF ? "" : name_text(&c->names, row->method);

	if (!*owner || is_method_of_jdk(owner))
		advise(f, "It is the JDK's own lock: ask for it less often, or from fewer threads.");
	else
		advise(f, "It is the JDK's own lock, but who has it is in %.120s: do that without it%s.", owner,
		       is_collection(row->lock) ? " (before computeIfAbsent, or in a future in the map; with a copy "
						  "in place of synchronized)" : "");
}

/* A permit that a method of the class of ASKER asks for. */
struct permit {
	const struct profile *p;
	const char *asker;
};

static bool wants_permit(uint32_t i, const void *arg)
{
	const struct permit *wanted = arg;
	const struct profile_stack *s = &wanted->p->stacks[i];
	const struct profile_frame *f = NULL;
	bool permit = false;
	uint32_t k;

	for (k = s->depth; k-- > 0;) {
		f = &wanted->p->frames[s->frames[k]];
		if (frame_is_of_program(f))
			break;
		permit |= f->class_name && strncmp(f->class_name, "java/util/concurrent/Semaphore", 30) == 0;
		f = NULL;
	}
	return permit && f && strcmp(f->class_name, wanted->asker) == 0;
}

/* What can be done depends on what it is, and whose. */
static void advise_lock(struct profile_finding *f, const struct evidence *e, const struct contended *row)
{
	const struct contention *c = &e->contention;
	const char *place = row->asked_in != NO_NAME_OF ? name_text(&c->names, row->asked_in) : "";
	const char *lock = row->lock ? row->lock : name_text(&c->names, row->place);

	if (around(e->around, AROUND_deadlocked) >= 2) {
		advise(f, "See to the deadlock first: what its threads hold is never given back, and others may wait "
			  "for just that.");
	} else if (strstr(lock, "Semaphore")) {
		advise(f, "More permits, or work that holds one for less long.");
		if (e->wall_work && row->asker)
			advise_sleepers(f, e->wall, &e->wall_work->groups, row->asker, wants_permit,
					&(struct permit){e->wall, row->asker},
					e->contended == e->wall ? row->group : NO_GROUP);
	} else if (is_method_of_jdk(place)) {
		advise_jdk(f, c, row);
	} else if (row->method != NO_NAME_OF && row->activity == ACTIVITY_RUNNABLE) {
		advise(f, "Its owner mostly waited for a CPU meanwhile: more of them, or fewer busy threads, would "
			  "shorten this wait.");
	} else if (row->ready * 2 > row->weight && (row->method == NO_NAME_OF || row->activity == ACTIVITY_LOCK)) {
		/* it waits in an initialiser, or for one that does */
		advise(f, "Initialisers that need each other's class wait for ever. If these do, let one make what it "
			  "needs of the other later, at its first use.");
	} else if (row->several) {
		advise(f, "Hold those for less long (no I/O, no logging inside), or divide them.%s",
		       e->lock ? "" : " Wall time does not tell how many they are, and who has them; -e lock does.");
	} else {
		advise(f, "Hold it for less long (no I/O, no logging inside), or divide it.");
	}
}

void finding_lock(const struct evidence *e, struct profile_finding *f)
{
	struct buffer text = BUFFER_INIT;
	struct locked l;

	if (!begins(e, f, TROUBLE_LOCK, &l))
		return;
	contention_put(&text, &e->contention, l.row);
	buffer_putc(&text, '\0');
	if (text.failed)
		f->score = 0;
	else
		say(f, "%.380s.", text.data);
	advise_lock(f, e, l.row);
	buffer_free(&text);
}

/* ---- deadlock ---- */

/* The thread with number TID, and where the wall clock saw it: "left (shop.Stock.move)". */
static void put_thread(struct buffer *out, const struct evidence *e, uint64_t tid)
{
	const struct profile *p = e->wall ? e->wall : e->any;
	uint32_t thread = 0, i, k;

	while (thread < p->thread_count && p->threads[thread].tid != tid)
		thread++;
	if (thread == p->thread_count) {
		buffer_printf(out, "thread %llu", (unsigned long long)tid);
		return;
	}
	buffer_printf(out, "%.60s", p->threads[thread].name);
	for (i = 0; p == e->wall && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		for (k = s->depth; s->thread == thread && s->state == THREAD_BLOCKED && k-- > 0;) {
			if (!p->frames[s->frames[k]].class_name)
				continue;
			buffer_puts(out, " (in ");
			frame_name_put(out, &p->frames[s->frames[k]], STYLE_TEXT | STYLE_NORM);
			buffer_puts(out, ")");
			return;
		}
	}
}

void finding_deadlock(const struct evidence *e, struct profile_finding *f)
{
	uint64_t count = around(e->around, AROUND_deadlocked);
	struct buffer one = BUFFER_INIT, other = BUFFER_INIT;

	if (count < 2)
		return;
	put_thread(&one, e, around(e->around, AROUND_deadlock_thread));
	put_thread(&other, e, around(e->around, AROUND_deadlock_owner));
	buffer_putc(&one, '\0');
	buffer_putc(&other, '\0');
	if (!one.failed && !other.failed) {
		f->score = 3;
		say(f, "Deadlock: %.150s waits for a monitor that %.150s has, which waits %s.", one.data, other.data,
		    count == 2 ? "for one that the first has" : "for a third, and so on in a circle");
		advise(f, "These %llu threads never go on by themselves. jstack %d shows the monitors; let all "
			  "threads take them in the same order.", (unsigned long long)count, e->any->pid);
	}
	buffer_free(&one);
	buffer_free(&other);
}
