#include "agent/tracing/trace_classes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tracing/probe.h"
#include "agent/tracing/trace_constructors.h"
#include "agent/tracing/trace_list.h"
#include "agent/tracing/trace_loading.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/os/os.h"

#define SKIPS_KEPT 2000u
#define NAME_MAX_LENGTH 1024

/* `active`, and all of what the hook changes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_classes *active;
static struct trace_loading loading;

void trace_classes_lock(void)
{
	pthread_mutex_lock(&lock);
}

void trace_classes_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Not that of trace_list.h: it is for names of methods as well, told apart by what they begin with. */
static uint64_t hash(uint64_t h, const char *text, size_t length)
{
	return hash_mix(hash_bytes(h, text, length));
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

/* Whether the text NUMBER is what keep_dotted kept of NAME. */
static bool is_kept(const struct trace_classes *c, uint32_t number, const char *name, size_t length)
{
	const char *kept = strings_get(&c->texts, number);
	size_t i;

	length = MIN(length, NAME_MAX_LENGTH - 1u);
	for (i = 0; i < length && kept[i] == (name[i] == '/' ? '.' : name[i]); i++)
		;
	return i == length && !kept[i];
}

/* ---- the hook --------------------------------------------------------------------------------- */

static void note_skip(struct trace_classes *c, const char *name, size_t length, const char *reason)
{
	struct trace_skip *s;
	uint32_t *place;
	uint64_t key;
	bool fresh;

	for (key = hash(1, name, length);; key++) {
		place = map_put(&c->skips_known, key, &fresh);
		if (!place || fresh)
			break;
		/* of those that are only counted no name is kept */
		if (!*place || is_kept(c, c->skipped.items[*place - 1].name, name, length))
			return;
	}
	s = place && c->skipped.count < SKIPS_KEPT ? VECTOR_PUSH(&c->skipped) : NULL;
	if (!s) {
		c->skipped_more++;
		return;
	}
	*place = (uint32_t)c->skipped.count;
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

static uint64_t method_key(const struct text *class_name, const struct text *name, const struct text *type)
{
	return hash(hash(hash(2, class_name->at, class_name->length), name->at, name->length), type->at, type->length);
}

static bool is_text(const struct trace_classes *c, uint32_t number, const struct text *text)
{
	const char *kept = strings_get(&c->texts, number);

	return strlen(kept) == text->length && memcmp(kept, text->at, text->length) == 0;
}

struct wanted {
	const struct trace_classes *classes;
	const struct text *class_name, *name, *type;
};

static bool is_method(uint32_t number, const void *wanted)
{
	const struct wanted *w = wanted;
	const struct trace_method *m = &w->classes->methods.items[number - 1];

	return is_kept(w->classes, m->class_name, w->class_name->at, w->class_name->length) &&
	       is_text(w->classes, m->name, w->name) && is_text(w->classes, m->type, w->type);
}

int64_t trace_classes_find(const struct trace_classes *c, const struct text *class_name, const struct text *name,
			   const struct text *type)
{
	uint64_t key = method_key(class_name, name, type);
	const uint32_t *place;

	for (; (place = map_get(&c->known, key)); key++)
		if (*place && is_method(*place, &(struct wanted){c, class_name, name, type}))
			return (int64_t)*place - 1;
	return -1;
}

/* The number of MEMBER, a new one if need be; 0: no memory. */
static uint32_t number_of(struct trace_classes *c, const struct text *class_name, const struct member *member)
{
	uint32_t *place = map_intern(&c->known, method_key(class_name, &member->name, &member->type), is_method,
				     &(struct wanted){c, class_name, &member->name, &member->type});
	struct trace_method *method;

	if (place && !*place) {
		method = VECTOR_PUSH(&c->methods);
		if (!method)
			return 0;
		method->class_name = keep_dotted(c, class_name->at, class_name->length);
		method->name = strings_add(&c->texts, member->name.at, member->name.length);
		method->type = strings_add(&c->texts, member->type.at, member->type.length);
		method->wait = waits_kind(class_name, &member->name);
		method->since = c->redefined ? os_monotonic() : 0;
		*place = (uint32_t)c->methods.count;
		trace_constructors_note(c->first + *place - 1, class_name, &member->name, &member->type);
	}
	return place && *place && c->first + *place - 1 < TREE_ID_MAX ? c->first + *place - 1 : 0;
}

/* A method that no pattern asked for: time in it may be a wait. */
static bool choose_wait(const struct trace_classes *c, const struct text *class_name, const struct member *m,
			uint32_t *id)
{
	int kind = c->timing == TREE_COUNTS ? -1 : waits_kind(class_name, &m->name);

	if (kind < 0 || (m->access & (ACC_NATIVE | ACC_ABSTRACT)))
		return false;
	*id = (TREE_WAITING + (uint32_t)kind) | TREE_GATE_WAIT << TREE_GATE_SHIFT;
	return true;
}

static bool choose(void *data, const struct rewrite_method *m, uint32_t *id)
{
	struct trace_classes *c = data;
	const struct member *member = m->member;
	struct text class_text;
	bool root, rooted = c->roots.list.count > 0;

	if (!classfile_name(m->file, m->file->this_class, &class_text))
		return false;
	root = rooted && patterns_match(&c->roots, m->file, member);
	if (!patterns_match(&c->patterns, m->file, member) && !root)
		return choose_wait(c, &class_text, member, id);
	if (probe_uses(&class_text, &member->name)) {
		skip_method(c, &class_text, member, "the probes use it themselves");
		return false;
	}
	*id = 0;
	c->chosen++;
	if (member->access & (ACC_NATIVE | ACC_ABSTRACT))
		return true; /* to be skipped with its reason */
	*id = number_of(c, &class_text, member);
	if (*id && rooted && !root)
		*id |= TREE_GATE_OUTSIDE << TREE_GATE_SHIFT;
	if (*id && c->deep)
		*id |= TREE_GATE_DEEP << TREE_GATE_SHIFT;
	return *id;
}

static void skipped(void *data, const struct rewrite_method *m, uint32_t id, enum skip why)
{
	struct text class_text;

	if ((id & ~CODE_GATES) < TREE_ID_MAX && classfile_name(m->file, m->file->this_class, &class_text))
		skip_method(data, &class_text, m->member, skip_names[why].text);
}

/* Whether a method of class NAME could get probes. */
static bool touches(const struct trace_classes *c, const struct text *name, bool annotations)
{
	return patterns_touch(&c->patterns, name, annotations) || patterns_touch(&c->roots, name, annotations) ||
	       (c->timing != TREE_COUNTS && waits_touch(name));
}

static bool is_changed(uint32_t number, const void *wanted)
{
	const struct wanted *w = wanted;

	return is_kept(w->classes, number, w->class_name->at, w->class_name->length);
}

/* Class NAME has probes; whether it had none before. */
static bool note_changed(struct trace_classes *c, const char *name)
{
	uint32_t *text = map_intern(&c->changed, trace_list_hash(name, strlen(name)), is_changed,
				    &(struct wanted){.classes = c, .class_name = &(struct text){name, strlen(name)}});

	if (!text || *text)
		return false;
	*text = keep_dotted(c, name, strlen(name));
	return true;
}

/* BYTES with probes into OUT; lock held. */
static bool change(struct trace_classes *c, const unsigned char *bytes, jint size, const char *name, struct buffer *out)
{
	struct rewrite_probes probes = probe_names(c->timing, c->jdk);
	struct rewrite r = {.probes = &probes, .data = c, .choose = choose, .skipped = skipped};
	uint64_t began = os_monotonic();
	enum skip why;
	unsigned count;

	c->chosen = 0;
	count = rewrite_class(bytes, (size_t)size, &r, out, &why);
	c->bytes_read += (uint64_t)size;
	c->rewriting_ns += os_monotonic() - began;
	if (why != SKIP_NONE && name)
		note_skip(c, name, strlen(name), skip_names[why].text);
	if (count && name) {
		bool first = note_changed(c, name);

		c->class_count += first && c->chosen;
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
	if (active && touches(active, &text, true)) {
		active->redefined = redefined != NULL;
		if (change(active, bytes, size, name, &out) &&
		    (*ti)->Allocate(ti, (jlong)out.length, &copy) == JVMTI_ERROR_NONE) {
			memcpy(copy, out.data, out.length);
			*new_bytes = copy;
			*new_size = (jint)out.length;
		}
		if (redefined)
			active->last_hook = os_monotonic();
		else
			trace_loading_hooked(&loading, &(struct trace_hooked){
				.name = trace_list_hash(name, strlen(name)), .tid = os_gettid(),
				.session = active->session, .changed = out.length, .at = os_monotonic()});
	}
	pthread_mutex_unlock(&lock);
	buffer_free(&out);
}

int trace_classes_init(jvmtiEnv *ti, struct error *err)
{
	jvmtiCapabilities wanted = {.can_retransform_classes = 1, .can_generate_all_class_hook_events = 1,
				    .can_generate_monitor_events = 1, .can_get_line_numbers = 1};
	jvmtiCapabilities helpful = {.can_get_constant_pool = 1};
	jvmtiError rc = (*ti)->AddCapabilities(ti, &wanted);

	(*ti)->AddCapabilities(ti, &helpful);
	if (rc)
		return error_set(err, ENOTSUP, "this JVM does not let classes be changed (JVMTI error %d)", (int)rc);
	return 0;
}

/* ---- beginning and end --------------------------------------------------------------------------- */

/* Whether CLASS may have an annotation that is asked for. */
static bool is_annotated(const struct trace_classes *c, jvmtiEnv *ti, jclass class)
{
	unsigned char *pool;
	jint count, size;
	bool may;

	if ((*ti)->GetConstantPool(ti, class, &count, &size, &pool))
		return true;
	may = patterns_in_pool(&c->patterns, pool, (size_t)size, (unsigned)count) ||
	      patterns_in_pool(&c->roots, pool, (size_t)size, (unsigned)count);
	(*ti)->Deallocate(ti, pool);
	return may;
}

bool trace_classes_touch(const struct trace_classes *c, jvmtiEnv *ti, jclass class, const struct text *name)
{
	return touches(c, name, false) || (touches(c, name, true) && is_annotated(c, ti, class));
}

bool trace_classes_waits(const struct text *name)
{
	return waits_touch(name);
}

void trace_classes_refuse(struct trace_classes *c, const struct text *name, const char *reason)
{
	pthread_mutex_lock(&lock);
	note_skip(c, name->at, name->length, reason);
	pthread_mutex_unlock(&lock);
}

void trace_classes_begin(jvmtiEnv *ti, struct trace_classes *c)
{
	static uint32_t sessions;

	pthread_mutex_lock(&lock);
	c->session = ++sessions;
	active = c;
	pthread_mutex_unlock(&lock);
	/* first this: no class comes in between that passed no hook and is told by no event */
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
}

void trace_classes_end(jvmtiEnv *ti)
{
	pthread_mutex_lock(&lock);
	active = NULL;
	pthread_mutex_unlock(&lock);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
}

/* ---- classes that are there now --------------------------------------------------------------------- */

/* Classes that were found to have too few or too many probes as they came; trace_work takes them from here. */
static VECTOR(uint64_t) strays;
static void (*on_stray)(void);

void trace_classes_on_stray(void (*to)(void))
{
	on_stray = to;
}

/* Whether the class that thread TID has now must be changed: it has another session's probes, or none. Locked. */
static bool is_stray(const struct text *name, uint64_t name_hash)
{
	struct trace_hooked h = {.session = 0};

	if (trace_loading_defined(&loading, os_gettid(), name_hash, &h) && active && h.session == active->session)
		return false;
	return h.changed || (active && touches(active, name, true));
}

void JNICALL trace_classes_loaded(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class)
{
	char *name = trace_list_name(ti, class);
	struct text text;
	uint64_t *stray = NULL;

	if (!name)
		return;
	text = (struct text){name, (uint16_t)MIN(strlen(name), (size_t)UINT16_MAX)};
	pthread_mutex_lock(&lock);
	/* the names of hidden classes have a dot or, before JDK 15, end in a number; these pass no hook */
	if (!strchr(name, '.') && is_stray(&text, trace_list_hash(name, strlen(name)))) {
		stray = VECTOR_PUSH(&strays);
		if (stray)
			*stray = trace_list_hash(name, strlen(name));
	}
	pthread_mutex_unlock(&lock);
	if (stray && on_stray)
		on_stray();
	(*ti)->Deallocate(ti, (unsigned char *)name);
}

void trace_classes_take_strays(struct map *names)
{
	size_t i;

	map_clear(names);
	pthread_mutex_lock(&lock);
	for (i = 0; i < strays.count; i++)
		map_put(names, strays.items[i], NULL);
	strays.count = 0;
	pthread_mutex_unlock(&lock);
}

uint32_t trace_classes_loading(uint64_t since)
{
	uint32_t count;

	pthread_mutex_lock(&lock);
	trace_loading_forget_dead(&loading);
	count = trace_loading_count(&loading, since);
	pthread_mutex_unlock(&lock);
	return count;
}

void trace_classes_loading_over(jvmtiEnv *ti)
{
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	pthread_mutex_lock(&lock);
	trace_loading_free(&loading);
	free(strays.items);
	memset(&strays, 0, sizeof(strays));
	pthread_mutex_unlock(&lock);
}

void trace_classes_free(struct trace_classes *c)
{
	patterns_free(&c->patterns);
	patterns_free(&c->roots);
	free(c->methods.items);
	free(c->skipped.items);
	map_free(&c->known);
	map_free(&c->changed);
	map_free(&c->skips_known);
	strings_free(&c->texts);
	memset(c, 0, sizeof(*c));
}
