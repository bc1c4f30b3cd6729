/*
 * otlp.c - profiles of OpenTelemetry (opentelemetry-proto 1.11, profiles/v1development, ProfilesData): what a Collector
 * takes at /v1development/profiles.
 *
 * There is a Profile for each number that stacks have (samples, CPU time, bytes, …); all of them share one dictionary.
 * Its tables begin with an empty item, which is what 0 means. What the thread was and did are attributes of a sample,
 * trace and span are its link. Two samples of a Profile differ in stack, attributes or link: what agrees is summed up,
 * and has a value for each time at which some of it was taken, where that is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "profile/exports/dictionary.h"
#include "profile/exports/export.h"
#include "profile/writers/protobuf.h"
#include "profile/exports/sample_times.h"
#include "profile/exports/value_types.h"
#include "profile/model/context_text.h"
#include "profile/model/frame_name.h"

/* Field numbers. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES };
enum { SCOPE_NAME = 1, SCOPE_VERSION };
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD,
       PROFILE_ID };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES, SAMPLE_TIMES };
enum { DICTIONARY_MAPPING = 1, DICTIONARY_LOCATION, DICTIONARY_FUNCTION, DICTIONARY_LINK, DICTIONARY_STRING,
       DICTIONARY_ATTRIBUTE, DICTIONARY_STACK };
enum { MAPPING_FILE = 4 };
enum { LOCATION_MAPPING = 1, LOCATION_LINES = 3, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_NAME = 1 };
enum { LINK_TRACE = 1, LINK_SPAN };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum { ANY_TEXT = 1, ANY_NUMBER = 3 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { STACK_LOCATIONS = 1 };

#define LOCATION_TYPE_KEY "profile.frame.type"

/* What differs between samples: stack, link, attributes. */
enum { KEY_STACK, KEY_LINK, KEY_WORDS };
/* An attribute: its key, and a text (0: there is none) or a number in two halves. */
enum { ATTRIBUTE_OF_KEY, ATTRIBUTE_TEXT, ATTRIBUTE_LOW, ATTRIBUTE_HIGH, ATTRIBUTE_WORDS };
/* A link: trace and span. */
enum { LINK_WORDS = 6 };

struct otlp {
	struct buffer *out, dictionary, message, inner, innermost;
	struct dictionary words;
	struct lists stacks;     /* locations, leaf first */
	struct lists attributes, links;
	struct numbers list, key;
	uint32_t types[FRAME_TYPES]; /* attributes of locations */
};

/* The samples of one profile: KEY_* and the numbers of their attributes; and by sample the values of each type. */
struct samples {
	struct lists keys;
	uint64_t *values; /* VALUE_TYPES_MOST for each stack of the profile, which are no fewer */
	uint32_t *of_stack; /* by stack, which sample it is part of */
	struct sample_times times;
	uint64_t *parts, *part_times; /* of one sample, as many as there are moments */
};

static uint32_t number_of(struct otlp *w, struct lists *table, const uint32_t *words, uint32_t count)
{
	uint32_t number = lists_add(table, words, count);

	w->words.failed |= number == LISTS_FAILED;
	return number + 1;
}

static uint32_t attribute(struct otlp *w, const char *key, const char *text, uint64_t number)
{
	const uint32_t words[ATTRIBUTE_WORDS] = {dictionary_text(&w->words, key), dictionary_text(&w->words, text),
						 (uint32_t)number, (uint32_t)(number >> 32)};

	return number_of(w, &w->attributes, words, ATTRIBUTE_WORDS);
}

static void push(struct otlp *w, struct numbers *list, uint32_t value)
{
	uint32_t *item = VECTOR_PUSH(list);

	if (item)
		*item = value;
	else
		w->words.failed = true;
}

/* ---- samples ---- */

static uint32_t link_of(struct otlp *w, const struct profile_trace_context *c)
{
	const uint32_t words[LINK_WORDS] = {(uint32_t)(c->trace_high >> 32), (uint32_t)c->trace_high,
					    (uint32_t)(c->trace_low >> 32), (uint32_t)c->trace_low,
					    (uint32_t)(c->span >> 32), (uint32_t)c->span};

	return c->trace_high | c->trace_low | c->span ? number_of(w, &w->links, words, LINK_WORDS) : 0;
}

/* A key stands once in a sample: those of the program that are called like ours are "label.NAME". */
static void push_labels(struct otlp *w, const char *labels)
{
	struct buffer pair = BUFFER_INIT, key = BUFFER_INIT;
	size_t value;

	while ((labels = trace_context_next_label(labels, &pair, &value))) {
		key.length = 0;
		buffer_printf(&key, "%s%s", strncmp(pair.data, "thread.", 7) == 0 || !*pair.data ? "label." : "",
			      pair.data);
		push(w, &w->key, attribute(w, buffer_text(&key, &pair), pair.data + value, 0));
	}
	w->words.failed |= pair.failed != 0;
	buffer_free(&pair);
	buffer_free(&key);
}

/* Sum up stack S of P, which has COUNT numbers of TYPES. The number of its sample. */
static uint32_t add_sample(struct otlp *w, struct samples *to, const struct profile *p, const struct profile_stack *s,
		       const uint32_t *functions, const struct value_type *types, unsigned count)
{
	const struct profile_trace_context *context =
		s->trace_context ? &p->trace_contexts[s->trace_context - 1] : NULL;
	uint32_t number;
	unsigned i;
	size_t n;

	dictionary_locate(&w->words, p, s, functions, &w->list);
	for (n = 0; n < w->list.count / 2; n++) {
		uint32_t first = w->list.items[n];

		w->list.items[n] = w->list.items[w->list.count - 1 - n];
		w->list.items[w->list.count - 1 - n] = first;
	}
	w->key.count = 0;
	push(w, &w->key, w->words.failed ? 0 : number_of(w, &w->stacks, w->list.items, (uint32_t)w->list.count));
	push(w, &w->key, context ? link_of(w, context) : 0);
	if (p->per_thread && s->thread != PROFILE_NO_THREAD) {
		push(w, &w->key, attribute(w, "thread.name", p->threads[s->thread].name, 0));
		if (p->threads[s->thread].tid)
			push(w, &w->key, attribute(w, "thread.id", "", p->threads[s->thread].tid));
	}
	if (s->state != THREAD_NONE)
		push(w, &w->key, attribute(w, "thread.state", thread_state_names[s->state].word, 0));
	if (context)
		push_labels(w, context->labels);
	number = w->words.failed ? 0 : number_of(w, &to->keys, w->key.items, (uint32_t)w->key.count) - 1;
	for (i = 0; !w->words.failed && i < count; i++)
		to->values[(size_t)number * VALUE_TYPES_MOST + i] += value_of(s, &types[i]);
	return number;
}

/* ---- a Profile ---- */

static void put_type(struct otlp *w, unsigned field, const struct value_type *type)
{
	proto_number(&w->innermost, TYPE_NAME, dictionary_text(&w->words, type->name));
	proto_number(&w->innermost, TYPE_UNIT, dictionary_text(&w->words, type->unit));
	proto_message(&w->inner, field, &w->innermost);
}

static void put_numbers(struct buffer *message, unsigned field, const uint32_t *numbers, uint32_t count,
			struct buffer *scratch)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		proto_varint(scratch, numbers[i]);
	if (count)
		proto_message(message, field, scratch);
}

/* 16 bytes that no other profile has. */
static void put_id(struct otlp *w, const struct profile *p, unsigned type)
{
	uint64_t id[2] = {hash_mix(p->started_at ^ (uint64_t)p->pid << 32 ^ type) | 1,
			  hash_bytes(p->weight_stored + type, p->event, strlen(p->event))};

	proto_bytes(&w->inner, PROFILE_ID, id, sizeof(id));
}

/* VALUE of sample SAMPLE by TYPE: its parts with their times, or the whole. */
static void put_values(struct otlp *w, const struct samples *samples, uint32_t sample, const struct value_type *type,
		       uint64_t value, struct buffer *to)
{
	uint32_t i, n = sample_times_of(&samples->times, sample, type, value, samples->parts, samples->part_times);

	for (i = 0; i < n; i++)
		proto_varint(&w->innermost, samples->parts[i]);
	if (!n)
		proto_varint(&w->innermost, value);
	proto_message(to, SAMPLE_VALUES, &w->innermost);
	for (i = 0; i < n; i++)
		proto_put64(&w->innermost, samples->part_times[i]);
	if (n)
		proto_message(to, SAMPLE_TIMES, &w->innermost);
}

/* The numbers of type number TYPE of P, as one Profile, in w->inner. */
static void put_profile(struct otlp *w, const struct profile *p, const struct samples *samples,
			const struct value_type *types, unsigned type, unsigned count)
{
	struct buffer sample = BUFFER_INIT;
	uint32_t i, n;

	put_type(w, PROFILE_SAMPLE_TYPE, &types[type]);
	for (i = 0; i < samples->keys.places.count; i++) {
		const uint32_t *key = lists_get(&samples->keys, i, &n);
		uint64_t value = samples->values[(size_t)i * VALUE_TYPES_MOST + type];

		if (!value)
			continue;
		proto_number(&sample, SAMPLE_STACK, key[KEY_STACK]);
		put_numbers(&sample, SAMPLE_ATTRIBUTES, key + KEY_WORDS, n - KEY_WORDS, &w->innermost);
		proto_number(&sample, SAMPLE_LINK, key[KEY_LINK]);
		put_values(w, samples, i, &types[type], value, &sample);
		proto_message(&w->inner, PROFILE_SAMPLES, &sample);
	}
	proto_fixed64(&w->inner, PROFILE_TIME, p->started_at);
	proto_number(&w->inner, PROFILE_DURATION, p->duration);
	put_type(w, PROFILE_PERIOD_TYPE, &types[count - 1]);
	proto_number(&w->inner, PROFILE_PERIOD, p->interval);
	put_id(w, p, type);
	buffer_free(&sample);
}

/* All Profiles of P, into SCOPE. */
static void put_profiles(struct otlp *w, const struct profile *p, const struct format_options *options,
			 struct buffer *scope)
{
	struct value_type types[VALUE_TYPES_MOST];
	unsigned count = value_types_of(p, types), type;
	uint32_t *functions = dictionary_functions(&w->words, p, options), i;
	struct samples samples = {.keys = {.slot_count = 0}};

	samples.values = calloc((size_t)p->stack_count + 1, VALUE_TYPES_MOST * sizeof(*samples.values));
	samples.of_stack = calloc((size_t)p->stack_count + 1, sizeof(*samples.of_stack));
	samples.parts = calloc(p->moment_count + 1, sizeof(*samples.parts));
	samples.part_times = calloc(p->moment_count + 1, sizeof(*samples.part_times));
	w->words.failed |= !samples.values || !samples.of_stack || !samples.parts || !samples.part_times;
	for (i = 0; i < p->stack_count && !w->words.failed; i++)
		samples.of_stack[i] = add_sample(w, &samples, p, &p->stacks[i], functions, types, count);
	w->words.failed |= !w->words.failed && !sample_times_build(&samples.times, p, samples.of_stack,
								   (uint32_t)samples.keys.places.count);
	for (type = 0; type < count && !w->words.failed; type++) {
		put_profile(w, p, &samples, types, type, count);
		proto_message(scope, SCOPE_PROFILES_PROFILES, &w->inner);
	}
	lists_free(&samples.keys);
	sample_times_free(&samples.times);
	free(samples.values);
	free(samples.of_stack);
	free(samples.parts);
	free(samples.part_times);
	free(functions);
}

/* ---- the dictionary ---- */

static void put_empty(struct otlp *w, unsigned field)
{
	proto_bytes(&w->dictionary, field, "", 0);
}

static void put_locations(struct otlp *w)
{
	const struct lists *locations = &w->words.locations;
	uint32_t i, n, k;

	put_empty(w, DICTIONARY_LOCATION);
	for (i = 0; i < locations->places.count; i++) {
		const uint32_t *words = lists_get(locations, i, &n);

		proto_number(&w->message, LOCATION_MAPPING, words[LOCATION_IN_MAPPING]);
		for (k = LOCATION_WORDS; k + 1 < n; k += 2) {
			proto_number(&w->inner, LINE_FUNCTION, words[k]);
			proto_number(&w->inner, LINE_NUMBER, words[k + 1]);
			proto_message(&w->message, LOCATION_LINES, &w->inner);
		}
		put_numbers(&w->message, LOCATION_ATTRIBUTES, &w->types[words[LOCATION_OF_TYPE]], 1, &w->inner);
		proto_message(&w->dictionary, DICTIONARY_LOCATION, &w->message);
	}
}

static void put_names(struct otlp *w)
{
	const struct dictionary *t = &w->words;
	uint32_t i;

	put_empty(w, DICTIONARY_MAPPING);
	for (i = 0; i < t->mappings.places.count; i++) {
		proto_number(&w->message, MAPPING_FILE, dictionary_only(&t->mappings, i));
		proto_message(&w->dictionary, DICTIONARY_MAPPING, &w->message);
	}
	put_empty(w, DICTIONARY_FUNCTION);
	for (i = 0; i < t->functions.places.count; i++) {
		proto_number(&w->message, FUNCTION_NAME, dictionary_only(&t->functions, i));
		proto_message(&w->dictionary, DICTIONARY_FUNCTION, &w->message);
	}
	put_empty(w, DICTIONARY_STRING);
	for (i = 1; i <= t->text_places.places.count; i++) {
		const char *text = dictionary_get_text(t, i);

		proto_bytes(&w->dictionary, DICTIONARY_STRING, text, strlen(text));
	}
}

static void put_links(struct otlp *w)
{
	uint32_t i, n, k;

	put_empty(w, DICTIONARY_LINK);
	for (i = 0; i < w->links.places.count; i++) {
		const uint32_t *words = lists_get(&w->links, i, &n);
		unsigned char bytes[4 * LINK_WORDS];

		for (k = 0; k < sizeof(bytes); k++)
			bytes[k] = (unsigned char)(words[k / 4] >> (24 - k % 4 * 8));
		proto_bytes(&w->message, LINK_TRACE, bytes, 16);
		proto_bytes(&w->message, LINK_SPAN, bytes + 16, 8);
		proto_message(&w->dictionary, DICTIONARY_LINK, &w->message);
	}
}

static void put_attributes(struct otlp *w)
{
	uint32_t i, n;

	put_empty(w, DICTIONARY_ATTRIBUTE);
	for (i = 0; i < w->attributes.places.count; i++) {
		const uint32_t *words = lists_get(&w->attributes, i, &n);
		uint64_t number = (uint64_t)words[ATTRIBUTE_HIGH] << 32 | words[ATTRIBUTE_LOW];
		const char *text = words[ATTRIBUTE_TEXT] ? dictionary_get_text(&w->words, words[ATTRIBUTE_TEXT]) : "";

		proto_number(&w->message, ATTRIBUTE_KEY, words[ATTRIBUTE_OF_KEY]);
		if (number)
			proto_number(&w->inner, ANY_NUMBER, number);
		else
			proto_bytes(&w->inner, ANY_TEXT, text, strlen(text));
		proto_message(&w->message, ATTRIBUTE_VALUE, &w->inner);
		proto_message(&w->dictionary, DICTIONARY_ATTRIBUTE, &w->message);
	}
}

static void put_dictionary(struct otlp *w)
{
	uint32_t i, n;

	put_locations(w);
	put_links(w);
	put_attributes(w);
	put_names(w);
	put_empty(w, DICTIONARY_STACK);
	for (i = 0; i < w->stacks.places.count; i++) {
		const uint32_t *words = lists_get(&w->stacks, i, &n);

		put_numbers(&w->message, STACK_LOCATIONS, words, n, &w->inner);
		proto_message(&w->dictionary, DICTIONARY_STACK, &w->message);
	}
	proto_message(w->out, DATA_DICTIONARY, &w->dictionary);
}

/* ---- the whole ---- */

/* Of a resource; a text, or a number if there is none. */
static void put_key_value(struct otlp *w, const char *key, const char *text, uint64_t number)
{
	if (!number && !*text)
		return;
	proto_bytes(&w->inner, KEY_VALUE_KEY, key, strlen(key));
	if (*text)
		proto_bytes(&w->innermost, ANY_TEXT, text, strlen(text));
	else
		proto_number(&w->innermost, ANY_NUMBER, number);
	proto_message(&w->inner, KEY_VALUE_VALUE, &w->innermost);
	proto_message(&w->message, RESOURCE_ATTRIBUTES, &w->inner);
}

static void put_resource(struct otlp *w, const struct profile *p, struct buffer *to)
{
	uint32_t name = dictionary_text(&w->words, p->main_class), jdk = dictionary_text(&w->words, p->jdk);

	put_key_value(w, "service.name", name ? dictionary_get_text(&w->words, name) : "unknown_service:java", 0);
	put_key_value(w, "process.pid", "", p->pid > 0 ? (uint64_t)p->pid : 0);
	put_key_value(w, "process.runtime.version", jdk ? dictionary_get_text(&w->words, jdk) : "", 0);
	proto_message(to, RESOURCE_PROFILES_RESOURCE, &w->message);
}

static void put_scope(struct otlp *w, struct buffer *scope)
{
	proto_bytes(&w->message, SCOPE_NAME, "jstrobe", strlen("jstrobe"));
	proto_bytes(&w->message, SCOPE_VERSION, JSTROBE_VERSION, strlen(JSTROBE_VERSION));
	proto_message(scope, SCOPE_PROFILES_SCOPE, &w->message);
}

static void put_all(struct otlp *w, const struct profile *const *profiles, uint32_t count,
		    const struct format_options *options)
{
	/* in the resource's and scope's places messages are larger than w's own */
	struct buffer resource = BUFFER_INIT, scope = BUFFER_INIT;
	static const char *const types[FRAME_TYPES] = {
		[TYPE_JAVA] = "jvm", [TYPE_NATIVE] = "native", [TYPE_JVM] = "native", [TYPE_KERNEL] = "kernel",
		[TYPE_OTHER] = "jvm",
	};
	uint32_t i;

	for (i = 0; i < FRAME_TYPES; i++)
		w->types[i] = attribute(w, LOCATION_TYPE_KEY, types[i], 0);
	dictionary_program(&w->words, profiles[0]);
	put_resource(w, profiles[0], &resource);
	put_scope(w, &scope);
	for (i = 0; i < count; i++)
		put_profiles(w, profiles[i], options, &scope);
	proto_message(&resource, RESOURCE_PROFILES_SCOPE_PROFILES, &scope);
	proto_message(w->out, DATA_RESOURCE_PROFILES, &resource);
	if (!w->words.failed)
		put_dictionary(w);
	buffer_free(&resource);
	buffer_free(&scope);
}

void export_otlp(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		 struct buffer *out)
{
	struct otlp w = {.out = out, .dictionary = BUFFER_INIT, .message = BUFFER_INIT, .inner = BUFFER_INIT,
			 .innermost = BUFFER_INIT};

	put_all(&w, profiles, count, options);
	if (w.words.failed && !out->failed)
		out->failed = ENOMEM;
	dictionary_free(&w.words);
	lists_free(&w.stacks);
	lists_free(&w.attributes);
	lists_free(&w.links);
	buffer_free(&w.dictionary);
	buffer_free(&w.message);
	buffer_free(&w.inner);
	buffer_free(&w.innermost);
	free(w.list.items);
	free(w.key.items);
}
