#include "agent/sources/nativemem/draw.h"

#include <sys/mman.h>

#include "agent/zone/jitter.h"
#include "common/base/clock_ns.h"
#include "common/base/random.h"
#include "common/os/os.h"

struct draws draws;

/* What threads share that find no place; what one of them does then gets lost to another now and then. */
static struct draw_stream shared;

static void begin(struct draw_stream *s, uintptr_t word)
{
	s->seed = random_seed((uint64_t)clock_ns(CLOCK_MONOTONIC) ^ hash_mix(word));
	atomic_store_explicit(&s->total, 0, memory_order_relaxed);
	draw_next(s);
}

bool draw_open(uint64_t interval)
{
	size_t bytes = DRAW_STREAMS * sizeof(*draws.streams);
	struct draw_stream *streams = draws.streams;

	if (!streams) {
		streams = os_reserve(bytes);
		if (!streams || os_make_writable(streams, bytes))
			return false;
	}
	/* Who is still at one of the session before may write to it: a distance more or less. */
	madvise(streams, bytes, MADV_DONTNEED);
	atomic_store(&draws.interval, interval);
	begin(&shared, 0);
	draws.streams = streams;
	return true;
}

struct draw_stream *draw_look_further(uintptr_t tcb)
{
	uint32_t i, at = draw_place(tcb);

	for (i = 0; i < DRAW_PROBES; i++) {
		struct draw_stream *s = &draws.streams[(at + i) % DRAW_STREAMS];
		uintptr_t there = atomic_load_explicit(&s->tcb, memory_order_relaxed);

		if (there == tcb)
			return s;
		if (!there && atomic_compare_exchange_strong(&s->tcb, &there, tcb)) {
			begin(s, tcb);
			return s;
		}
	}
	return &shared;
}

uint64_t draw_random(struct draw_stream *s)
{
	return random_below(&s->seed, UINT64_MAX);
}

void draw_next(struct draw_stream *s)
{
	uint64_t interval = atomic_load_explicit(&draws.interval, memory_order_relaxed);
	/* -log2 of a random number, in 2^-32, × ln 2 */
	double far = (double)jitter_log(&s->seed) * (0.69314718055994531 / 4294967296.0) * (double)interval;

	atomic_store_explicit(&s->left, (int64_t)far, memory_order_relaxed);
}

uint64_t draw_total(uintptr_t tcb)
{
	uint32_t i;

	for (i = 0; tcb && draws.streams && i < DRAW_PROBES; i++) {
		struct draw_stream *s = &draws.streams[(draw_place(tcb) + i) % DRAW_STREAMS];

		if (atomic_load_explicit(&s->tcb, memory_order_relaxed) == tcb)
			return atomic_load_explicit(&s->total, memory_order_relaxed);
	}
	return 0;
}
