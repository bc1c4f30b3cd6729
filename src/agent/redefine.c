/*
 * redefine.c - why: a method that was redefined gives its memory back at some later safepoint, and
 * another class's method may stand there next (see signal/era.h). No JVMTI event tells of it but
 * ClassFileLoadHook, which would make each class that is loaded pass through us.
 */
#include "agent/redefine.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/jvm.h"
#include "base/base.h"
#include "signal/zone.h"

typedef jvmtiError(JNICALL *redefine_fn)(jvmtiEnv *, jint, const jvmtiClassDefinition *);
typedef jvmtiError(JNICALL *retransform_fn)(jvmtiEnv *, jint, const jclass *);

static jvmtiEnv *own;
static struct jvmtiInterface_1_ *table; /* the JVM's, in its writable data */
static _Atomic(redefine_fn) redefine;   /* what stood there before */
static _Atomic(retransform_fn) retransform;
static bool standing[2];                /* somebody may call ours, perhaps through a hook of theirs */

static void tell(jclass class)
{
	char *signature = NULL;
	size_t length;

	if (!class || (*own)->GetClassSignature(own, class, &signature, NULL) || !signature)
		return;
	length = strlen(signature);
	if (signature[0] == 'L' && length > 2) {
		signature[length - 1] = '\0';
		jvm_tell_redefined(signature + 1);
	}
	(*own)->Deallocate(own, (unsigned char *)signature);
}

/* While classes change no name is proved; before and after are different eras. */
static void begin(void)
{
	atomic_store(&zone.eras.replacing, true);
	atomic_fetch_add(&zone.eras.redefining, 1);
	atomic_fetch_add(&zone.eras.redefinitions, 1);
}

static void end(void)
{
	atomic_fetch_add(&zone.eras.redefinitions, 1);
	atomic_fetch_sub(&zone.eras.redefining, 1);
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

/*
 * Whether to stand before NOW, which stands in the table. Not if we are called already, through a
 * hook of somebody else who came after us: FORMER is what we pass on to, OURS what we put there.
 */
static bool is_out(void *now, void *ours, void *former, bool standing)
{
	return now != ours && (!standing || now == former);
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
		atomic_store(&zone.eras.replacing, true);
}

/* All environments have one table, but for a JVM that traces JVMTI (-XX:TraceJVMTI): that one is not watched. */
void redefine_watch(jvmtiEnv *ti)
{
	look_for_replacers();
	own = ti;
	table = (struct jvmtiInterface_1_ *)*ti;
	if (is_out(table->RedefineClasses, on_redefine, atomic_load(&redefine), standing[0])) {
		atomic_store(&redefine, table->RedefineClasses);
		__atomic_store_n(&table->RedefineClasses, on_redefine, __ATOMIC_RELEASE);
	}
	if (is_out(table->RetransformClasses, on_retransform, atomic_load(&retransform), standing[1])) {
		atomic_store(&retransform, table->RetransformClasses);
		__atomic_store_n(&table->RetransformClasses, on_retransform, __ATOMIC_RELEASE);
	}
	standing[0] = standing[1] = true;
}

void redefine_unwatch(void)
{
	if (!table)
		return;
	if (table->RedefineClasses == on_redefine) {
		__atomic_store_n(&table->RedefineClasses, atomic_load(&redefine), __ATOMIC_RELEASE);
		standing[0] = false;
	}
	if (table->RetransformClasses == on_retransform) {
		__atomic_store_n(&table->RetransformClasses, atomic_load(&retransform), __ATOMIC_RELEASE);
		standing[1] = false;
	}
}
