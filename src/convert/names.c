#include "convert/names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/names.h"
#include "convert/text.h"

#define NAMES_METHODS_MAX 1000000 /* beyond, their frames are looked up by hash */
#define CHAIN_MAX 4 /* class → symbol → string */

/* Slots of the shapes below. */
enum { STACK_TRUNCATED, STACK_FRAMES, STACK_SLOTS };
enum { IN_METHOD, IN_LINE, IN_KIND, IN_BCI, FRAME_SLOTS };
enum { METHOD_TYPE, METHOD_NAME, METHOD_SIGNATURE, METHOD_SLOTS };
enum { OS_NAME, OS_ID, JAVA_NAME, JAVA_ID, THREAD_SLOTS };

static const struct wanted stack_fields[] = {{"truncated", STACK_TRUNCATED}, {"frames", STACK_FRAMES}};
static const struct wanted frame_fields[] = {
	{"method", IN_METHOD}, {"lineNumber", IN_LINE}, {"type", IN_KIND}, {"bytecodeIndex", IN_BCI}};
static const struct wanted method_fields[] = {
	{"type", METHOD_TYPE}, {"name", METHOD_NAME}, {"descriptor", METHOD_SIGNATURE}};
static const struct wanted thread_fields[] = {
	{"osName", OS_NAME}, {"osThreadId", OS_ID}, {"javaName", JAVA_NAME}, {"javaThreadId", JAVA_ID}};

static const struct metadata_field *field_of(const struct metadata *m, uint32_t type, const char *name)
{
	const struct metadata_type *t = type == METADATA_NONE ? NULL : &m->types.items[type];
	uint32_t i;

	for (i = 0; t && i < t->count; i++)
		if (strcmp(m->fields.items[t->first + i].name, name) == 0)
			return &m->fields.items[t->first + i];
	return NULL;
}

/* The first field of TYPE that leads to a text: its name comes before others in every known type. */
static void find_way(struct names *n, uint32_t type)
{
	const struct metadata_type *t = &n->metadata->types.items[type];
	struct text_way *way = &n->ways[type];
	uint32_t i;

	way->known = true;
	way->shape = SHAPE_NONE;
	way->string = type == n->string_type;
	for (i = 0; !way->string && way->shape == SHAPE_NONE && i < t->count; i++) {
		const struct metadata_field *f = &n->metadata->fields.items[t->first + i];
		const struct wanted wanted = {f->name, 0};
		bool name = strcmp(f->name, "name") == 0 || t->count == 1;

		if (f->array || f->type == METADATA_NONE ||
		    (f->type != n->string_type && !(f->pooled && name)))
			continue;
		way->shape = shape_of(n->shapes, type, &wanted, 1);
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
	if (n->ways[type].shape != SHAPE_NONE && n->ways[type].pooled)
		want(n, n->ways[type].type, chain + 1);
}

void names_want(struct names *n, uint32_t type)
{
	want(n, type, 0);
}

/* Constants that FIELD of TYPE refers to. */
static void want_field(struct names *n, uint32_t type, const char *field)
{
	const struct metadata_field *f = field_of(n->metadata, type, field);

	if (f && f->pooled)
		want(n, f->type, 0);
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
	kind = field_of(m, n->frame_type, "type");
	n->frame_kind_type = kind && kind->pooled ? kind->type : METADATA_NONE;
}

int names_begin(struct names *n, struct fold *fold, const struct metadata *metadata,
		struct shapes *shapes, struct pools *pools, bool lines)
{
	const uint32_t *types[] = {&n->stack_type, &n->method_type, &n->class_type, &n->thread_type,
				   &n->state_type, &n->string_type, &n->frame_kind_type};
	size_t i;

	memset(n, 0, sizeof(*n));
	buffer_init(&n->text, -1);
	n->fold = fold;
	n->metadata = metadata;
	n->shapes = shapes;
	n->pools = pools;
	n->lines = lines;
	n->wide = shapes->wide;
	n->ways = calloc(metadata->types.count + 1, sizeof(*n->ways));
	if (!n->ways)
		return -ENOMEM;
	find_types(n);
	for (i = 0; i < ARRAY_LEN(types); i++)
		want(n, *types[i], 0);
	for (i = 0; i < ARRAY_LEN(method_fields); i++)
		want_field(n, n->method_type, method_fields[i].field);
	for (i = 0; i < ARRAY_LEN(thread_fields); i++)
		want_field(n, n->thread_type, thread_fields[i].field);
	n->stack_shape = shape_of(shapes, n->stack_type, stack_fields, ARRAY_LEN(stack_fields));
	n->frame_shape = shape_of_elements(shapes, n->stack_type, "frames", frame_fields,
					   ARRAY_LEN(frame_fields));
	n->method_shape = shape_of(shapes, n->method_type, method_fields, ARRAY_LEN(method_fields));
	n->thread_shape = shape_of(shapes, n->thread_type, thread_fields, ARRAY_LEN(thread_fields));
	n->empty_stack = lists_add(&fold->stacks, NULL, 0);
	return shapes->no_memory || n->empty_stack == LISTS_FAILED ? -ENOMEM : 0;
}

void names_end(struct names *n)
{
	free(n->ways);
	free(n->by_method);
	free(n->slots);
	free(n->list);
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

static struct reader reader_at(const struct names *n, const uint8_t *at)
{
	return read_between(at, n->pools->end, n->wide);
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

	/* of stacks and threads something else is known than a text */
	if (type == METADATA_NONE || type == n->stack_type || type == n->thread_type ||
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
	r = reader_at(n, constant->at);
	if (way->string) {
		result = keep_text(n, &r, chain);
	} else if (way->shape == SHAPE_NONE) {
		return 0;
	} else {
		shape_read(n->shapes, way->shape, &r, &slot);
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
	uint64_t key;

	n->text.length = 0;
	if (text_read(r, &n->text, &key) == TEXT_POOLED)
		return text_by_key(n, n->string_type, key, chain + 1);
	n->fold->no_memory |= n->text.failed != 0;
	return n->text.failed ? 0 : strings_add(&n->fold->strings, n->text.data, n->text.length);
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

/* A field of a constant: a key or a string, as the metadata say. */
static uint32_t field_text(struct names *n, uint32_t type, const char *name, uint64_t slot)
{
	const struct metadata_field *f = field_of(n->metadata, type, name);

	if (!f)
		return 0;
	if (f->pooled)
		return names_text(n, f->type, slot);
	return f->type == n->string_type && slot ? names_string(n, slot) : 0;
}

/* ---- frames ---- */

static const char *text_of(const struct names *n, uint32_t number)
{
	return strings_get(&n->fold->strings, number);
}

/*
 * The JDK has "Native" for Java methods without bytecode; async-profiler, and we, have it for the
 * code of libraries too, with the library as class and a descriptor that no Java method can have.
 */
static bool is_java(const char *kind, const char *class_name, const char *signature)
{
	size_t n = strlen(signature);

	if (strcmp(kind, "Kernel") == 0 || strcmp(kind, "C++") == 0 || strcmp(kind, "Profiler") == 0)
		return false;
	if (strcmp(kind, "Native") != 0)
		return *class_name != '\0';
	if (!*class_name || strstr(class_name, ".so") || strcmp(class_name, "[vdso]") == 0)
		return false;
	return signature[0] == '(' && n > 2 && strcmp(signature + n - 2, "L;") != 0;
}

static enum frame_kind kind_of(const char *kind, bool java, bool library, const char *name)
{
	static const struct {
		const char *word;
		enum frame_kind kind;
	} kinds[] = {
		{"Interpreted", FRAME_INTERPRETED}, {"JIT compiled", FRAME_C2},
		{"Inlined", FRAME_INLINED}, {"C1 compiled", FRAME_C1}, {"Native", FRAME_NATIVE},
		{"C++", FRAME_NATIVE}, {"Kernel", FRAME_KERNEL},
		{"Java native", FRAME_WRAPPER}, {"Profiler", FRAME_OTHER},
	};
	size_t i, length = strlen(name);

	/* "[break_native]", "[unknown_Java]": what a profiler has to say; code of a library may be "[libz.so.1]" */
	if (!java && !library && length > 1 && name[0] == '[' && name[length - 1] == ']')
		return FRAME_OTHER;
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].word, kind) == 0)
			return java && kinds[i].kind == FRAME_NATIVE ? FRAME_WRAPPER : kinds[i].kind;
	return java ? FRAME_INTERPRETED : FRAME_OTHER;
}

/* Our own recordings have a class for what is in no library. */
static uint32_t library_of(const struct names *n, uint32_t name)
{
	static const char *const none[] = {"kernel", "jvm", "jstrobe"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(none); i++)
		if (strcmp(text_of(n, name), none[i]) == 0)
			return 0;
	return name;
}

/* Kernel symbols may carry the ending that our writers add. */
static uint32_t without_ending(struct names *n, uint32_t name)
{
	const char *text = text_of(n, name);
	size_t length = strlen(text);

	if (length <= 4 || strcmp(text + length - 4, "_[k]") != 0)
		return name;
	n->text.length = 0;
	buffer_append(&n->text, text, length - 4);
	return n->text.failed ? name : strings_add(&n->fold->strings, n->text.data, length - 4);
}

/*
 * A class as the JVM itself calls it, "java/util/HashMap", "Foo$$Lambda$14+0x0000000800c03000". The JDK
 * writes hidden classes as "demo.Foo$$Lambda$14+0x0000000800c03000/1234567" (17), or
 * "demo.Foo$$Lambda/0x0000000800c03000" (25); some recorders write dots in all names.
 */
static uint32_t as_in_the_jvm(struct names *n, uint32_t name)
{
	const char *text = text_of(n, name), *plus = strstr(text, "+0x");
	const char *hidden = plus ? plus : strstr(text, "/0x");
	size_t i, head = hidden ? (size_t)(hidden - text) : strlen(text);
	size_t tail = hidden ? 1 + strcspn(hidden + 1, "/") : 0;

	if (memchr(text, '/', head) || (!hidden && !strchr(text, '.')))
		return name;
	n->text.length = 0;
	for (i = 0; i < head; i++)
		buffer_putc(&n->text, text[i] == '.' ? '/' : text[i]);
	if (hidden) {
		buffer_putc(&n->text, '+');
		buffer_append(&n->text, hidden + 1, tail - 1);
	}
	return n->text.failed ? name : strings_add(&n->fold->strings, n->text.data, n->text.length);
}

static uint32_t make_frame(struct names *n, uint64_t method, uint64_t kind_key, uint32_t line)
{
	uint32_t words[FOLD_FRAME_WORDS] = {0}, class_name, kind;
	uint64_t slots[METHOD_SLOTS] = {0};
	const struct pool *pool;
	uint32_t place = POOL_NO_PLACE;
	bool java = false;

	if (n->method_type != METADATA_NONE && n->method_shape != SHAPE_NONE) {
		pool = &n->pools->of_type[n->method_type];
		place = pool_find(pool, method);
	}
	kind = names_text(n, n->frame_kind_type, kind_key);
	if (place != POOL_NO_PLACE) {
		struct reader r = reader_at(n, pool->constants.items[place].at);

		shape_read(n->shapes, n->method_shape, &r, slots);
		class_name = field_text(n, n->method_type, "type", slots[METHOD_TYPE]);
		words[FOLD_NAME] = field_text(n, n->method_type, "name", slots[METHOD_NAME]);
		words[FOLD_SIGNATURE] =
			field_text(n, n->method_type, "descriptor", slots[METHOD_SIGNATURE]);
		java = is_java(text_of(n, kind), text_of(n, class_name),
			       text_of(n, words[FOLD_SIGNATURE]));
		words[java ? FOLD_CLASS : FOLD_LIBRARY] =
			java ? as_in_the_jvm(n, class_name) : library_of(n, class_name);
		if (!java)
			words[FOLD_SIGNATURE] = 0;
	}
	if (!words[FOLD_NAME])
		words[FOLD_NAME] = strings_add(&n->fold->strings, "[unknown]", 9);
	words[FOLD_KIND] = kind_of(text_of(n, kind), java, words[FOLD_LIBRARY], text_of(n, words[FOLD_NAME]));
	if (words[FOLD_KIND] == FRAME_KERNEL) {
		words[FOLD_NAME] = without_ending(n, words[FOLD_NAME]);
		words[FOLD_LIBRARY] = 0;
	}
	if (n->lines && java && (int32_t)line > 0)
		words[FOLD_LINE] = line;
	return fold_frame(n->fold, words);
}

static bool grow_slots(struct names *n)
{
	uint32_t count = n->slot_count ? n->slot_count * 2 : 1024, i;
	struct frame_slot *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	for (i = 0; i < n->slot_count; i++) {
		const struct frame_slot *s = &n->slots[i];
		uint32_t at = (uint32_t)map_hash(s->method ^ s->detail << 40);

		if (!s->frame)
			continue;
		while (slots[at & (count - 1)].frame)
			at++;
		slots[at & (count - 1)] = *s;
	}
	free(n->slots);
	n->slots = slots;
	n->slot_count = count;
	return true;
}

/* The frame of METHOD, with what else tells it apart; made once a chunk. */
static uint32_t frame_by_hash(struct names *n, const uint64_t slots[FRAME_SLOTS])
{
	uint32_t line = n->lines ? (uint32_t)slots[IN_LINE] : 0, at, number;
	uint64_t method = slots[IN_METHOD], detail = slots[IN_KIND] << 32 | line;
	struct frame_slot *s;

	if (n->slots_used * 2 >= n->slot_count && !grow_slots(n)) {
		n->fold->no_memory = true;
		return LISTS_FAILED;
	}
	for (at = (uint32_t)map_hash(method ^ detail << 40);; at++) {
		s = &n->slots[at & (n->slot_count - 1)];
		if (!s->frame)
			break;
		if (s->method == method && s->detail == detail)
			return s->frame - 1;
	}
	number = make_frame(n, method, slots[IN_KIND], line);
	if (number == LISTS_FAILED)
		return number;
	n->slots_used++;
	*s = (struct frame_slot){method, detail, number + 1};
	return number;
}

static const char *primitive(char c)
{
	static const char *const names[] = {"boolean", "byte", "char", "double", "float", "int", "long",
					    "short"};
	static const char letters[] = "ZBCDFIJS";
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? names[at - letters] : NULL;
}

/* "[[Ljava/lang/String;" is java.lang.String[][], "[B" is byte[]. */
static uint32_t object_name(struct names *n, const char *text)
{
	size_t arrays = strspn(text, "["), length = strlen(text), i;
	const char *word = arrays && length == arrays + 1 ? primitive(text[arrays]) : NULL;

	n->text.length = 0;
	if (word) {
		buffer_puts(&n->text, word);
	} else {
		if (arrays && length > arrays + 2 && text[arrays] == 'L' && text[length - 1] == ';')
			length--;
		for (i = arrays && length < strlen(text) ? arrays + 1 : arrays; i < length; i++)
			buffer_putc(&n->text, text[i] == '/' ? '.' : text[i]);
	}
	for (; arrays; arrays--)
		buffer_puts(&n->text, "[]");
	return n->text.failed ? 0 : strings_add(&n->fold->strings, n->text.data, n->text.length);
}

/* The same, for most frames by two look-ups in arrays. */
static inline uint32_t frame(struct names *n, const struct pool *methods, const uint64_t slots[FRAME_SLOTS])
{
	uint32_t place, *known;

	if (unlikely(!n->by_method || slots[IN_KIND] >= NAMES_KINDS))
		return frame_by_hash(n, slots);
	place = pool_find(methods, slots[IN_METHOD]);
	if (unlikely(place == POOL_NO_PLACE))
		return frame_by_hash(n, slots);
	known = &n->by_method[(size_t)place * NAMES_KINDS + slots[IN_KIND]];
	if (unlikely(!*known))
		*known = frame_by_hash(n, slots) + 1; /* of LISTS_FAILED: 0 */
	return *known - 1;
}

uint32_t names_object(struct names *n, uint32_t type, uint64_t key)
{
	uint32_t words[FOLD_FRAME_WORDS] = {0}, name = names_text(n, type, key);

	words[FOLD_NAME] = name ? object_name(n, text_of(n, name)) : 0;
	if (!words[FOLD_NAME])
		words[FOLD_NAME] = strings_add(&n->fold->strings, "[unknown class]", 15);
	words[FOLD_KIND] = FRAME_OTHER;
	return fold_frame(n->fold, words);
}

/* ---- stacks ---- */

static bool room(struct names *n, uint64_t count)
{
	uint32_t *bigger;

	if (count <= n->list_room)
		return true;
	bigger = count < UINT32_MAX / 2 ? realloc(n->list, count * 2 * sizeof(*bigger)) : NULL;
	if (!bigger)
		return false;
	n->list = bigger;
	n->list_room = (uint32_t)count * 2;
	return true;
}

/* Where frames are four compressed numbers in the order that all recorders have, the middle two unwanted. */
static bool is_usual(const struct names *n)
{
	const struct shape *shape = &n->shapes->shapes.items[n->frame_shape];
	const struct step *step = &n->shapes->steps.items[shape->first];

	return !n->lines && shape->ints && shape->count == 4 && step[0].slot == IN_METHOD &&
	       step[1].slot == IN_LINE && step[2].slot == IN_BCI && step[3].slot == IN_KIND;
}

static bool make_room(struct names *n)
{
	size_t methods;

	if (n->by_method || n->lines || n->method_type == METADATA_NONE)
		return true;
	methods = n->pools->of_type[n->method_type].constants.count;
	n->by_method = methods < NAMES_METHODS_MAX ?
			       calloc(methods * NAMES_KINDS + 1, sizeof(*n->by_method)) : NULL;
	return n->by_method || methods >= NAMES_METHODS_MAX;
}

/* The frames at R, innermost first there, outermost first in the fold. */
static uint32_t read_stack(struct names *n, struct reader reader)
{
	struct reader *r = &reader;
	const struct pool *methods = n->method_type == METADATA_NONE ? NULL :
				     &n->pools->of_type[n->method_type];
	uint64_t count = read_int(r), i, slots[FRAME_SLOTS] = {0};
	bool usual = is_usual(n);

	if (count > read_left(r))
		return LISTS_FAILED;
	if (!room(n, count) || !make_room(n)) {
		n->fold->no_memory = true;
		return LISTS_FAILED;
	}
	for (i = count; i-- > 0;) {
		if (likely(usual)) {
			slots[IN_METHOD] = read_varint(r);
			read_skip_varint(r);
			read_skip_varint(r);
			slots[IN_KIND] = read_varint(r);
		} else {
			shape_read(n->shapes, n->frame_shape, r, slots);
		}
		n->list[i] = frame(n, methods, slots);
		if (n->list[i] == LISTS_FAILED)
			return LISTS_FAILED;
	}
	return r->c.failed ? LISTS_FAILED : lists_add(&n->fold->stacks, n->list, (uint32_t)count);
}

uint32_t names_stack(struct names *n, uint32_t place, bool *truncated)
{
	struct pool *pool = &n->pools->of_type[n->stack_type];
	struct constant *constant = &pool->constants.items[place];
	uint64_t slots[STACK_SLOTS] = {0};
	struct reader r = reader_at(n, constant->at);
	uint32_t number;

	*truncated = constant->truncated;
	if (constant->known)
		return constant->known - 1;
	if (n->stack_shape == SHAPE_NONE || n->frame_shape == SHAPE_NONE)
		return LISTS_FAILED;
	shape_read(n->shapes, n->stack_shape, &r, slots);
	if (r.c.failed || !slots[STACK_FRAMES])
		return LISTS_FAILED;
	*truncated = constant->truncated = slots[STACK_TRUNCATED] != 0;
	r = names_reader(n, slots[STACK_FRAMES]);
	number = read_stack(n, r);
	if (number != LISTS_FAILED)
		constant->known = number + 1;
	return number;
}

/* ---- threads ---- */

uint32_t names_thread(struct names *n, uint32_t place)
{
	struct pool *pool = &n->pools->of_type[n->thread_type];
	struct constant *constant = &pool->constants.items[place];
	uint32_t words[FOLD_THREAD_WORDS] = {0}, number;
	uint64_t slots[THREAD_SLOTS] = {0};
	struct reader r = reader_at(n, constant->at);

	if (constant->known)
		return constant->known - 1;
	if (n->thread_shape == SHAPE_NONE)
		return LISTS_FAILED;
	shape_read(n->shapes, n->thread_shape, &r, slots);
	words[FOLD_TID] = (uint32_t)slots[OS_ID];
	words[FOLD_JAVA_ID] = (uint32_t)slots[JAVA_ID];
	words[FOLD_THREAD_NAME] = field_text(n, n->thread_type, "javaName", slots[JAVA_NAME]);
	if (!words[FOLD_THREAD_NAME])
		words[FOLD_THREAD_NAME] = field_text(n, n->thread_type, "osName", slots[OS_NAME]);
	number = lists_add(&n->fold->threads, words, FOLD_THREAD_WORDS);
	if (number == LISTS_FAILED)
		n->fold->no_memory = true;
	else
		constant->known = number + 1;
	return number;
}
