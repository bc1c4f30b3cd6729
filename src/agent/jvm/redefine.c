/*
 * redefine.c - why: a method that was redefined gives its memory back at some later safepoint, and
 * another class's method may stand there next (see agent/zone/method_epoch.h). No JVMTI event tells of it but
 * ClassFileLoadHook, which would make each class that is loaded pass through us.
 */
#include "agent/jvm/redefine.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/hooks/copies.h"
#include "agent/zone/zone.h"
#include "common/base/base.h"

#define LIMIT_MS 2000 /* another copy changes the table for microseconds */

typedef jvmtiError(JNICALL *redefine_fn)(jvmtiEnv *, jint, const jvmtiClassDefinition *);
typedef jvmtiError(JNICALL *retransform_fn)(jvmtiEnv *, jint, const jclass *);

static jvmtiEnv *own;
static void (*told)(const char *class_name);
static struct jvmtiInterface_1_ *table; /* the JVM's, in its writable data */
static _Atomic(redefine_fn) redefine;   /* what stood there before */
static _Atomic(retransform_fn) retransform;

static void tell(jclass class)
{
	char *signature = NULL;
	size_t length;

	if (!class || (*own)->GetClassSignature(own, class, &signature, NULL) || !signature)
		return;
	length = strlen(signature);
	if (signature[0] == 'L' && length > 2) {
		signature[length - 1] = '\0';
		told(signature + 1);
	}
	(*own)->Deallocate(own, (unsigned char *)signature);
}

/* While classes change no name is proved; before and after are different eras. */
static void begin(void)
{
	atomic_store(&zone.epochs.replacing, true);
	atomic_fetch_add(&zone.epochs.redefining, 1);
	atomic_fetch_add(&zone.epochs.redefinitions, 1);
}

static void end(void)
{
	atomic_fetch_add(&zone.epochs.redefinitions, 1);
	atomic_fetch_sub(&zone.epochs.redefining, 1);
}

static jvmtiError JNICALL on_redefine(jvmtiEnv *env, jint count, const jvmtiClassDefinition *classes)
{
	jvmtiError result;
	jint i;

	for (i = 0; classes && i < count; i++)
		tell(classes[i].klass);
	begin();
	result = atomic_load(&redefine)(env, count, classes);
	end();
	return result;
}

static jvmtiError JNICALL on_retransform(jvmtiEnv *env, jint count, const jclass *classes)
{
	jvmtiError result;
	jint i;

	for (i = 0; classes && i < count; i++)
		tell(classes[i]);
	begin();
	result = atomic_load(&retransform)(env, count, classes);
	end();
	return result;
}

/* One entry of the table: where it is, what we put there, what we call. */
struct entry {
	void **slot;
	void *ours;
	void *_Atomic *former;
};

static void entries(struct entry out[2])
{
	out[0] = (struct entry){(void **)&table->RedefineClasses, (void *)on_redefine, (void *_Atomic *)&redefine};
	out[1] = (struct entry){(void **)&table->RetransformClasses, (void *)on_retransform,
				(void *_Atomic *)&retransform};
}

/* Not if we are called already, through a hook of another tool or copy that came after us. */
static void stand(const struct entry *e, struct copy_link *own_link)
{
	void *now = __atomic_load_n(e->slot, __ATOMIC_ACQUIRE);

	atomic_store(&own_link->wanted, 1);
	if (now == e->ours || (atomic_load(&own_link->handler) && now != atomic_load(e->former)))
		return;
	atomic_store(e->former, now);
	atomic_store(&own_link->former, now);
	atomic_store(&own_link->handler, e->ours);
	__atomic_store_n(e->slot, e->ours, __ATOMIC_RELEASE);
}

/* The copy whose link number I is FUNCTION, and not wanted any more; or NULL. */
static struct copy_link *unwanted(size_t i, const void *function)
{
	struct copy *c;
	uint32_t n;

	for (n = 0; (c = copies_other(n)) != NULL; n++)
		if (!atomic_load(&c->replacing[i].wanted) && atomic_load(&c->replacing[i].handler) == function)
			return &c->replacing[i];
	return NULL;
}

/* Copies that wanted to go while we stood before them go now. */
static void step_aside(const struct entry *e, size_t i)
{
	struct copy_link *own_link = &jstrobe_copy.replacing[i], *gone;
	const void *former = atomic_load(&own_link->former);

	atomic_store(&own_link->wanted, 0);
	if (__atomic_load_n(e->slot, __ATOMIC_ACQUIRE) != e->ours)
		return;
	while ((gone = unwanted(i, former)) != NULL) {
		former = atomic_load(&gone->former);
		atomic_store(&gone->handler, NULL);
	}
	__atomic_store_n(e->slot, (void *)(uintptr_t)former, __ATOMIC_RELEASE);
	atomic_store(&own_link->handler, NULL);
}

/* The libraries through which Java agents and debuggers replace methods: they may have done so before we came. */
static int is_replacer(struct dl_phdr_info *info, size_t size, void *found)
{
	static const char *const names[] = {"/libinstrument.so", "/libjdwp.so"};
	const char *file = strrchr(info->dlpi_name, '/');
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		*(bool *)found |= file && strcmp(file, names[i]) == 0;
	return *(bool *)found;
}

static void look_for_replacers(void)
{
	bool found = false;

	dl_iterate_phdr(is_replacer, &found);
	if (found)
		atomic_store(&zone.epochs.replacing, true);
}

/* All environments have one table, but for a JVM that traces JVMTI (-XX:TraceJVMTI): that one is not watched. */
void redefine_watch(jvmtiEnv *ti, void (*tell_of)(const char *class_name))
{
	struct entry e[2];
	bool locked;
	size_t i;

	look_for_replacers();
	own = ti;
	told = tell_of;
	table = (struct jvmtiInterface_1_ *)*ti;
	entries(e);
	locked = copies_lock(LIMIT_MS);
	for (i = 0; i < ARRAY_LEN(e); i++)
		stand(&e[i], &jstrobe_copy.replacing[i]);
	if (locked)
		copies_unlock();
}

void redefine_unwatch(void)
{
	struct entry e[2];
	bool locked;
	size_t i;

	if (!table)
		return;
	entries(e);
	locked = copies_lock(LIMIT_MS);
	for (i = 0; i < ARRAY_LEN(e); i++)
		step_aside(&e[i], i);
	if (locked)
		copies_unlock();
}
