#include "profile/readers/jfr/chunk_names.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/hash.h"
#include "profile/readers/jfr/chunk_frames.h"
#include "profile/readers/jfr/jfr_reader.h"

#define SLOTS_KEPT LIMIT_BYTES(16384)
#define CHAIN_MAX 4 /* class → symbol → string */

static const struct wanted stack_fields[] = {{"truncated", STACK_TRUNCATED}, {"frames", STACK_FRAMES}};
static const struct wanted frame_fields[] = {
	{"method", IN_METHOD}, {"lineNumber", IN_LINE}, {"type", IN_KIND}, {"bytecodeIndex", IN_BCI}};
static const struct wanted method_fields[] = {
	{"type", METHOD_TYPE}, {"name", METHOD_NAME}, {"descriptor", METHOD_SIGNATURE},
	{"modifiers", METHOD_MODIFIERS}};
static const struct wanted thread_fields[] = {
	{"osName", OS_NAME}, {"osThreadId", OS_ID}, {"javaName", JAVA_NAME}, {"javaThreadId", JAVA_ID}};
static const uint8_t usual_frame[] = {IN_METHOD, IN_LINE, IN_BCI, IN_KIND};

/* The first field of TYPE that leads to a text: its name comes before others in every known type. */
static void find_way(struct names *n, uint32_t type)
{
	const struct metadata_type *t = &n->metadata->types.items[type];
	struct text_way *way = &n->ways[type];
	uint32_t i;

	way->known = true;
	way->layout = LAYOUT_NONE;
	way->string = type == n->string_type;
	for (i = 0; !way->string && way->layout == LAYOUT_NONE && i < t->count; i++) {
		const struct metadata_field *f = &n->metadata->fields.items[t->first + i];
		const struct wanted wanted = {f->name, 0};
		bool name = strcmp(f->name, "name") == 0 || t->count == 1;

		if (f->array || f->type == METADATA_NONE ||
		    (f->type != n->string_type && !(f->pooled && name)))
			continue;
		way->layout = field_layout_up_to(n->layouts, type, &wanted, 1);
		way->pooled = f->pooled;
		way->type = f->type;
	}
}

/* Constants of TYPE will be asked for, and what its texts are made of. */
static void want(struct names *n, uint32_t type, unsigned chain)
{
	if (type == METADATA_NONE || chain > CHAIN_MAX)
		return;
	n->pools->of_type[type].wanted = true;
	if (!n->ways[type].known)
		find_way(n, type);
	if (n->ways[type].layout != LAYOUT_NONE && n->ways[type].pooled)
		want(n, n->ways[type].type, chain + 1);
}

void names_want(struct names *n, uint32_t type)
{
	want(n, type, 0);
}

/* FIELD of TYPE, or NULL; the constants that it refers to will be asked for. */
static const struct metadata_field *want_field(struct names *n, uint32_t type, const char *field)
{
	const struct metadata_field *f = metadata_field_of(n->metadata, type, field);

	if (f && f->pooled)
		want(n, f->type, 0);
	return f;
}

static void find_types(struct names *n)
{
	const struct metadata *m = n->metadata;
	const struct metadata_field *kind;

	n->string_type = metadata_by_name(m, "java.lang.String");
	n->stack_type = metadata_by_name(m, "jdk.types.StackTrace");
	n->frame_type = metadata_by_name(m, "jdk.types.StackFrame");
	n->method_type = metadata_by_name(m, "jdk.types.Method");
	n->class_type = metadata_by_name(m, "java.lang.Class");
	n->thread_type = metadata_by_name(m, "java.lang.Thread");
	n->state_type = metadata_by_name(m, "jdk.types.ThreadState");
	kind = metadata_field_of(m, n->frame_type, "type");
	n->frame_kind_type = kind && kind->pooled ? kind->type : METADATA_NONE;
}

int names_init(struct names *n, struct read_aggregate *aggregate, bool lines)
{
	memset(n, 0, sizeof(*n));
	buffer_init(&n->text, -1);
	n->aggregate = aggregate;
	n->lines = lines;
	n->factor = seed();
	n->empty_stack = lists_add(&aggregate->stacks, NULL, 0);
	return n->empty_stack == LISTS_FAILED ? -ENOMEM : 0;
}

static void find_layouts(struct names *n)
{
	n->stack_layout = field_layout_up_to(n->layouts, n->stack_type, stack_fields, ARRAY_LEN(stack_fields));
	n->frame_layout = field_layout_of_elements(n->layouts, n->stack_type, "frames", frame_fields,
						   ARRAY_LEN(frame_fields));
	n->method_layout = field_layout_up_to(n->layouts, n->method_type, method_fields, ARRAY_LEN(method_fields));
	n->thread_layout = field_layout_up_to(n->layouts, n->thread_type, thread_fields, ARRAY_LEN(thread_fields));
	n->usual = !n->bci && n->frame_layout != LAYOUT_NONE &&
		   field_layout_is_row(n->layouts, n->frame_layout, usual_frame, ARRAY_LEN(usual_frame));
}

int names_learn(struct names *n, const struct metadata *metadata, struct field_layouts *layouts, struct pools *pools)
{
	const uint32_t *types[] = {&n->stack_type, &n->method_type, &n->class_type, &n->thread_type,
				   &n->state_type, &n->string_type, &n->frame_kind_type};
	size_t i;

	n->metadata = metadata;
	n->layouts = layouts;
	n->pools = pools;
	n->wide = layouts->wide;
	free(n->ways);
	n->ways = calloc(metadata->types.count + 1, sizeof(*n->ways));
	if (!n->ways)
		return -ENOMEM;
	find_types(n);
	for (i = 0; i < ARRAY_LEN(types); i++)
		want(n, *types[i], 0);
	n->method_class = want_field(n, n->method_type, "type");
	n->method_name = want_field(n, n->method_type, "name");
	n->method_signature = want_field(n, n->method_type, "descriptor");
	n->java_name = want_field(n, n->thread_type, "javaName");
	n->os_name = want_field(n, n->thread_type, "osName");
	find_layouts(n);
	return layouts->no_memory ? -ENOMEM : 0;
}

void names_begin(struct names *n)
{
	/* the room that a large chunk took is not cleared for each of many small ones */
	if (n->slot_count > SLOTS_KEPT && n->slots_used < n->slot_count / 16) {
		free(n->slots);
		n->slots = NULL;
		n->slot_count = 0;
	}
	if (n->slots_used && n->slots)
		memset(n->slots, 0, n->slot_count * sizeof(*n->slots));
	n->slots_used = 0;
	n->methods.count = 0;
}

void names_free(struct names *n)
{
	free(n->ways);
	free(n->slots);
	free(n->list.items);
	free(n->said_frames.items);
	free(n->methods.items);
	map_free(&n->objects);
	lists_free(&n->said);
	buffer_free(&n->text);
}

struct reader names_reader(const struct names *n, uint64_t at)
{
	struct reader r = read_between(n->pools->end, n->pools->end, n->wide);

	if (at >= (uintptr_t)n->pools->begin && at < (uintptr_t)n->pools->end)
		r.c.at = (const uint8_t *)(uintptr_t)at;
	else
		read_fail(&r);
	return r;
}

/* ---- texts ---- */

/* Append what a string at AT says; *KEY is set if it is in the pool. */
static uint32_t keep_text(struct names *n, struct reader *r, unsigned chain);

static uint32_t text_by_key(struct names *n, uint32_t type, uint64_t key, unsigned chain)
{
	struct constant *constant;
	uint64_t slot = 0;
	struct text_way *way;
	struct reader r;
	uint32_t place, result;

	/* of stacks, threads and methods something else is known than a text */
	if (type == METADATA_NONE || type == n->stack_type || type == n->thread_type || type == n->method_type ||
	    chain > CHAIN_MAX)
		return 0;
	place = pool_find(&n->pools->of_type[type], key);
	if (place == POOL_NO_PLACE)
		return 0;
	constant = &n->pools->of_type[type].constants.items[place];
	way = &n->ways[type];
	if (constant->known)
		return constant->known - 1;
	if (!way->known)
		find_way(n, type);
	r = names_reader_at(n, constant->at);
	if (way->string) {
		result = keep_text(n, &r, chain);
	} else if (way->layout == LAYOUT_NONE) {
		return 0;
	} else {
		field_layout_read(n->layouts, way->layout, &r, &slot);
		if (way->pooled) {
			result = text_by_key(n, way->type, slot, chain + 1);
		} else {
			r = names_reader(n, slot);
			result = keep_text(n, &r, chain);
		}
	}
	constant->known = result + 1;
	return result;
}

static uint32_t keep_text(struct names *n, struct reader *r, unsigned chain)
{
	const char *text;
	uint64_t key;
	size_t length;

	if (text_plain(r, &text, &length))
		return strings_add(&n->aggregate->strings, text, length);
	n->text.length = 0;
	if (text_read(r, &n->text, &key) == TEXT_POOLED)
		return text_by_key(n, n->string_type, key, chain + 1);
	n->aggregate->no_memory |= n->text.failed != 0;
	return n->text.failed ? 0 : strings_add(&n->aggregate->strings, n->text.data, n->text.length);
}

uint32_t names_text(struct names *n, uint32_t type, uint64_t key)
{
	return text_by_key(n, type, key, 0);
}

uint32_t names_string(struct names *n, uint64_t at)
{
	struct reader r = names_reader(n, at);

	return keep_text(n, &r, 0);
}

uint32_t names_field_text(struct names *n, const struct metadata_field *field, uint64_t slot)
{
	if (!field)
		return 0;
	if (field->pooled)
		return names_text(n, field->type, slot);
	return field->type == n->string_type && slot ? names_string(n, slot) : 0;
}

/* ---- threads ---- */

uint32_t names_thread(struct names *n, uint32_t place)
{
	struct pool *pool = &n->pools->of_type[n->thread_type];
	struct constant *constant = &pool->constants.items[place];
	uint32_t words[READ_THREAD_WORDS] = {0}, number;
	uint64_t slots[THREAD_SLOTS] = {0};
	struct reader r = names_reader_at(n, constant->at);

	if (constant->known)
		return constant->known - 1;
	if (n->thread_layout == LAYOUT_NONE || n->aggregate->no_memory)
		return LISTS_FAILED;
	field_layout_read(n->layouts, n->thread_layout, &r, slots);
	words[READ_THREAD_TID] = (uint32_t)slots[OS_ID];
	words[READ_THREAD_JAVA_ID] = (uint32_t)slots[JAVA_ID];
	words[READ_THREAD_NAME] = names_field_text(n, n->java_name, slots[JAVA_NAME]);
	if (!words[READ_THREAD_NAME])
		words[READ_THREAD_NAME] = names_field_text(n, n->os_name, slots[OS_NAME]);
	if (!read_aggregate_text(n->aggregate, strlen(names_text_of(n, words[READ_THREAD_NAME]))))
		return LISTS_FAILED;
	number = lists_add(&n->aggregate->threads, words, READ_THREAD_WORDS);
	if (number == LISTS_FAILED)
		n->aggregate->no_memory = true;
	else
		constant->known = number + 1;
	return number;
}
