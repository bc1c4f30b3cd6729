#include "engine/marker.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/engine.h"
#include "os/os.h"

#define TRIALS 4
#define FIELD_CPU 4
#define FIELD_SECTION 8

/* linux/rseq.h; the section is one byte of DATA, which no program counter ever shows. */
const struct marker_section {
	uint32_t version, flags;
	uint64_t start, length, abort;
	uint8_t data[8];
	uint32_t signature; /* before the address of the abort handler: the one glibc registers with */
	uint8_t handler[4];
} marker_section __attribute__((aligned(32))) = {
	.start = (uintptr_t)marker_section.data,
	.length = 1,
	.abort = (uintptr_t)marker_section.handler,
	.signature = 0x53053053,
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

bool marker_set(uintptr_t field)
{
	uint64_t none = 0;

	return atomic_compare_exchange_strong((_Atomic uint64_t *)field, &none, (uintptr_t)&marker_section) ||
	       none == (uintptr_t)&marker_section;
}

void marker_clear(uintptr_t field)
{
	uint64_t ours = (uintptr_t)&marker_section;

	atomic_compare_exchange_strong((_Atomic uint64_t *)field, &ours, 0);
}

/* ---- the trial ---- */

struct trial {
	_Atomic uint32_t turn; /* even: the helper's, odd: ours; it sleeps on it */
	_Atomic pid_t tid;
	_Atomic uintptr_t tcb;
};

static void sleep_while(_Atomic uint32_t *word, uint32_t value)
{
	while (atomic_load(word) == value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void hand_over(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *help(void *arg)
{
	struct trial *t = arg;
	int i;

	os_block_signals();
	records_own(os_gettid(), true);
	atomic_store(&t->tcb, (uintptr_t)pthread_self());
	atomic_store(&t->tid, os_gettid());
	for (i = 0; i < TRIALS; i++) {
		hand_over(&t->turn);
		sleep_while(&t->turn, 2 * (uint32_t)i + 1);
	}
	hand_over(&t->turn);
	records_own(os_gettid(), false);
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
	sleep_while(&t->turn, turn + 1);
	if (broken)
		marker_set(field);
	return stays && !marker_is_set(field);
}

static bool try_out(bool broken)
{
	struct trial t = {.turn = 0};
	sigset_t all, old;
	pthread_t thread;
	bool good = true;
	uint32_t i;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = pthread_create(&thread, NULL, help, &t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return false;
	sleep_while(&t.turn, 0);
	for (i = 0; i < TRIALS; i++) {
		if (good)
			good = try_once(&t, 2 * i + 1, broken);
		else
			hand_over(&t.turn), sleep_while(&t.turn, 2 * i + 2);
	}
	pthread_join(thread, NULL);
	return good;
}

bool marker_works(bool broken)
{
	const ptrdiff_t *at = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	/* 0: the process has switched it off (glibc.pthread.rseq), or somebody else has registered it. */
	if (!at || !size || *size == 0)
		return false;
	offset = *at;
	return try_out(broken);
}
