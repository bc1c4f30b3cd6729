/*
 * attaching.c - the JVM's table of AttachCurrentThread() and the like leads through ours for some milliseconds.
 *
 * Ours lasts for ever and passes on for ever: a thread may have looked it up just before it went.
 */
#include "agent/attaching.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "hotspot/layout.h"
#include "os/os.h"
#include "signal/load.h"

#define HOLD_LIMIT (10 * NS_PER_S)     /* a thread waits no longer */
#define WAIT_LIMIT (2 * NS_PER_S)      /* nor do we, for those that are at it: a collection of garbage, say */
#define LOOKS 2                        /* in a row that find all threads whole … */
#define BETWEEN (5 * NS_PER_MS)        /* … so far apart */
#define HAS_RUN (200 * NS_PER_US)      /* to get into the JVM's list takes less */
#define THREADS_LIMIT 1000000

static struct JNIInvokeInterface_ ours;
static const struct JNIInvokeInterface_ *theirs;
static atomic_bool held;

static void stand_by(void)
{
	uint64_t until = os_monotonic() + HOLD_LIMIT;

	while (atomic_load(&held) && os_monotonic() < until)
		os_sleep(NS_PER_MS / 2);
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
	stand_by();
	return theirs->AttachCurrentThread(vm, env, args);
}

static jint JNICALL attach_as_daemon(JavaVM *vm, void **env, void *args)
{
	stand_by();
	return theirs->AttachCurrentThreadAsDaemon(vm, env, args);
}

typedef VECTOR(pid_t) tids;

/* A thread that is not the JVM's, was ready to run when ours came to stand there, and had used so much CPU time. */
struct ready {
	pid_t tid;
	uint64_t cpu; /* ns */
};

typedef VECTOR(struct ready) ready_threads;

struct search {
	tids of_jvm; /* in order */
	ready_threads ready;
	bool failed; /* out of memory */
};

static int by_number(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : *(const pid_t *)a > *(const pid_t *)b;
}

/* Whether the thread at ADDRESS has its java.lang.Thread. Its number to T, unless NULL. */
static bool is_whole(const struct layout *l, uintptr_t address, struct search *t)
{
	uintptr_t handle, object, os;
	uint32_t tid;
	pid_t *to;

	if (t && load_word(address + (uintptr_t)l->thread_osthread, &os) && os &&
	    load_u32(os + (uintptr_t)l->osthread_tid, &tid)) {
		to = VECTOR_PUSH(&t->of_jvm);
		if (to)
			*to = (pid_t)tid;
		else
			t->failed = true;
	}
	return load_word(address + (uintptr_t)l->thread_object, &handle) && handle && load_word(handle, &object) &&
	       object;
}

/* Whether the JVM's list has no thread without its java.lang.Thread. It may change meanwhile. T as of is_whole(). */
static bool are_whole(const struct layout *l, struct search *t)
{
	uintptr_t list, again, array, thread;
	uint32_t length, i;
	bool whole = true;

	if (!load_word(l->threads, &list) || !list || !load_u32(list + (uintptr_t)l->threads_length, &length) ||
	    length > THREADS_LIMIT || !load_word(list + (uintptr_t)l->threads_array, &array))
		return false;
	for (i = 0; i < length; i++)
		if (!load_word(array + i * sizeof(uintptr_t), &thread) || !is_whole(l, thread, t))
			whole = false;
	return whole && load_word(l->threads, &again) && again == list;
}

static void note_ready(pid_t tid, uint64_t mark, void *arg)
{
	struct search *t = arg;
	struct ready *r;

	(void)mark;
	if (tid == os_gettid() || bsearch(&tid, t->of_jvm.items, t->of_jvm.count, sizeof(tid), by_number) ||
	    !os_thread_runs(tid))
		return;
	r = VECTOR_PUSH(&t->ready);
	if (r)
		*r = (struct ready){.tid = tid, .cpu = os_thread_cpu(tid)};
	else
		t->failed = true;
}

/*
 * A thread may have looked the JVM's function up just before ours stood there, and lost its CPU then: it is in no list
 * yet. So whoever was ready to run then has to have run since, or to wait for something.
 */
static bool have_run(const struct search *t)
{
	size_t i;

	for (i = 0; i < t->ready.count; i++)
		if (os_thread_runs(t->ready.items[i].tid) &&
		    os_thread_cpu(t->ready.items[i].tid) < t->ready.items[i].cpu + HAS_RUN)
			return false;
	return true;
}

/* False: the time is over. */
static bool wait_for_those_at_it(void)
{
	uint64_t until = os_monotonic() + WAIT_LIMIT;
	struct search t = {0};
	struct error ignored;
	struct layout l;
	unsigned looks;

	if (layout_read(&l, &ignored) || !l.threads || l.threads_length < 0 || l.threads_array < 0 ||
	    l.thread_object < 0)
		return true;
	are_whole(&l, &t);
	if (t.of_jvm.count)
		qsort(t.of_jvm.items, t.of_jvm.count, sizeof(t.of_jvm.items[0]), by_number);
	if (os_each_thread(note_ready, &t))
		t.ready.count = 0;
	for (looks = 0; looks < LOOKS && os_monotonic() < until; os_sleep(looks == LOOKS ? 0 : BETWEEN))
		looks = !t.failed && are_whole(&l, NULL) && have_run(&t) ? looks + 1 : 0;
	free(t.of_jvm.items);
	free(t.ready.items);
	return looks == LOOKS;
}

static bool concerns(JavaVM *vm)
{
	JNIEnv *env;

	return (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK && (*env)->GetVersion(env) >= 0x00150000;
}

int attaching_hold(JavaVM *vm, struct error *err)
{
	const struct JNIInvokeInterface_ *_Atomic *table = (const struct JNIInvokeInterface_ *_Atomic *)vm;
	const struct JNIInvokeInterface_ *own;

	if (!concerns(vm))
		return 0;
	if (!theirs) {
		theirs = atomic_load(table);
		ours = *theirs;
		ours.AttachCurrentThread = attach;
		ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
	}
	own = theirs;
	atomic_store(&held, true);
	atomic_compare_exchange_strong(table, &own, &ours);
	if (wait_for_those_at_it())
		return 0;
	return error_set(err, EAGAIN, "threads of the program are attaching themselves to the JVM and do not get on, "
			 "perhaps for want of memory: the first agent would end the JVM now (JDK-8311556); try again "
			 "in a moment");
}

void attaching_go_on(JavaVM *vm)
{
	const struct JNIInvokeInterface_ *_Atomic *table = (const struct JNIInvokeInterface_ *_Atomic *)vm;
	const struct JNIInvokeInterface_ *own = &ours;

	if (!atomic_exchange(&held, false))
		return;
	/* Where another's stands before ours by now, ours stays and passes on. */
	atomic_compare_exchange_strong(table, &own, theirs);
}
