/*
 * reference_walk.c - the walk itself: each object gets the number under which it was met first as its tag, and with it
 * by which reference of which object. A shorter way that is met later takes the longer one's place.
 *
 * Classes have tags of their own, which say what their objects are: so the chain can be told without a search for its
 * objects, in which the JVM would go through all tags, and no safepoint could begin. What a WeakReference and its like
 * refer to is not held by them: their own field is not followed. Arrays of primitive types refer to nothing: they get
 * no tag unless they are looked for.
 */
#include "agent/sources/live/reference_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/sources/live/reference_fields.h"
#include "common/base/base.h"
#include "common/base/clock_ns.h"
#include "common/os/os.h"

#define OBJECTS (1u << 20)   /* at most: 16 MB here, some 60 MB in the JVM */
#define CLOCK_EVERY 64       /* references between two looks at the clock */
#define GOOD_ENOUGH 16       /* steps: with chains of so many the walk needs not go on */
#define LOCALS 256           /* methods and threads whose locals are roots, that are told */
/* Tags of classes: their place in `classes`, which field of their objects refers weakly, and what they are. */
#define TAG_PLACE ((1ll << 24) - 1)
#define TAG_FIELD_SHIFT 24
#define TAG_FIELD 0xfffll
#define TAG_CLASS (1ll << 40)
#define TAG_LEAF (1ll << 41)
#define TAG_WEAK (1ll << 42)
#define BY_CLASS (1u << 31)  /* in `from`: the rest is a class's place */
/* Until then the JVM marks what it has met in the objects, and goes through the whole heap to take that back. */
#define JDK_WITHOUT_MARKS 21
#define MARKS_NS_PER_KB 400  /* measured: 160 to 200 */

struct met {
	uint32_t from;       /* number; 0: a root */
	uint32_t kind : 5, depth : 27; /* depth 0: not met yet */
	int32_t index;       /* of field or element, or a place in `locals` */
	uint32_t class;      /* its own one's place + 1; 0: not known */
};

struct local {
	jlong thread;        /* its Thread.getId */
	jmethodID method;
};

struct reference_walk {
	jvmtiEnv *ti;
	struct met *met;     /* by number: first the targets, from 1 on */
	jclass *classes;     /* local references; the array is the JVM's */
	jint class_count;
	uint32_t count, targets, found;
	uint64_t references, until;
	bool passed, full;
	struct local locals[LOCALS];
	uint32_t local_count;
};

/* ---- classes ---- */

static jclass found_class(JNIEnv *env, const char *name)
{
	jclass class = (*env)->FindClass(env, name);

	if (!class)
		(*env)->ExceptionClear(env);
	return class;
}

/* Of objects that hold by all their fields but that one. */
static jlong tag_of_weak(struct reference_walk *w, JNIEnv *env, jclass class)
{
	jlong field = reference_fields_of_interfaces(w->ti, env, class);

	return field <= TAG_FIELD ? TAG_WEAK | field << TAG_FIELD_SHIFT : 0;
}

static void tag_leaves(struct reference_walk *w, JNIEnv *env)
{
	static const char *const names[] = {"[B", "[C", "[D", "[F", "[I", "[J", "[S", "[Z"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		jclass class = found_class(env, names[i]);

		if (!class)
			continue;
		(*w->ti)->SetTag(w->ti, class, TAG_CLASS | TAG_LEAF | TAG_PLACE);
		(*env)->DeleteLocalRef(env, class);
	}
}

/* Objects of the subclasses of Reference refer weakly, or softly, by the field that it has as its first one. */
static int tag_classes(struct reference_walk *w, JNIEnv *env, struct error *err)
{
	jclass reference = found_class(env, "java/lang/ref/Reference");
	jint i;

	if (!reference || (*w->ti)->GetLoadedClasses(w->ti, &w->class_count, &w->classes))
		return error_set(err, ENOTSUP, "roots: this JVM does not tell its classes");
	for (i = 0; i < w->class_count && i < TAG_PLACE; i++) {
		jlong tag = TAG_CLASS | i;

		if ((*env)->IsAssignableFrom(env, w->classes[i], reference))
			tag |= tag_of_weak(w, env, w->classes[i]);
		(*w->ti)->SetTag(w->ti, w->classes[i], tag);
	}
	(*env)->DeleteLocalRef(env, reference);
	tag_leaves(w, env);
	return 0;
}

static jclass class_at(const struct reference_walk *w, uint32_t place)
{
	return place < (uint32_t)w->class_count ? w->classes[place] : NULL;
}

/* ---- before ---- */

int reference_walk_open(struct reference_walk **result, JNIEnv *env, struct error *err)
{
	static const jvmtiCapabilities capability = {.can_tag_objects = 1};
	struct reference_walk *w = calloc(1, sizeof(*w));
	int rc = w ? 0 : error_set(err, ENOMEM, "roots: out of memory");

	*result = w;
	if (rc == 0) {
		w->met = os_reserve(((size_t)OBJECTS + 1) * sizeof(*w->met));
		if (!w->met || os_make_writable(w->met, ((size_t)OBJECTS + 1) * sizeof(*w->met)))
			rc = error_set(err, ENOMEM, "roots: cannot reserve address space");
	}
	if (rc == 0) {
		w->ti = jvm_environment();
		if (!w->ti || (*w->ti)->AddCapabilities(w->ti, &capability))
			rc = error_set(err, ENOTSUP, "roots: this JVM does not let objects be tagged");
	}
	if (rc == 0)
		rc = tag_classes(w, env, err);
	if (rc) {
		reference_walk_close(w, env);
		*result = NULL;
	}
	return rc;
}

bool reference_walk_target(struct reference_walk *w, uint32_t number, jobject object)
{
	jlong tag = 0;

	if (number >= REFERENCE_TARGETS || (*w->ti)->GetTag(w->ti, object, &tag) || tag ||
	    (*w->ti)->SetTag(w->ti, object, (jlong)number + 1))
		return false;
	w->targets++;
	return true;
}

/* ---- at the safepoint, on the JVM's own thread ---- */

static int32_t index_of(struct reference_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info)
{
	struct local l = {0, NULL};
	uint32_t i;

	switch (kind) {
	case JVMTI_HEAP_REFERENCE_FIELD:
	case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
		return info->field.index;
	case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
		return info->array.index;
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
		l = (struct local){info->stack_local.thread_id, info->stack_local.method};
		break;
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		l = (struct local){info->jni_local.thread_id, info->jni_local.method};
		break;
	default:
		return -1;
	}
	for (i = 0; i < w->local_count; i++)
		if (w->locals[i].thread == l.thread && w->locals[i].method == l.method)
			return (int32_t)i;
	if (i == LOCALS)
		return -1;
	w->locals[w->local_count++] = l;
	return (int32_t)i;
}

/* Object NUMBER, of CLASS (a tag), has been met by this reference. */
static void note(struct reference_walk *w, uint32_t number, jlong class, uint32_t from, jvmtiHeapReferenceKind kind,
		 const jvmtiHeapReferenceInfo *info)
{
	/* what a class holds is as good as held by a root */
	uint32_t depth = !from || from & BY_CLASS ? 1 : w->met[from].depth + 1u;
	struct met *m = &w->met[number];

	if (m->depth && m->depth <= depth)
		return;
	if (number <= REFERENCE_TARGETS && (!m->depth || m->depth > GOOD_ENOUGH) && depth <= GOOD_ENOUGH)
		w->found++;
	*m = (struct met){from, (uint32_t)kind, depth, index_of(w, kind, info),
			  class & TAG_CLASS ? (uint32_t)(class & TAG_PLACE) + 1 : 0};
}

static uint32_t from_of(const jlong *tag)
{
	return !tag ? 0 : *tag & TAG_CLASS ? BY_CLASS | (uint32_t)(*tag & TAG_PLACE) : (uint32_t)*tag;
}

static bool is_weak(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class)
{
	return kind == JVMTI_HEAP_REFERENCE_FIELD && class & TAG_WEAK &&
	       info->field.index == (jint)(class >> TAG_FIELD_SHIFT & TAG_FIELD);
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
				 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
				 void *arg)
{
	struct reference_walk *w = arg;

	if (++w->references % CLOCK_EVERY == 0 && clock_ns(CLOCK_MONOTONIC) > w->until) {
		w->passed = true;
		return JVMTI_VISIT_ABORT;
	}
	if (is_weak(kind, info, referrer_class_tag) || (!*tag && class_tag & TAG_LEAF))
		return 0;
	if (*tag & TAG_CLASS)
		return JVMTI_VISIT_OBJECTS;
	if (!*tag) {
		if (w->count == OBJECTS) {
			w->full = true;
			return JVMTI_VISIT_ABORT;
		}
		*tag = ++w->count;
	}
	note(w, (uint32_t)*tag, class_tag, from_of(referrer_tag), kind, info);
	return w->found == w->targets ? JVMTI_VISIT_ABORT : JVMTI_VISIT_OBJECTS;
}

/* Bytes of the heap in use, or all that it may have. */
static uint64_t heap_of(JNIEnv *env, uint64_t most)
{
	jclass class = found_class(env, "java/lang/Runtime");
	jmethodID get, total, left;
	jobject runtime = NULL;
	jlong used = 0;

	if (class && (get = (*env)->GetStaticMethodID(env, class, "getRuntime", "()Ljava/lang/Runtime;")) &&
	    (total = (*env)->GetMethodID(env, class, "totalMemory", "()J")) &&
	    (left = (*env)->GetMethodID(env, class, "freeMemory", "()J")) &&
	    (runtime = (*env)->CallStaticObjectMethod(env, class, get)))
		used = (*env)->CallLongMethod(env, runtime, total) - (*env)->CallLongMethod(env, runtime, left);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	(*env)->DeleteLocalRef(env, runtime);
	(*env)->DeleteLocalRef(env, class);
	return used > 0 ? (uint64_t)used : most;
}

/* What the JVM needs behind the walk, at the same safepoint. */
static uint64_t time_behind(JNIEnv *env, uint64_t heap_most)
{
	return strtoul(jvm_version(), NULL, 10) >= JDK_WITHOUT_MARKS ? 0 :
	       heap_of(env, heap_most) / 1024 * MARKS_NS_PER_KB;
}

int reference_walk_run(struct reference_walk *w, JNIEnv *env, uint64_t most, uint64_t heap_most,
		       struct reference_walk_end *end, struct error *err)
{
	const jvmtiHeapCallbacks callbacks = {.heap_reference_callback = on_reference};
	uint64_t behind = time_behind(env, heap_most), begin = clock_ns(CLOCK_MONOTONIC);
	jvmtiError said;

	if (behind >= most)
		return error_set(err, ENOTSUP, "roots: JVMs before JDK %d go through the whole heap at the end, which "
				 "may take this one %llu ms; --roots-pause is %llu ms", JDK_WITHOUT_MARKS,
				 (unsigned long long)(behind / NS_PER_MS), (unsigned long long)(most / NS_PER_MS));
	w->count = REFERENCE_TARGETS;
	w->until = begin + most - behind;
	said = (*w->ti)->FollowReferences(w->ti, 0, NULL, NULL, &callbacks, w);
	*end = (struct reference_walk_end){clock_ns(CLOCK_MONOTONIC) - begin, w->count - REFERENCE_TARGETS, w->passed,
					   w->full};
	if (said)
		return error_set(err, ENOTSUP, "roots: this JVM does not follow references (JVMTI error %d)",
				 (int)said);
	return 0;
}

/* ---- behind ---- */

/* Chains are told with so many steps at the root and at the object; what lies between is counted. */
#define FIRST_STEPS 12
#define LAST_STEPS 4

static void put_local(struct reference_walk *w, JNIEnv *env, const struct met *m, struct buffer *out)
{
	const struct local *l = m->index >= 0 ? &w->locals[m->index] : NULL;

	buffer_puts(out, m->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL ? "local variable" : "JNI local reference");
	if (l && l->method)
		reference_fields_put_method(w->ti, env, l->method, out);
	if (l)
		buffer_printf(out, " in thread %lld", (long long)l->thread);
}

static void put_root(struct reference_walk *w, JNIEnv *env, const struct met *m, struct buffer *out)
{
	switch (m->kind) {
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		put_local(w, env, m, out);
		break;
	case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
		buffer_puts(out, "JNI global reference");
		break;
	case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
		buffer_puts(out, "class of the system");
		break;
	case JVMTI_HEAP_REFERENCE_MONITOR:
		buffer_puts(out, "monitor");
		break;
	case JVMTI_HEAP_REFERENCE_THREAD:
		buffer_puts(out, "thread");
		break;
	default:
		buffer_puts(out, "the JVM");
	}
}

/* By which reference of an object or class the next one is held. */
static void put_step(struct reference_walk *w, JNIEnv *env, const struct met *m, struct buffer *out)
{
	jclass class = class_at(w, m->from & BY_CLASS ? m->from & ~BY_CLASS : w->met[m->from].class - 1);

	if (!class)
		buffer_puts(out, "?");
	else if (m->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD)
		reference_fields_put(w->ti, env, class, m->index, "static field ", out);
	else if (m->kind == JVMTI_HEAP_REFERENCE_FIELD && !(m->from & BY_CLASS))
		reference_fields_put(w->ti, env, class, m->index, "", out);
	else
		reference_fields_put_class(w->ti, class, m->from & BY_CLASS ? "class " : "", out);
	if (class && m->kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT && out->length > 2)
		out->length -= 1; /* "Object[" */
	if (class && m->kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
		buffer_printf(out, "%d]", m->index);
}

static bool is_begin(const struct met *m)
{
	return !m->from || m->from & BY_CLASS;
}

/* The steps to AT that are told, the root first: *LEFT_OUT of them behind the first ones are not. Their count. */
static uint32_t chain_of(const struct reference_walk *w, uint32_t at, uint32_t *chain, uint32_t *left_out)
{
	uint32_t all = 1, i, place;

	for (i = at; !is_begin(&w->met[i]); i = w->met[i].from)
		all++;
	*left_out = all > FIRST_STEPS + LAST_STEPS ? all - FIRST_STEPS - LAST_STEPS : 0;
	for (i = at, place = all; place > 0; i = w->met[i].from) {
		place--;
		if (place < FIRST_STEPS || !*left_out)
			chain[place] = i;
		else if (place >= FIRST_STEPS + *left_out)
			chain[place - *left_out] = i;
	}
	return all - *left_out;
}

bool reference_walk_put(struct reference_walk *w, JNIEnv *env, uint32_t number, struct buffer *out)
{
	uint32_t chain[FIRST_STEPS + LAST_STEPS], count, left_out, i;

	if (!w->met[number + 1].depth)
		return false;
	count = chain_of(w, number + 1, chain, &left_out);
	for (i = 0; i < count; i++) {
		const struct met *m = &w->met[chain[i]];

		if (i == FIRST_STEPS && left_out)
			buffer_printf(out, " → %u more", left_out);
		buffer_puts(out, i ? " → " : "");
		if (m->from)
			put_step(w, env, m, out);
		else
			put_root(w, env, m, out);
	}
	return true;
}

void reference_walk_close(struct reference_walk *w, JNIEnv *env)
{
	jint i;

	if (!w)
		return;
	for (i = 0; w->classes && i < w->class_count; i++)
		(*env)->DeleteLocalRef(env, w->classes[i]);
	if (w->classes)
		(*w->ti)->Deallocate(w->ti, (unsigned char *)w->classes);
	if (w->ti)
		(*w->ti)->DisposeEnvironment(w->ti);
	if (w->met)
		os_unreserve(w->met, ((size_t)OBJECTS + 1) * sizeof(*w->met));
	free(w);
}
