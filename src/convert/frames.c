/*
 * frames.c - the frames of a chunk's stacks: what the JDK, async-profiler and we write, as profiles
 * have it.
 */
#include <stdlib.h>

#include "base/names.h"
#include "convert/names_inner.h"

#define MODIFIER_NATIVE 0x100     /* ACC_NATIVE: such a method runs as a wrapper, whatever a recorder calls it */
#define NAMES_METHODS_MAX 1000000 /* beyond, their frames are looked up by hash */

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
		if (strcmp(names_text_of(n, name), none[i]) == 0)
			return 0;
	return name;
}

/* Kernel symbols may carry the ending that our writers add. */
static uint32_t without_ending(struct names *n, uint32_t name)
{
	const char *text = names_text_of(n, name);
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
	const char *text = names_text_of(n, name), *plus = strstr(text, "+0x");
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
		struct reader r = names_reader_at(n, pool->constants.items[place].at);

		shape_read(n->shapes, n->method_shape, &r, slots);
		class_name = names_field_text(n, n->method_type, "type", slots[METHOD_TYPE]);
		words[FOLD_NAME] = names_field_text(n, n->method_type, "name", slots[METHOD_NAME]);
		words[FOLD_SIGNATURE] =
			names_field_text(n, n->method_type, "descriptor", slots[METHOD_SIGNATURE]);
		java = is_java(names_text_of(n, kind), names_text_of(n, class_name),
			       names_text_of(n, words[FOLD_SIGNATURE]));
		words[java ? FOLD_CLASS : FOLD_LIBRARY] =
			java ? as_in_the_jvm(n, class_name) : library_of(n, class_name);
		if (!java)
			words[FOLD_SIGNATURE] = 0;
	}
	if (!words[FOLD_NAME])
		words[FOLD_NAME] = strings_add(&n->fold->strings, "[unknown]", 9);
	words[FOLD_KIND] = kind_of(names_text_of(n, kind), java, words[FOLD_LIBRARY],
				   names_text_of(n, words[FOLD_NAME]));
	if (java && slots[METHOD_MODIFIERS] & MODIFIER_NATIVE && words[FOLD_KIND] == FRAME_C2)
		words[FOLD_KIND] = FRAME_WRAPPER;
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

	words[FOLD_NAME] = name ? object_name(n, names_text_of(n, name)) : 0;
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
	struct reader r = names_reader_at(n, constant->at);
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
