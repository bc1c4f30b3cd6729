#include "agent/sources/engine_clocks.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/threads/records.h"
#include "common/os/os.h"

static struct source_clocks base;    /* by engine_clocks_begin */
static struct source_clocks skipped; /* of its CPU times, what was used before threads were armed */
static struct source_clocks at_halt;
static atomic_bool waiting;  /* until threads are armed: the clocks stand at base */
static atomic_bool halted;   /* and there at the halt */
static bool turning;         /* threads are being armed or silenced; records' lock, as all below */
static uint64_t since;       /* what threads have used since their turn */
static uint64_t since_ended; /* and those that have ended meanwhile */

static struct source_clocks clocks_now(void)
{
	return (struct source_clocks){os_monotonic(), os_process_cpu() - skipped.cpu, records_own_cpu() - skipped.own};
}

struct source_clocks engine_clocks(void)
{
	struct source_clocks now;

	if (atomic_load(&halted))
		return at_halt;
	now = clocks_now();
	return atomic_load(&waiting) ? (struct source_clocks){now.time, base.cpu, base.own} : now;
}

void engine_clocks_turn(struct thread_record *r)
{
	if (turning && !r->own && !r->cpu_at_turn)
		r->cpu_at_turn = os_thread_cpu(atomic_load(&r->tid));
}

static uint64_t used_since(const struct thread_record *r)
{
	uint64_t now = r->cpu_at_turn ? os_thread_cpu(atomic_load(&((struct thread_record *)r)->tid)) : 0;

	return now > r->cpu_at_turn ? now - r->cpu_at_turn : 0;
}

static void add_since(struct thread_record *r)
{
	since += used_since(r);
}

void engine_clocks_end(struct thread_record *r)
{
	since_ended += used_since(r);
	r->cpu_at_turn = 0;
}

static void forget(struct thread_record *r)
{
	r->cpu_at_turn = 0;
}

static void set_turning(struct thread_record *r, uintptr_t on)
{
	turning = on != 0;
	since = since_ended = 0;
}

struct source_clocks engine_clocks_begin(void)
{
	memset(&skipped, 0, sizeof(skipped));
	records_with_lock(set_turning, NULL, true);
	base = clocks_now();
	atomic_store(&waiting, true);
	atomic_store(&halted, false);
	return base;
}

#define TRIES 10
#define CLOSE (200 * NS_PER_US)

/*
 * The clocks at the moment of which each thread's is its turn. Threads run on while they are asked what they have used
 * since; where this one loses its CPU meanwhile that is much, and it asks again.
 */
static struct source_clocks at_turns(void)
{
	struct source_clocks best = {0};
	uint64_t width = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES && width > CLOSE; i++) {
		struct source_clocks before = clocks_now(), after;

		since = 0;
		records_each(add_since);
		after = clocks_now();
		if (after.cpu - before.cpu >= width)
			continue;
		width = after.cpu - before.cpu;
		best.time = before.time;
		best.cpu = before.cpu + width / 2 - since - since_ended;
		best.own = before.own + (after.own - before.own) / 2;
	}
	records_each(forget);
	records_with_lock(set_turning, NULL, false);
	return best;
}

void engine_clocks_armed(void)
{
	struct source_clocks armed = at_turns();

	skipped = (struct source_clocks){0, armed.cpu - base.cpu, armed.own - base.own};
	atomic_store(&waiting, false);
}

void engine_clocks_halting(void)
{
	at_halt.time = os_monotonic();
	records_with_lock(set_turning, NULL, true);
}

void engine_clocks_halted(void)
{
	struct source_clocks silenced = at_turns();

	silenced.time = at_halt.time + (silenced.time - at_halt.time) / 2;
	at_halt = silenced;
	atomic_store(&halted, true);
}
