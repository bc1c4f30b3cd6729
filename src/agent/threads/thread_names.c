#include "agent/threads/thread_names.h"

#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/threads/native_names.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "common/os/os.h"

#define LIVE_LOOK (NS_PER_S / 10) /* whether a JVM that is starting is up */
#define NAME_UNITS 256            /* of UTF-16: so many tell names of one length apart */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ready, alive, stop;
	bool afresh; /* all names are wanted, though they are known */
	uint64_t all_every;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the thread works with. */
struct names {
	JNIEnv *env;
	jvmtiEnv *ti;
	jfieldID name;     /* of java.lang.Thread; NULL: not to be had, JVMTI is asked */
	struct map known;  /* tid → hash of its name */
	bool all;          /* this time names are given also where they are known */
};

/* ---- Java threads ---- */

/* A number that is another one for another name. */
static uint32_t hash_name(struct names *n, jstring name)
{
	jsize length = (*n->env)->GetStringLength(n->env, name), read = MIN(length, NAME_UNITS);
	jchar units[NAME_UNITS];

	(*n->env)->GetStringRegion(n->env, name, 0, read, units);
	return (uint32_t)hash_mix(hash_seeded(units, (size_t)read * sizeof(*units)) ^ (uint64_t)length);
}

static void give(struct names *n, jthread thread, pid_t tid, jstring name)
{
	const char *text = (*n->env)->GetStringUTFChars(n->env, name, NULL);

	if (!text)
		return (*n->env)->ExceptionClear(n->env);
	jvm_give_name(tid, jvm_java_id(n->env, thread), text);
	(*n->env)->ReleaseStringUTFChars(n->env, name, text);
}

static void look_at(struct names *n, jthread thread)
{
	pid_t tid = jvm_thread_id(n->env, thread);
	jstring name = tid ? (*n->env)->GetObjectField(n->env, thread, n->name) : NULL;
	uint32_t hash, *slot;
	bool fresh;

	if (!name)
		return;
	hash = hash_name(n, name);
	slot = map_put(&n->known, (uint64_t)tid, &fresh);
	if (n->all || !slot || fresh || *slot != hash)
		give(n, thread, tid, name);
	if (slot)
		*slot = hash;
	(*n->env)->DeleteLocalRef(n->env, name);
}

static void look_at_java(struct names *n)
{
	jthread *threads;
	jint i, count;

	if (!n->name || (*n->ti)->GetAllThreads(n->ti, &count, &threads))
		return;
	java_room(n->env, count);
	for (i = 0; i < count; i++) {
		look_at(n, threads[i]);
		(*n->env)->DeleteLocalRef(n->env, threads[i]);
	}
	(*n->ti)->Deallocate(n->ti, (unsigned char *)threads);
}

/* ---- all threads ---- */

struct tids {
	VECTOR(pid_t) list;
};

static void note_tid(pid_t tid, uint64_t mark, void *arg)
{
	struct tids *tids = arg;
	pid_t *slot = VECTOR_PUSH(&tids->list);

	if (slot)
		*slot = tid;
}

/* The list comes first: a thread that is in it, and among Java's threads then, is one of those. */
static void look_at_all(struct names *n)
{
	struct tids tids = {{NULL, 0, 0}};
	char name[NATIVE_NAME];
	size_t i;

	os_each_thread(note_tid, &tids);
	map_free(&n->known);
	n->all = true;
	look_at_java(n);
	n->all = false;
	for (i = 0; i < tids.list.count; i++) {
		if (map_get(&n->known, (uint64_t)tids.list.items[i]))
			continue;
		native_name(tids.list.items[i], name);
		if (name[0])
			jvm_give_name(tids.list.items[i], 0, name);
	}
	free(tids.list.items);
}

/* ---- the thread ---- */

/* Wait NS, or less when it is the end: false. */
static bool rest(uint64_t ns)
{
	uint64_t at = os_monotonic() + ns;
	struct timespec until = {(time_t)(at / NS_PER_S), (long)(at % NS_PER_S)};
	bool go_on;
	int rc = 0;

	pthread_mutex_lock(&state.lock);
	while (rc == 0 && !state.stop)
		rc = pthread_cond_timedwait(&state.changed, &state.lock, &until);
	go_on = !state.stop;
	pthread_mutex_unlock(&state.lock);
	return go_on;
}

static jfieldID find_field(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jfieldID field = class ? (*env)->GetFieldID(env, class, "name", "Ljava/lang/String;") : NULL;

	if (!field)
		(*env)->ExceptionClear(env);
	return field;
}

static bool is_afresh(void)
{
	bool yes;

	pthread_mutex_lock(&state.lock);
	yes = state.afresh;
	state.afresh = false;
	pthread_mutex_unlock(&state.lock);
	return yes;
}

/* Until the end. */
static void watch(struct names *n)
{
	uint64_t all_due = 0, now, before, took = 0;
	pid_t tid = os_gettid();

	n->name = find_field(n->env);
	do {
		now = os_monotonic();
		before = os_thread_cpu(tid);
		if (is_afresh() || now >= all_due) {
			all_due = now + state.all_every;
			look_at_all(n);
		} else {
			look_at_java(n);
			took = os_thread_cpu(tid) - before;
		}
	} while (rest(MIN(MAX(took * THREAD_NAMES_SHARE, THREAD_NAMES_OFTEN), state.all_every)));
	map_free(&n->known);
}

/* As a thread of the JVM's, until the end: true. False: it gives no names. */
static bool serve(void)
{
	struct names n = {0};
	bool on = true, able;

	/* while the JVM starts it takes no threads */
	while (on && !(jvm_is_live() && jvm_attach("jstrobe names")))
		on = rest(LIVE_LOOK);
	if (!on)
		return true;
	n.env = jvm_jni();
	n.ti = jvm_environment();
	able = n.env && n.ti;
	if (able)
		watch(&n);
	if (n.ti)
		(*n.ti)->DisposeEnvironment(n.ti);
	jvm_detach();
	return able;
}

/* Whether the next session has begun before this thread had the CPU to end, and so it is the next one's. */
static bool goes_on(bool able)
{
	bool yes;

	pthread_mutex_lock(&state.lock);
	yes = able && !state.stop;
	state.alive = yes;
	if (!yes)
		pthread_cond_broadcast(&state.changed);
	pthread_mutex_unlock(&state.lock);
	return yes;
}

static void *run(void *data)
{
	bool able;

	pthread_setname_np(pthread_self(), "jstrobe names"); /* not that of the thread that began it */
	do {
		records_own(os_gettid(), true);
		able = serve();
		records_own(os_gettid(), false);
	} while (goes_on(able));
	return NULL;
}

/* ---- the door ---- */

static void make_ready(void)
{
	if (!state.ready)
		os_condition_init(&state.changed);
	state.ready = true;
}

int thread_names_begin(uint64_t all_every, struct error *err)
{
	int rc = 0;

	make_ready();
	pthread_mutex_lock(&state.lock);
	/* that of the last session may not have ended yet: it goes on, with all names anew */
	state.afresh |= state.alive && state.stop;
	if (!state.alive || state.stop)
		state.all_every = all_every;
	state.stop = false;
	if (!state.alive) {
		rc = thread_start("jstrobe names", run, NULL, err);
		state.alive = rc == 0;
	}
	pthread_mutex_unlock(&state.lock);
	return rc;
}

void thread_names_end(void)
{
	uint64_t at = os_monotonic() + 2 * NS_PER_S;
	struct timespec until = {(time_t)(at / NS_PER_S), (long)(at % NS_PER_S)};
	int rc = 0;

	pthread_mutex_lock(&state.lock);
	state.stop = true;
	if (state.ready)
		pthread_cond_broadcast(&state.changed);
	while (state.alive && rc == 0)
		rc = pthread_cond_timedwait(&state.changed, &state.lock, &until);
	pthread_mutex_unlock(&state.lock);
}
