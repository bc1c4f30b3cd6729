#include "agent/tracing/trace_work.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "agent/jvm/jvm.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "agent/tracing/trace_list.h"
#include "agent/tracing/trace_pace.h"
#include "agent/tracing/trace_running.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define PATIENCE (60 * NS_PER_S)      /* with a JVM that has to change a few classes */
#define LOADING_MAX (300 * NS_PER_S)  /* a class that the JVM has not after that time will never be there */
#define LOADING_CHECK NS_PER_S
#define FIRST_LOOKS (2 * NS_PER_S)
#define LATER_LOOKS 5                 /* times as far apart as at first */
#define STEP_EVERY (10 * NS_PER_S)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what follows, until `job` */
static pthread_cond_t changed;
static struct {
	bool ready;      /* `changed` is */
	bool thread;     /* there is one */
	bool leaving;    /* it takes no job any more */
	bool has_job;
	bool restored;   /* its classes are as before */
	bool few;        /* of them there were few: the session waits for that */
	unsigned waiting; /* commands that wait for the thread: it hurries */
	bool asked;      /* the session's begin has its answer */
	bool called_off; /* the session has ended */
	bool released;
	bool stray;      /* a class came with the wrong probes */
	int error;       /* why it did not begin */
	struct trace_progress progress;
} state;
static atomic_bool dead; /* the JVM ends */

/* The thread's own. */
static struct trace_job job;
static struct trace_pace pace;
static struct trace_seen seen;
static struct map done, done_strays; /* keys of classes */
static struct map strays;       /* hashes of names */
static uint64_t changing_since; /* monotonic ns */
static uint32_t changed_since;  /* classes */

/* ---- waiting ---- */

/* Lock held. Until something changes or the time is AT (monotonic ns); false: it is. */
static bool wait_until(uint64_t at)
{
	struct timespec until = {(time_t)(at / NS_PER_S), (long)(at % NS_PER_S)};

	return pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT;
}

static void tell(void)
{
	if (state.ready)
		pthread_cond_broadcast(&changed);
}

/* The session goes on. */
static bool goes_on(void)
{
	bool on;

	pthread_mutex_lock(&lock);
	on = !state.called_off && !atomic_load(&dead);
	pthread_mutex_unlock(&lock);
	return on;
}

/* NS of rest, less where the session ends (RESTING_ON: it has) or the JVM does. */
static void rest(uint64_t ns, bool resting_on)
{
	uint64_t at = os_monotonic() + ns;

	pthread_mutex_lock(&lock);
	while ((resting_on || !state.called_off) && !atomic_load(&dead) && os_monotonic() < at)
		wait_until(at);
	pthread_mutex_unlock(&lock);
}

static void on_stray(void)
{
	pthread_mutex_lock(&lock);
	state.stray = true;
	tell();
	pthread_mutex_unlock(&lock);
}

static void enter_phase(enum trace_phase phase)
{
	pthread_mutex_lock(&lock);
	state.progress.phase = phase;
	state.progress.left = 0;
	state.progress.left_ns = 0;
	tell();
	pthread_mutex_unlock(&lock);
}

/* The session's begin need not wait any longer. */
static void answer(int error)
{
	pthread_mutex_lock(&lock);
	state.asked = true;
	state.error = error;
	tell();
	pthread_mutex_unlock(&lock);
}

/* ---- which classes ---- */

enum pick {
	PICK_MEANT,   /* what the patterns mean */
	PICK_SEEN,    /* of that what runs, and what waits */
	PICK_STRAYS,
	PICK_CHANGED, /* what has probes */
};

struct picking {
	enum pick what;
	uint32_t matched;
};

/* Hidden classes never get probes: they are counted nowhere, seen running or not. */
static bool can_change(jclass class)
{
	jboolean modifiable = JNI_FALSE;

	return (*job.ti)->IsModifiableClass(job.ti, class, &modifiable) == JVMTI_ERROR_NONE && modifiable;
}

static bool wants(void *data, jclass class, const struct text *name, uint64_t hash, uint32_t *weight)
{
	struct picking *p = data;
	bool yes;

	if (p->what == PICK_STRAYS)
		return map_get(&strays, hash) != NULL;
	if (p->what == PICK_CHANGED) {
		trace_classes_lock();
		yes = map_get(&job.classes->changed, hash) != NULL;
		trace_classes_unlock();
	} else {
		yes = trace_classes_touch(job.classes, job.ti, class, name);
	}
	p->matched += yes && can_change(class);
	if (!yes || p->what != PICK_SEEN)
		return yes;
	*weight = trace_seen_times(&seen, hash);
	return *weight || trace_classes_waits(name);
}

static void fixed(void *data, const struct text *name)
{
	const struct picking *p = data;

	if (job.classes && p->what != PICK_STRAYS)
		trace_classes_refuse(job.classes, name, "hidden classes cannot be changed");
}

/* ---- changing them ---- */

static void refuse(jclass class)
{
	char *name = job.classes ? trace_list_name(job.ti, class) : NULL;

	if (name)
		trace_classes_refuse(job.classes, &(struct text){name, (uint16_t)strlen(name)},
				     "the JVM refused the changed class");
	(*job.ti)->Deallocate(job.ti, (unsigned char *)name);
}

/* The first COUNT of L, all of them at once; if the JVM refuses, one by one. ns that it took. */
static uint64_t change(const struct trace_list *l, uint32_t count, struct map *marks)
{
	jclass classes[TRACE_WORK_MANY];
	uint64_t began = os_monotonic(), ended, hooked;
	uint32_t i;

	for (i = 0; i < count; i++) {
		classes[i] = l->items[i].class;
		map_put(marks, l->items[i].key, NULL);
	}
	if ((*job.ti)->RetransformClasses(job.ti, (jint)count, classes)) {
		for (i = 0; i < count && !atomic_load(&dead); i++)
			if ((*job.ti)->RetransformClasses(job.ti, 1, &classes[i]))
				refuse(classes[i]);
	}
	ended = os_monotonic();
	if (job.classes) {
		trace_classes_lock();
		/* the hook's part, and the verifier's, are done while the program runs */
		hooked = MAX(began, job.classes->last_hook);
		job.classes->batches_ns += ended - hooked;
		job.classes->worst_batch_ns = MAX(job.classes->worst_batch_ns, ended - hooked);
		trace_classes_unlock();
		trace_pace_note(&pace, count, ended - hooked, ended - began);
	}
	return ended - began;
}

static void note_progress(const struct picking *p, uint32_t count, uint32_t left)
{
	uint64_t passed = os_monotonic() - changing_since;

	changed_since += count;
	pthread_mutex_lock(&lock);
	if (p->what == PICK_MEANT || p->what == PICK_SEEN) {
		state.progress.matched = p->matched;
		state.progress.done = done.count;
	}
	state.progress.left = left;
	state.progress.left_ns = changed_since ? passed * left / changed_since : 0;
	tell();
	pthread_mutex_unlock(&lock);
}

static bool is_waited_for(void)
{
	bool waits;

	pthread_mutex_lock(&lock);
	waits = state.waiting > 0;
	pthread_mutex_unlock(&lock);
	return waits;
}

/* One batch of what WHAT picks, and its rest. How many were left before it. */
static uint32_t batch(JNIEnv *env, enum pick what)
{
	struct map *marks = what == PICK_STRAYS ? &done_strays : &done;
	struct picking p = {.what = what};
	struct trace_list l;
	uint32_t left, count;
	uint64_t took;

	if (trace_list_read(&l, job.ti, env, marks, wants, fixed, &p))
		return 0;
	left = l.count;
	count = MIN(left, job.at_start && what == PICK_MEANT ? TRACE_WORK_MANY : trace_pace_size(&pace));
	took = count ? change(&l, count, marks) : 0;
	trace_list_free(&l, job.ti, env);
	note_progress(&p, count, left - count);
	if (left > count && !(job.at_start && what == PICK_MEANT))
		rest(trace_pace_rest(&pace, took, is_waited_for()), what == PICK_CHANGED);
	return left;
}

/* All that PICK picks, until it is called off. */
static void put(JNIEnv *env, enum pick what)
{
	changing_since = os_monotonic();
	changed_since = 0;
	enter_phase(TRACE_CHANGING);
	while (goes_on() && batch(env, what) > 0)
		continue;
	if (goes_on())
		trace_entered_look(job.ti, env, job.classes, job.entered);
	enter_phase(TRACE_CHANGED);
}

/* How many the patterns mean. */
static uint32_t count_meant(JNIEnv *env)
{
	struct picking p = {.what = PICK_MEANT};
	struct trace_list l;

	if (trace_list_read(&l, job.ti, env, &done, wants, fixed, &p))
		return 0;
	trace_list_free(&l, job.ti, env);
	pthread_mutex_lock(&lock);
	state.progress.matched = p.matched;
	state.progress.some = p.matched > TRACE_WORK_MANY && !job.all && !job.at_start;
	pthread_mutex_unlock(&lock);
	return p.matched;
}

/* Whether classes came that passed no hook, or that of a session that has ended: these change now. */
static void take_strays(JNIEnv *env)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = state.stray;
	state.stray = false;
	pthread_mutex_unlock(&lock);
	if (!any)
		return;
	trace_classes_take_strays(&strays);
	map_clear(&done_strays);
	while (!atomic_load(&dead) && batch(env, PICK_STRAYS) > 0)
		continue;
}

/* ---- the life of a session ---- */

/* Look for NS which classes run, FACTOR times as seldom as can be. */
static void look(JNIEnv *env, uint64_t ns, uint64_t factor)
{
	uint64_t end = os_monotonic() + ns;

	while (goes_on() && os_monotonic() < end) {
		trace_seen_look(&seen, job.ti, env);
		take_strays(env);
		rest(MIN(seen.interval * factor, end - MIN(end, os_monotonic())), false);
	}
}

/* Until the session ends. */
static void grow(JNIEnv *env)
{
	static const uint64_t steps[] = {NS_PER_S, 3 * NS_PER_S}; /* at 3 s and 6 s */
	size_t i;

	enter_phase(TRACE_LOOKING);
	look(env, FIRST_LOOKS, 1);
	put(env, PICK_SEEN);
	for (i = 0; goes_on(); i++) {
		look(env, i < ARRAY_LEN(steps) ? steps[i] : STEP_EVERY, i < ARRAY_LEN(steps) ? 1 : LATER_LOOKS);
		put(env, PICK_SEEN);
	}
}

static void stay(JNIEnv *env)
{
	while (goes_on()) {
		pthread_mutex_lock(&lock);
		while (!state.called_off && !state.stray && !atomic_load(&dead))
			wait_until(os_monotonic() + PATIENCE);
		pthread_mutex_unlock(&lock);
		if (goes_on())
			take_strays(env);
	}
}

static void restore(JNIEnv *env)
{
	map_clear(&done);
	pace.spent = 0;
	changing_since = os_monotonic();
	changed_since = 0;
	enter_phase(TRACE_RESTORING);
	while (!atomic_load(&dead) && batch(env, PICK_CHANGED) > 0)
		continue;
}

static void run_session(JNIEnv *env)
{
	bool many;

	memset(&pace, 0, sizeof(pace));
	map_clear(&done);
	trace_classes_begin(job.ti, job.classes);
	enter_phase(TRACE_LISTING);
	many = count_meant(env) > TRACE_WORK_MANY && !job.at_start;
	if (many)
		answer(0);
	if (many && !job.all) {
		grow(env);
	} else {
		put(env, PICK_MEANT);
		answer(0);
		stay(env);
	}
	restore(env);
	trace_seen_free(&seen);
	pthread_mutex_lock(&lock);
	state.restored = true;
	tell();
	pthread_mutex_unlock(&lock);
}

/* After a session: nothing reads its trees any more. */
static void finish(void)
{
	pthread_mutex_lock(&lock);
	while (!state.released && !atomic_load(&dead))
		wait_until(os_monotonic() + PATIENCE);
	pthread_mutex_unlock(&lock);
	if (atomic_load(&dead))
		return;
	job.over(&job);
	job.classes = NULL;
	pthread_mutex_lock(&lock);
	state.has_job = false;
	memset(&state.progress, 0, sizeof(state.progress));
	tell();
	pthread_mutex_unlock(&lock);
}

/* Lock held. Wait for classes that are being loaded with probes of the last session; true: there is a new session. */
static bool linger(JNIEnv *env)
{
	bool left = true;

	while (left && !state.has_job && !atomic_load(&dead)) {
		pthread_mutex_unlock(&lock);
		take_strays(env);
		left = trace_classes_loading(os_monotonic() - LOADING_MAX) > 0;
		pthread_mutex_lock(&lock);
		left |= state.stray;
		if (left && !state.has_job && !state.stray)
			wait_until(os_monotonic() + LOADING_CHECK);
	}
	return state.has_job && !atomic_load(&dead);
}

/* Lock held. */
static void work(JNIEnv *env)
{
	while (state.has_job && !atomic_load(&dead)) {
		pthread_mutex_unlock(&lock);
		run_session(env);
		finish();
		pthread_mutex_lock(&lock);
		if (!linger(env))
			break;
	}
}

static void forget(void)
{
	trace_classes_loading_over(job.ti);
	map_free(&done);
	map_free(&done_strays);
	map_free(&strays);
	records_own(os_gettid(), false);
	jvm_detach();
}

static void *run(void *data)
{
	bool attached = jvm_attach("jstrobe trace");

	if (attached)
		records_own(os_gettid(), true);
	pthread_mutex_lock(&lock);
	if (attached) {
		work(jvm_jni());
	} else {
		state.error = EAGAIN;
		state.asked = true;
		state.has_job = false;
	}
	state.leaving = true;
	pthread_mutex_unlock(&lock);
	/* after VMDeath a detach would wait for ever at the last safepoint */
	if (attached && !atomic_load(&dead))
		forget();
	pthread_mutex_lock(&lock);
	state.thread = state.leaving = false;
	tell();
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- the session's side ---- */

/* Lock held. Wait for CONDITION, but no longer than PATIENCE. */
#define WAIT_FOR(condition)                                                            \
	do {                                                                           \
		uint64_t limit_ = os_monotonic() + PATIENCE;                           \
		state.waiting++;                                                       \
		tell();                                                                \
		while (!(condition) && !atomic_load(&dead) && os_monotonic() < limit_) \
			wait_until(limit_);                                            \
		state.waiting--;                                                       \
	} while (0)

int trace_work_settle(struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!state.ready)
		os_condition_init(&changed);
	state.ready = true;
	WAIT_FOR(!state.has_job && !state.leaving);
	if (state.has_job || state.leaving || atomic_load(&dead))
		rc = error_set(err, EBUSY, "the probes of the last trace are being taken out still: %u classes are "
			       "left; try again in a while", state.progress.left);
	pthread_mutex_unlock(&lock);
	return rc;
}

int trace_work_begin(const struct trace_job *j, struct error *err)
{
	int rc = trace_work_settle(err);

	if (rc)
		return rc;
	pthread_mutex_lock(&lock);
	job = *j;
	trace_classes_on_stray(on_stray);
	memset(&state.progress, 0, sizeof(state.progress));
	state.progress.phase = TRACE_LISTING;
	state.asked = state.called_off = state.released = state.restored = false;
	state.error = 0;
	state.has_job = true;
	if (!state.thread)
		rc = thread_start("jstrobe trace", run, NULL, err);
	if (rc)
		state.has_job = false;
	else
		state.thread = true;
	if (rc == 0)
		WAIT_FOR(state.asked || state.called_off);
	if (rc == 0 && state.asked && state.error)
		rc = error_set(err, state.error, "the thread 'jstrobe trace' cannot be attached to the JVM");
	pthread_mutex_unlock(&lock);
	return rc;
}

void trace_work_end(void)
{
	bool few;

	trace_classes_end(job.ti);
	trace_classes_lock();
	few = job.classes->class_count <= TRACE_WORK_MANY;
	trace_classes_unlock();
	pthread_mutex_lock(&lock);
	state.called_off = true;
	state.few = few;
	tell();
	if (few)
		WAIT_FOR(state.restored);
	pthread_mutex_unlock(&lock);
}

void trace_work_release(void)
{
	pthread_mutex_lock(&lock);
	state.released = true;
	tell();
	if (state.few)
		WAIT_FOR(!state.has_job);
	pthread_mutex_unlock(&lock);
}

void trace_work_vm_death(void)
{
	pthread_mutex_lock(&lock);
	atomic_store(&dead, true);
	tell();
	pthread_mutex_unlock(&lock);
}

void trace_work_progress(struct trace_progress *p)
{
	pthread_mutex_lock(&lock);
	*p = state.progress;
	pthread_mutex_unlock(&lock);
}
