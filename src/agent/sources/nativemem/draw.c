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
	size_t size = sizeof(*draws.streams);
	struct draw_stream *streams = draws.streams ? draws.streams : thread_streams_memory(size);

	if (!streams)
		return false;
	/* Who is still at one of the session before may write to it: a distance more or less. */
	madvise(streams, THREAD_STREAMS * size, MADV_DONTNEED);
	atomic_store(&draws.interval, interval);
	begin(&shared, 0);
	draws.streams = streams;
	return true;
}

struct draw_stream *draw_look_further(uintptr_t tcb)
{
	bool taken = false;
	struct draw_stream *s = thread_stream_find(draws.streams, sizeof(*s), tcb, &taken);

	if (taken)
		begin(s, tcb);
	return s ? s : &shared;
}

uint64_t draw_random(struct draw_stream *s)
{
	return random_below(&s->seed, UINT64_MAX);
}

void draw_next(struct draw_stream *s)
{
	uint64_t interval = atomic_load_explicit(&draws.interval, memory_order_relaxed);

	atomic_store_explicit(&s->left, jitter_distance(&s->seed, interval), memory_order_relaxed);
}

uint64_t draw_total(uintptr_t tcb)
{
	struct draw_stream *s = tcb && draws.streams ? thread_stream_find(draws.streams, sizeof(*s), tcb, NULL) : NULL;

	return s ? atomic_load_explicit(&s->total, memory_order_relaxed) : 0;
}
