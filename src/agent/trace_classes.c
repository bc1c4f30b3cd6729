#include "agent/trace_classes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/probe.h"
#include "base/map.h"
#include "os/os.h"

#define BATCH 200u     /* classes changed in one stop of the program */
#define SKIPS_KEPT 2000u
#define NAME_MAX_LENGTH 1024

/* `active`, and all of what the hook changes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_classes *active;

void trace_classes_lock(void)
{
	pthread_mutex_lock(&lock);
}

void trace_classes_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static uint64_t hash(uint64_t h, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return map_hash(h);
}

/* NAME kept, with dots for slashes. */
static uint32_t keep_dotted(struct trace_classes *c, const char *name, size_t length)
{
	char text[NAME_MAX_LENGTH];
	size_t i;

	length = MIN(length, sizeof(text) - 1);
	for (i = 0; i < length; i++)
		text[i] = name[i] == '/' ? '.' : name[i];
	return strings_add(&c->texts, text, length);
}

/* ---- the hook --------------------------------------------------------------------------------- */

static void note_skip(struct trace_classes *c, const char *name, size_t length, const char *reason)
{
	struct trace_skip *s;
	bool fresh = false;

	map_put(&c->skips_known, hash(1, name, length), &fresh);
	if (!fresh)
		return;
	s = c->skipped.count < SKIPS_KEPT ? VECTOR_PUSH(&c->skipped) : NULL;
	if (!s) {
		c->skipped_more++;
		return;
	}
	s->name = keep_dotted(c, name, length);
	s->reason = reason;
}

/* "com/acme/Order.total(I)J" */
static void skip_method(struct trace_classes *c, const struct text *class_name, const struct member *m,
			const char *reason)
{
	char name[NAME_MAX_LENGTH];
	int n = snprintf(name, sizeof(name), "%.*s.%.*s%.*s", class_name->length, class_name->at, m->name.length,
			 m->name.at, m->type.length, m->type.at);

	note_skip(c, name, MIN((size_t)n, sizeof(name) - 1), reason);
}

static bool choose(void *data, const struct rewrite_method *m, uint32_t *id)
{
	struct trace_classes *c = data;
	const struct member *member = m->member;
	struct trace_method *method;
	struct text class_text;
	uint32_t *place;
	uint64_t key;
	bool fresh;

	if (!patterns_match(&c->patterns, m->file, member) ||
	    !class_name(m->file, m->file->this_class, &class_text))
		return false;
	if (probe_uses(&class_text, &member->name)) {
		skip_method(c, &class_text, member, "the probes use it themselves");
		return false;
	}
	*id = 0;
	if (member->access & (ACC_NATIVE | ACC_ABSTRACT))
		return true; /* to be skipped with its reason */
	key = hash(hash(hash(2, class_text.at, class_text.length), member->name.at, member->name.length),
		   member->type.at, member->type.length);
	place = map_put(&c->known, key, &fresh);
	if (place && fresh) {
		method = VECTOR_PUSH(&c->methods);
		if (!method)
			return false;
		method->class_name = keep_dotted(c, class_text.at, class_text.length);
		method->name = strings_add(&c->texts, member->name.at, member->name.length);
		method->type = strings_add(&c->texts, member->type.at, member->type.length);
		*place = (uint32_t)c->methods.count;
	}
	if (!place || !*place)
		return false;
	*id = c->first + *place - 1;
	return true;
}

static void skipped(void *data, const struct rewrite_method *m, uint32_t id, enum skip why)
{
	struct text class_text;

	if (class_name(m->file, m->file->this_class, &class_text))
		skip_method(data, &class_text, m->member, skip_names[why].text);
}

/* BYTES with probes into OUT; lock held. */
static bool change(struct trace_classes *c, const unsigned char *bytes, jint size, const char *name, struct buffer *out)
{
	struct rewrite r = {.probes = probe_names(c->exact), .data = c, .choose = choose, .skipped = skipped};
	uint64_t began = os_monotonic();
	enum skip why;
	unsigned count = rewrite_class(bytes, (size_t)size, &r, out, &why);
	bool fresh;

	c->bytes_read += (uint64_t)size;
	c->rewriting_ns += os_monotonic() - began;
	if (why != SKIP_NONE && name)
		note_skip(c, name, strlen(name), skip_names[why].text);
	if (count && name) {
		map_put(&c->changed, hash(3, name, strlen(name)), &fresh);
		c->class_count += fresh;
	}
	return count;
}

void JNICALL trace_classes_load(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
				jobject domain, jint size, const unsigned char *bytes, jint *new_size,
				unsigned char **new_bytes)
{
	struct buffer out = BUFFER_INIT;
	unsigned char *copy;
	struct text text;

	if (!name)
		return;
	text = (struct text){name, (uint16_t)MIN(strlen(name), (size_t)UINT16_MAX)};
	pthread_mutex_lock(&lock);
	if (active && patterns_touch(&active->patterns, &text) && change(active, bytes, size, name, &out) &&
	    (*ti)->Allocate(ti, (jlong)out.length, &copy) == JVMTI_ERROR_NONE) {
		memcpy(copy, out.data, out.length);
		*new_bytes = copy;
		*new_size = (jint)out.length;
	}
	pthread_mutex_unlock(&lock);
	buffer_free(&out);
}

int trace_classes_init(jvmtiEnv *ti, struct error *err)
{
	jvmtiCapabilities wanted = {.can_retransform_classes = 1, .can_generate_all_class_hook_events = 1};
	jvmtiError rc = (*ti)->AddCapabilities(ti, &wanted);

	if (rc)
		return error_set(err, ENOTSUP, "this JVM does not let classes be changed (JVMTI error %d)", (int)rc);
	return 0;
}

/* ---- classes that are loaded ------------------------------------------------------------------------ */

/* "com/acme/Order" of CLASS; NULL for arrays and primitives. To be deallocated. */
static char *name_of(jvmtiEnv *ti, jclass class)
{
	char *signature = NULL;
	size_t length;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) || !signature)
		return NULL;
	length = strlen(signature);
	if (signature[0] != 'L' || length < 3) {
		(*ti)->Deallocate(ti, (unsigned char *)signature);
		return NULL;
	}
	memmove(signature, signature + 1, length - 2);
	signature[length - 2] = '\0';
	return signature;
}

static bool is_meant(jvmtiEnv *ti, jclass class, struct trace_classes *c, bool remove)
{
	char *name = name_of(ti, class);
	jboolean modifiable = JNI_FALSE;
	struct text text;
	bool meant;

	if (!name)
		return false;
	text = (struct text){name, (uint16_t)MIN(strlen(name), (size_t)UINT16_MAX)};
	pthread_mutex_lock(&lock);
	meant = remove ? map_get(&c->changed, hash(3, name, strlen(name))) != NULL
		       : patterns_touch(&c->patterns, &text);
	if (meant && ((*ti)->IsModifiableClass(ti, class, &modifiable) || !modifiable)) {
		meant = false;
		note_skip(c, name, text.length, "hidden classes cannot be changed");
	}
	pthread_mutex_unlock(&lock);
	(*ti)->Deallocate(ti, (unsigned char *)name);
	return meant;
}

static void refuse(jvmtiEnv *ti, jclass class, struct trace_classes *c)
{
	char *name = name_of(ti, class);

	if (!name)
		return;
	pthread_mutex_lock(&lock);
	note_skip(c, name, strlen(name), "the JVM refused the changed class");
	pthread_mutex_unlock(&lock);
	(*ti)->Deallocate(ti, (unsigned char *)name);
}

/* All of them at once; if the JVM refuses, one by one. */
static void change_batch(jvmtiEnv *ti, const jclass *classes, jint count, struct trace_classes *c)
{
	uint64_t began = os_monotonic(), ns;
	jint i;

	if (count && (*ti)->RetransformClasses(ti, count, classes)) {
		for (i = 0; i < count; i++)
			if ((*ti)->RetransformClasses(ti, 1, &classes[i]))
				refuse(ti, classes[i], c);
	}
	ns = os_monotonic() - began;
	c->batches_ns += ns;
	c->worst_batch_ns = MAX(c->worst_batch_ns, ns);
}

static int change_loaded(jvmtiEnv *ti, JNIEnv *env, struct trace_classes *c, bool remove, struct error *err)
{
	jclass *classes;
	jint count, i, meant = 0;

	if ((*ti)->GetLoadedClasses(ti, &count, &classes))
		return error_set(err, ENOMEM, "the JVM does not tell its classes");
	for (i = 0; i < count; i++) {
		if (is_meant(ti, classes[i], c, remove))
			classes[meant++] = classes[i];
		else
			(*env)->DeleteLocalRef(env, classes[i]);
	}
	for (i = 0; i < meant; i += (jint)BATCH)
		change_batch(ti, classes + i, MIN(meant - i, (jint)BATCH), c);
	for (i = 0; i < meant; i++)
		(*env)->DeleteLocalRef(env, classes[i]);
	(*ti)->Deallocate(ti, (unsigned char *)classes);
	return 0;
}

int trace_classes_put(jvmtiEnv *ti, JNIEnv *env, struct trace_classes *c, struct error *err)
{
	pthread_mutex_lock(&lock);
	active = c;
	pthread_mutex_unlock(&lock);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	return change_loaded(ti, env, c, false, err);
}

void trace_classes_remove(jvmtiEnv *ti, JNIEnv *env, struct trace_classes *c)
{
	struct error ignored;

	pthread_mutex_lock(&lock);
	active = NULL;
	pthread_mutex_unlock(&lock);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	change_loaded(ti, env, c, true, &ignored);
}

void trace_classes_free(struct trace_classes *c)
{
	patterns_free(&c->patterns);
	free(c->methods.items);
	free(c->skipped.items);
	map_free(&c->known);
	map_free(&c->changed);
	map_free(&c->skips_known);
	strings_free(&c->texts);
	memset(c, 0, sizeof(*c));
}
