#include "agent/sources/wall/marker.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/sample/handler.h"
#include "agent/threads/own_thread.h"
#include "common/base/error.h"
#include "common/os/os.h"
#include "cpu.h"

#define FREE 3   /* sleeps from which the helper wakes where the kernel likes */
#define PINNED 3 /* and on the CPU on which it fell asleep */
#define TRIALS (FREE + PINNED)
#define PATIENCE NS_PER_S /* for the other one's next step; then the marker is taken not to work */
#define ASLEEP_LOOKS 900 /* of 1 ms: within the helper's patience */
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

/*
 * The helper sleeps TRIALS times, at last always on one CPU, and is told how many of its sleeps shall end. A kernel may
 * leave the marker to those who wake on their CPU; whether they do by themselves depends on what else runs.
 * No wait of either side is without a
 * limit: whatever goes wrong, the helper comes to its end, and who waits for it waits for seconds at most.
 */
struct trial {
	_Atomic uint32_t slept; /* so many sleeps have begun, or all are over: the caller sleeps on it */
	_Atomic uint32_t woken; /* so many of them shall end: the helper sleeps on it */
	_Atomic pid_t tid;
	_Atomic uintptr_t tcb;
	_Atomic uint32_t stayed; /* sleeps so far from which it woke on the same CPU */
};

static void tell(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store(word, value);
	os_wake(word);
}

static void *help(void *arg)
{
	struct trial *t = arg;
	uint32_t i;
	int cpu;

	own_thread_begin("jstrobe marker");
	atomic_store(&t->tcb, handler_thread_pointer());
	atomic_store(&t->tid, os_gettid());
	for (i = 0; i < TRIALS; i++) {
		cpu = os_cpu();
		if (i == FREE)
			os_stay_on(cpu); /* where that is refused it may stay all the same: it is counted */
		tell(&t->slept, i + 1);
		os_wait_while(&t->woken, i, PATIENCE);
		atomic_fetch_add(&t->stayed, cpu >= 0 && os_cpu() == cpu);
	}
	tell(&t->slept, TRIALS + 1);
	own_thread_end();
	return NULL;
}

/* Wait until thread TID sleeps; false too if the kernel does not tell, as without a free descriptor. */
static bool wait_asleep(pid_t tid)
{
	int fd = os_thread_waits_open(tid), i;
	enum os_waits waits = OS_GONE;
	uintptr_t sp, pc;

	for (i = 0; fd >= 0 && waits != OS_WAITS && i < ASLEEP_LOOKS; i++) {
		if (i)
			os_sleep(NS_PER_MS);
		waits = os_thread_waits_at(fd, &sp, &pc);
	}
	if (fd >= 0)
		close(fd);
	return waits == OS_WAITS;
}

/* Whether KERNEL leaves the marker in sleep I. Of the free sleeps none counts as ended on the same CPU. */
static bool is_kept(enum marker_kernel kernel, uint32_t i, bool stayed)
{
	return kernel == MARKER_KEPT || (kernel == MARKER_KEPT_ON_CPU && i >= FREE && stayed);
}

/* Sleep I of the helper has begun: mark it, look that the marker stays, wake it, look that it is gone. */
static bool try_once(struct trial *t, uint32_t i, uintptr_t field, enum marker_kernel kernel)
{
	uint32_t stayed = atomic_load(&t->stayed);
	bool stays;

	if (!wait_asleep(atomic_load(&t->tid)) || !marker_set(field))
		return false;
	os_sleep(NS_PER_MS / 4);
	stays = marker_is_set(field);
	tell(&t->woken, i + 1);
	os_wait_while(&t->slept, i + 1, PATIENCE);
	if (is_kept(kernel, i, atomic_load(&t->stayed) > stayed))
		marker_set(field);
	return stays && !marker_is_set(field) && atomic_load(&t->slept) == i + 2;
}

static bool try_all(struct trial *t, enum marker_kernel kernel)
{
	uintptr_t field;
	bool good;
	uint32_t i;

	os_wait_while(&t->slept, 0, PATIENCE);
	field = marker_of(atomic_load(&t->tcb));
	good = field != 0;
	for (i = 0; good && i < TRIALS; i++)
		good = try_once(t, i, field, kernel);
	if (field)
		marker_clear(field);
	return good && atomic_load(&t->stayed) >= PINNED;
}

static bool try_out(enum marker_kernel kernel)
{
	struct trial *t = calloc(1, sizeof(*t));
	struct error err = {0};
	pthread_t thread;
	bool good;

	if (!t || own_thread_start(&thread, help, t, "trying the marker", &err)) {
		free(t);
		return false;
	}
	good = try_all(t, kernel);
	tell(&t->woken, UINT32_MAX); /* it sleeps no more, however far it came */
	if (!own_thread_join(thread, OWN_THREAD_PATIENCE))
		return false; /* it still uses T */
	free(t);
	return good;
}

bool marker_works(enum marker_kernel kernel)
{
	const ptrdiff_t *at = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	/* 0: the process has switched it off (glibc.pthread.rseq), or another library has registered it. */
	if (!CPU_RSEQ_SIGNATURE || !at || !size || *size == 0)
		return false;
	offset = *at;
	return try_out(kernel);
}
