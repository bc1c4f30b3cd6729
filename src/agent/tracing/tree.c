/*
 * tree.c - the life of the call trees: memory reserved, the end.
 */
#include "agent/tracing/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/tracing/tree_state.h"
#include "common/base/own_memory.h"
#include "common/os/os.h"

#define BASE_SIZE (TREE_SLOTS + TREE_SLOT_COUNT * sizeof(uint64_t))
#ifdef MAP_32BIT /* x86-64 */
#define LOW MAP_32BIT
#else
#define LOW 0
#endif

_Static_assert(offsetof(struct tree_node, elder) == 8 && offsetof(struct tree_node, mask) == 16 &&
	       offsetof(struct tree_node, count) == 24 && offsetof(struct tree_node, id) == 32 &&
	       offsetof(struct tree_node, closed) == 36 && offsetof(struct tree_node, wall) == 40 &&
	       offsetof(struct tree_node, entered) == 48 && offsetof(struct tree_node, parent) == 56 &&
	       offsetof(struct tree_node, stats) == 64 && offsetof(struct tree_node, since) == 72 &&
	       offsetof(struct tree_node, due) == 80 && offsetof(struct tree_node, every) == 88 &&
	       offsetof(struct tree_node, hot) == 92 &&
	       offsetof(struct tree_node, kids) == 104,
	       "JstrobeProbe.java knows these places");
_Static_assert(offsetof(struct tree_context, current) == 8 &&
	       offsetof(struct tree_context, timed) == 20 && offsetof(struct tree_context, last) == 24 &&
	       offsetof(struct tree_context, timed_all) == 32 && offsetof(struct tree_context, chain) == 40,
	       "JstrobeProbe.java knows these places");
_Static_assert(offsetof(struct tree_board, quota) == 4 && offsetof(struct tree_board, latency) == 16 &&
	       offsetof(struct tree_board, clock) == 24 && offsetof(struct tree_board, rarest) == 32,
	       "JstrobeProbe.java knows these places");
_Static_assert(offsetof(struct tree_stats, min) == 8 && offsetof(struct tree_stats, max) == 16 &&
	       offsetof(struct tree_stats, buckets) == 24,
	       "JstrobeProbe.java knows these places");
_Static_assert(sizeof(struct tree_node) <= TREE_BOARD && sizeof(struct tree_context) <= TREE_BOARD,
	       "the blind is one of each");

uintptr_t tree_base;
struct tree_state tree_state = {.life = PTHREAD_RWLOCK_INITIALIZER};

static void *reserve(size_t size, int flags)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1,
			0);

	if (at == MAP_FAILED)
		return NULL;
	own_memory_add(at, size);
	return at;
}

/*
 * Where all places are counted from: below 2 GB if there is room, for then the compiler adds the address within its
 * loads and stores, and needs neither a constant of 10 bytes nor an addition each time (1 to 2 ns of a call's 4).
 */
static void *reserve_base(void)
{
	void *low = reserve(BASE_SIZE, LOW);

	return low ? low : reserve(BASE_SIZE, 0);
}

int tree_begin(const struct tree_setup *s, struct error *err)
{
	void *base = tree_base ? (void *)tree_base : reserve_base();

	if (!base || !tree_room_begin()) {
		int rc = errno;

		if (base && !tree_base) {
			own_memory_remove(base);
			munmap(base, BASE_SIZE);
		}
		return error_set(err, ENOMEM, "no address space for the threads' call trees: %s", error_text(rc));
	}
	pthread_rwlock_wrlock(&tree_state.life);
	tree_base = (uintptr_t)base;
	tree_node(0)->id = TREE_NO_ID;
	tree_state.setup = *s;
	atomic_store(&tree_state.used, 0);
	atomic_store(&tree_state.blind_calls, 0);
	tree_board()->latency = (int64_t)MIN(s->latency, (uint64_t)INT64_MAX);
	tree_tune(INT32_MAX, 0, TREE_RAREST);
	tree_tick_silently(os_monotonic());
	tree_state.running = true;
	pthread_rwlock_unlock(&tree_state.life);
	return 0;
}

void tree_tune(uint32_t quota, uint64_t clock, uint32_t rarest)
{
	tree_board()->rarest = rarest;
	tree_board()->quota = quota;
	tree_board()->clock = (int64_t)clock;
}

void tree_end(void)
{
	pthread_rwlock_wrlock(&tree_state.life);
	if (tree_state.running) {
		tree_state.running = false;
		tree_forget_threads();
		tree_forget_quiet();
		madvise((void *)(tree_base + TREE_SLOTS), BASE_SIZE - TREE_SLOTS, MADV_DONTNEED);
		tree_room_end();
	}
	pthread_rwlock_unlock(&tree_state.life);
}

size_t tree_bytes(void)
{
	return atomic_load(&tree_state.used);
}

uint64_t tree_blind_calls(void)
{
	return atomic_load(&tree_state.blind_calls);
}
