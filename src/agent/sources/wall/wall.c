/*
 * wall.c - the wall clock: once an interval, at a random moment in it, each thread has its tick.
 *
 *   has it run since the last tick?  no ──▶ one more sample of the same stack: nothing to be done (wall.h)
 *                │ yes
 *   does it wait, and can its stack be read from outside?  yes ──▶ a sample of that stack (wall_walk.c)
 *                │ no
 *   a signal: its handler takes the sample, answering the question in its record   (agent/sample/handler.c)
 *
 * All of it is done by one thread, which is never attached to the JVM and holds a record only for the time of
 * one look. A tick that could not be served is counted as lost by its reason; the thread's next sample weighs
 * for its time, too.
 */
#include "agent/sources/wall/wall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/ticker.h"
#include "agent/sources/wall/vthreads.h"
#include "agent/threads/run_queue.h"
#include "common/base/knob.h"
#include "common/os/os.h"

#define AHEAD 16    /* threads whose places to look are fetched before their tick */
#define ROTATION 64 /* ticks in which each thread is attended to once, at most */
#define ROTATION_TIME (NS_PER_S) /* and the time they take */

struct wall wall;

static void open_rounds(uint64_t now), each_tick(uint32_t late), flush(void), leave(void);
static struct ticker ticker = {
	.name = "jstrobe wall", .scattered = true, .open = open_rounds, .tick = each_tick, .flush = flush,
	.leave = leave,
};

/* ---- a round ---- */

/* Begin the next tick, of COUNT threads; LATE passed without one: those that were due in them are so now. */
static void begin_tick(uint32_t late, uint32_t count)
{
	uint64_t now = os_monotonic(), parts = MIN(late + 1ull, wall.rotation), part;
	uint32_t i;

	wall.late = late;
	wall.tick += late + 1ull;
	for (i = 0; i <= MIN(late, WALL_TIMES - 1); i++)
		wall.times[(wall.tick - i) % WALL_TIMES] = now;
	part = (wall.tick + wall.rotation - parts) % wall.rotation;
	wall.count = count;
	wall.from = (uint32_t)(count * part / wall.rotation);
	wall.due = (uint32_t)(count * (part + parts) / wall.rotation) - wall.from;
}

/* Whether in this tick the last Java frame is not enough. */
static inline bool needs_proof(uint32_t i)
{
	return (wall.tick + i) % FRAME_ROTATION == 0;
}

static inline uintptr_t watch_of(uint32_t i, uint32_t count)
{
	return i < count ? atomic_load_explicit(&wall.watch[i], memory_order_relaxed) : 0;
}

/* Whether thread I, watched by WHAT, will be asked for its proof, which is to be fetched. */
static inline bool is_asked_for_proof(uint32_t i, uintptr_t what)
{
	uint32_t kind = what & WATCH_KIND;

	return (kind == WATCH_FRAME && needs_proof(i)) || (kind <= WATCH_FRAME && wall_is_due(i));
}

/* What thread I's tick will look at is begun to be fetched. */
static inline void fetch(uint32_t i, uint32_t count)
{
	uintptr_t what = watch_of(i, count);

	if (what <= WATCH_KIND)
		return;
	__builtin_prefetch((const void *)(what & ~(uintptr_t)WATCH_KIND));
	if ((what & WATCH_KIND) == WATCH_WAIT)
		__builtin_prefetch((const void *)(what + wall.refs));
	if (unlikely(is_asked_for_proof(i, what))) {
		__builtin_prefetch(&wall.threads[i]);
		__builtin_prefetch(wall.fields[i] ? (const void *)wall.fields[i] : &wall.slots[i]);
	}
}

/* And what the things that were fetched lead to. */
static inline void fetch_more(uint32_t i, uint32_t count)
{
	uintptr_t what = watch_of(i, count);

	if (what > WATCH_KIND && unlikely(is_asked_for_proof(i, what)) && !wall.fields[i])
		wall_slots_fetch(&wall.slots[i]);
}

/*
 * Whether the quick check is enough, and shows that thread I has not moved. WHAT: its watch. A last Java frame says
 * nothing of ticks that passed.
 */
static inline bool stands(uint32_t i, uintptr_t what)
{
	if (unlikely(wall_is_due(i)) || !wall_check(i, what))
		return false;
	return (what & WATCH_KIND) != WATCH_FRAME ||
	       (likely(!wall.late) && (!needs_proof(i) || wall_is_unmoved(i)));
}

/* All threads' ticks; how many were due. */
static uint64_t go_through(uint32_t count)
{
	uint64_t due = 0, stood = 0;
	uint32_t i, clocked = 0;

	wall.stride = wall.nobatch ? tick_stride(wall.event, wall.on) : 1;
	wall.on = wall.asked = 0;
	for (i = 0; i < count; i++) {
		uintptr_t what = watch_of(i, count);

		fetch(i + AHEAD, count);
		fetch_more(i + AHEAD / 2, count);
		if (!what)
			continue;
		if (likely(stands(i, what))) {
			stood++;
			clocked += what == WATCH_LATER;
		} else {
			due += wall_attend(i);
			clocked += wall.threads[i].proof == WALL_CLOCK && !wall.fields[i];
		}
	}
	wall.clocked = clocked;
	return due + stood * (wall.late + 1ull);
}

static uint64_t leave_all_out(uint32_t count)
{
	uint64_t due = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (atomic_load_explicit(&wall.watch[i], memory_order_relaxed))
			due += wall_leave_out(i);
	return due;
}

static void each_tick(uint32_t late)
{
	uint32_t count = atomic_load(&zone.records.count);

	begin_tick(late, count);
	tick_due(wall.event, window_keeps_out(&zone.window) ? leave_all_out(count) : go_through(count));
	atomic_store(&wall.counted, wall.tick);
}

/* Threads that were armed before the JVM's were known have had no ticks since. */
static void open_rounds(uint64_t now)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++)
		wall.threads[i].begun = wall.threads[i].last = now;
}

static void flush(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++)
		if (atomic_load_explicit(&wall.threads[i].life, memory_order_acquire) != WALL_FREE) {
			wall_settle(i, wall.tick);
			wall_count_out(i);
		}
}

/* All threads are counted out, and no marker stays behind. */
static void leave(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++) {
		struct wall_thread *t = &wall.threads[i];

		if (atomic_load(&t->life) == WALL_FREE)
			continue;
		wall_settle(i, wall.tick);
		if (wall.fields[i] && tick_hold(&zone.records.records[i], wall.event)) {
			marker_clear(wall.fields[i]);
			tick_let_go(wall.event);
		}
		atomic_store(&t->life, WALL_GONE);
		wall_finish(i, wall.tick);
	}
}

/* ---- the engine ---- */

/* The tables: RECORD_LIMIT rows each. */
static const struct table {
	void *at; /* the pointer in `wall` */
	size_t row;
} tables[] = {
	{&wall.watch, sizeof(*wall.watch)},
	{&wall.expected, sizeof(*wall.expected)},
	{&wall.fields, sizeof(*wall.fields)},
	{&wall.threads, sizeof(*wall.threads)},
	{&wall.stacks, sizeof(*wall.stacks)},
	{&wall.slots, sizeof(*wall.slots)},
	{&wall.ready, sizeof(*wall.ready)},
};

static int open_tables(struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(tables); i++) {
		void **table = tables[i].at;

		if (!*table)
			*table = os_reserve(RECORD_LIMIT * tables[i].row);
		if (!*table || os_make_writable(*table, RECORD_LIMIT * tables[i].row))
			return error_set(err, ENOMEM, "wall: cannot reserve address space for threads; raise the "
					 "limit of virtual memory (ulimit -v)");
	}
	return runs_open(err);
}

/* The tables' memory goes back; their address space stays. */
static void stop(void)
{
	size_t i;

	wall_waits_close();
	for (i = 0; i < ARRAY_LEN(tables); i++)
		if (*(void **)tables[i].at)
			madvise(*(void **)tables[i].at, RECORD_LIMIT * tables[i].row, MADV_DONTNEED);
}

/* The one that a test asks for. */
static enum marker_kernel kernel(void)
{
	const char *fail = active_options()->fail;

	if (KNOB(strstr(fail, "marker-on-cpu")))
		return MARKER_KEPT_ON_CPU;
	return KNOB(strstr(fail, "marker")) ? MARKER_KEPT : MARKER_SOUND;
}

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	const char *mode = active_options()->wall_mode;
	int rc = open_tables(err);

	(void)event;
	if (rc)
		return rc;
	wall.event = e;
	wall.ticker = &ticker;
	wall.clocked = wall.on = 0;
	wall.tick = 0;
	atomic_store(&wall.counted, 0);
	wall_hint_open(!KNOB(strstr(active_options()->fail, "condition")));
	wall_waits_open();
	wall.late = 0;
	wall.rotation = (uint32_t)MIN(MAX(ROTATION_TIME / zone.events[e].interval, 1), ROTATION);
	wall.nobatch = active_options()->nobatch;
	wall.marker = strcmp(mode, "slots") != 0 && marker_works(kernel());
	if (!wall.marker && strcmp(mode, "marker") == 0)
		rc = error_set(err, ENOTSUP, "wallmode=marker: threads of this process cannot be marked (it needs "
			       "glibc 2.35, glibc.pthread.rseq=1 and a kernel that passes the self-test); "
			       "leave the option out");
	else if (active_options()->vthreads)
		rc = vthreads_parked_start(e, err);
	(void)notes;
	if (rc == 0)
		rc = ticker_begin(&ticker, e, err);
	if (rc) {
		vthreads_parked_release();
		stop();
	}
	return rc;
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct wall_thread *t = &wall.threads[r->index];

	/* What was here before has not been counted out yet. */
	if (atomic_load(&t->life) != WALL_FREE)
		return -EAGAIN;
	memset(t, 0, sizeof(*t));
	wall.fields[r->index] = 0;
	memset(&wall.stacks[r->index], 0, sizeof(wall.stacks[r->index]));
	memset(&wall.ready[r->index], 0, sizeof(wall.ready[r->index]));
	t->begun = t->last = os_monotonic();
	r->sources[e].charged = t->last;
	atomic_store(&r->sources[e].arm, ARM_TICKS);
	/* In this order: see wall_tick.c. */
	atomic_store(&t->life, WALL_ON);
	atomic_store(&wall.watch[r->index], WATCH_PROOF);
	return 0;
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	uint32_t on = WALL_ON;

	if (atomic_compare_exchange_strong(&wall.threads[r->index].life, &on, WALL_GONE))
		atomic_store(&wall.watch[r->index], WATCH_PROOF);
	tick_close(r, e);
}

/* Before anything else goes away. */
static void halt(void)
{
	ticker_end(&ticker);
}

bool engine_keeps(const struct thread_record *r)
{
	return wall.threads && atomic_load_explicit(&wall.threads[r->index].life, memory_order_acquire) != WALL_FREE;
}

void engine_look_again(uint32_t index)
{
	if (wall.threads)
		atomic_store(&wall.threads[index].again, true);
}

void engine_threads_known(void)
{
	ticker_known();
}

void engine_flush(void)
{
	ticker_flush();
}

/* Samples of thread I's run that were counted as due and not counted out. */
static int64_t open_of(uint32_t i, uint64_t counted)
{
	const struct wall_thread *t = &wall.threads[i];

	if (atomic_load_explicit(&wall.threads[i].life, memory_order_relaxed) == WALL_FREE || !t->tick)
		return 0;
	return (int64_t)t->samples + (int64_t)(counted - t->tick);
}

uint64_t engine_open_ticks(uint32_t e)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	bool runs = wall.threads && wall.event == e && zone.events[e].ticks == TICKS_WALL;
	uint64_t counted = atomic_load(&wall.counted);
	int64_t open = 0;

	for (i = 0; i < count && zone.events[e].ticks; i++) {
		const struct record_source *s = &zone.records.records[i].sources[e];

		open += atomic_load(&((struct record_source *)s)->asked) !=
			atomic_load(&((struct record_source *)s)->answered);
		open += runs ? open_of(i, counted) : 0;
	}
	return (uint64_t)MAX(open, (int64_t)0);
}

/* Their rows' memory goes back as well: they are of threads that were counted out. */
static void trimmed(uint32_t from, uint32_t end)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(tables); i++) {
		uintptr_t table = *(uintptr_t *)tables[i].at;
		uintptr_t first = (table + from * tables[i].row + 4095) & ~(uintptr_t)4095;
		uintptr_t last = (table + end * tables[i].row) & ~(uintptr_t)4095;

		if (first < last)
			madvise((void *)first, last - first, MADV_DONTNEED);
	}
}

static const char *way(void)
{
	return wall.nobatch ? "signals" : wall.marker ? "marker" : "slots";
}

const struct engine_ops engine_wall = {
	.name = "wall", .ticks = TICKS_WALL, .way = way, .handler = handler_thread, .start = start, .arm = arm,
	.disarm = disarm, .halt = halt, .stop = stop, .trimmed = trimmed,
	.listen = wall_listen, .listen_no_more = wall_listen_no_more, .vm_init = wall_vm_init,
	.release = vthreads_parked_release,
};
