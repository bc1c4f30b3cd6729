#include "engine/marker.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "cpu.h"
#include "engine/engine.h"
#include "engine/own_thread.h"
#include "os/os.h"
#include "signal/handler.h"

#define TRIALS 4
#define FIELD_CPU 4
#define FIELD_SECTION 8

/* The kernel reads 64 bits on every CPU. */
union address {
	const void *at;
	uint64_t wide;
};

/* linux/rseq.h; the section is one byte of DATA, which no program counter ever shows. */
const struct marker_section {
	uint32_t version, flags;
	union address start;
	uint64_t length;
	union address abort;
	uint8_t data[8];
	uint32_t signature; /* before the address of the abort handler: the one glibc registers with */
	uint8_t handler[4];
} marker_section __attribute__((aligned(32))) = {
	.start = {marker_section.data},
	.length = 1,
	.abort = {marker_section.handler},
	.signature = CPU_RSEQ_SIGNATURE,
};

static ptrdiff_t offset; /* of struct rseq from the thread pointer */

uintptr_t marker_of(uintptr_t tcb)
{
	uintptr_t self;
	uint32_t cpu;

	/* The first word of a TCB is its own address (tcbhead_t): what does not say so is none. */
	if (!tcb || (tcb & 7) || !load_word(tcb, &self) || self != tcb ||
	    !load_u32(tcb + (uintptr_t)offset + FIELD_CPU, &cpu) || (int32_t)cpu < 0)
		return 0;
	return tcb + (uintptr_t)offset + FIELD_SECTION;
}

/*
 * A thread may end unnoticed, as when a session stops just then, and its TCB be gone by now: the write may fault.
 * (Where that cannot be caught, CPU_RSEQ_SIGNATURE is 0.)
 */
bool marker_set(uintptr_t field)
{
	uint64_t ours = (uintptr_t)&marker_section, found;

	return load_replace_u64(field, 0, ours, &found) && (found == 0 || found == ours);
}

void marker_clear(uintptr_t field)
{
	uint64_t found;

	load_replace_u64(field, (uintptr_t)&marker_section, 0, &found);
}

/* ---- the trial ---- */

struct trial {
	_Atomic uint32_t turn; /* even: the helper's, odd: ours; it sleeps on it */
	_Atomic pid_t tid;
	_Atomic uintptr_t tcb;
};

static void hand_over(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	os_wake(word);
}

static void *help(void *arg)
{
	struct trial *t = arg;
	int i;

	own_thread_begin("jstrobe marker");
	atomic_store(&t->tcb, handler_thread_pointer());
	atomic_store(&t->tid, os_gettid());
	for (i = 0; i < TRIALS; i++) {
		hand_over(&t->turn);
		os_wait_while(&t->turn, 2 * (uint32_t)i + 1, UINT64_MAX);
	}
	hand_over(&t->turn);
	own_thread_end();
	return NULL;
}

/* Wait until thread TID sleeps; at most a second. */
static bool wait_asleep(pid_t tid)
{
	uintptr_t sp, pc;
	int i;

	for (i = 0; i < 1000 && !os_thread_waits(tid, &sp, &pc); i++)
		os_sleep(NS_PER_MS);
	return i < 1000;
}

/* Mark it asleep, look that the marker stays, wake it, look that it is gone. BROKEN: as if it were not. */
static bool try_once(struct trial *t, uint32_t turn, bool broken)
{
	uintptr_t field = marker_of(atomic_load(&t->tcb));
	bool stays;

	if (!field || !wait_asleep(atomic_load(&t->tid)) || !marker_set(field))
		return false;
	os_sleep(NS_PER_MS / 4);
	stays = marker_is_set(field);
	hand_over(&t->turn);
	os_wait_while(&t->turn, turn + 1, UINT64_MAX);
	if (broken)
		marker_set(field);
	return stays && !marker_is_set(field);
}

static bool try_out(bool broken)
{
	struct trial t = {.turn = 0};
	struct error err = {0};
	pthread_t thread;
	bool good = true;
	uint32_t i;

	if (own_thread_start(&thread, help, &t, "trying the marker", &err))
		return false;
	os_wait_while(&t.turn, 0, UINT64_MAX);
	for (i = 0; i < TRIALS; i++) {
		if (good)
			good = try_once(&t, 2 * i + 1, broken);
		else
			hand_over(&t.turn), os_wait_while(&t.turn, 2 * i + 2, UINT64_MAX);
	}
	pthread_join(thread, NULL);
	return good;
}

bool marker_works(bool broken)
{
	const ptrdiff_t *at = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	/* 0: the process has switched it off (glibc.pthread.rseq), or somebody else has registered it. */
	if (!CPU_RSEQ_SIGNATURE || !at || !size || *size == 0)
		return false;
	offset = *at;
	return try_out(broken);
}
