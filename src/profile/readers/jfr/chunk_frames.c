/*
 * chunk_frames.c - what a frame is: what the JDK, async-profiler and we write, as profiles have it.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/java_type.h"
#include "common/words/enum_names.h"
#include "profile/readers/jfr/chunk_frames.h"

#define MODIFIER_NATIVE 0x100     /* ACC_NATIVE: such a method runs as a wrapper, whatever a recorder calls it */

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
	return n->text.failed ? name : strings_add(&n->aggregate->strings, n->text.data, length - 4);
}

/*
 * A class as the JVM itself calls it, "java/util/HashMap", "Foo$$Lambda$14+0x0000000800c03000". The JDK
 * writes hidden classes as "demo.Foo$$Lambda$14+0x0000000800c03000/1234567" (17), or
 * "demo.Foo$$Lambda/0x0000000800c03000" (25), async-profiler and we as "demo/Foo$$Lambda$14.0x0000000800c03000"; some
 * recorders write dots in all names.
 */
static uint32_t as_in_the_jvm(struct names *n, uint32_t name)
{
	const char *text = names_text_of(n, name), *plus = strstr(text, "+0x");
	const char *slash = plus ? plus : strstr(text, "/0x"), *hidden = slash ? slash : strstr(text, ".0x");
	size_t i, head = hidden ? (size_t)(hidden - text) : strlen(text);
	size_t tail = hidden ? 1 + strcspn(hidden + 1, "/") : 0;

	if (memchr(text, '/', head) ? !hidden || *hidden == '+' : !hidden && !strchr(text, '.'))
		return name;
	n->text.length = 0;
	for (i = 0; i < head; i++)
		buffer_putc(&n->text, text[i] == '.' ? '/' : text[i]);
	if (hidden) {
		buffer_putc(&n->text, '+');
		buffer_append(&n->text, hidden + 1, tail - 1);
	}
	return n->text.failed ? name : strings_add(&n->aggregate->strings, n->text.data, n->text.length);
}

/* What a recording says of a frame: the same in all chunks, whatever the keys. Strings by their numbers. */
enum said { SAID_KIND, SAID_METHOD, SAID_CLASS, SAID_NAME, SAID_SIGNATURE, SAID_NATIVE, SAID_LINE, SAID_WORDS };

/* The frame that SAID makes. */
static uint32_t make_frame(struct names *n, const uint32_t said[SAID_WORDS])
{
	uint32_t words[READ_FRAME_WORDS] = {0};
	bool java = said[SAID_METHOD] &&
		    is_java(names_text_of(n, said[SAID_KIND]), names_text_of(n, said[SAID_CLASS]),
			    names_text_of(n, said[SAID_SIGNATURE]));

	words[READ_FRAME_NAME] = said[SAID_NAME];
	if (java) {
		words[READ_FRAME_CLASS] = as_in_the_jvm(n, said[SAID_CLASS]);
		words[READ_FRAME_SIGNATURE] = said[SAID_SIGNATURE];
		words[READ_FRAME_LINE] = said[SAID_LINE];
	} else if (said[SAID_METHOD]) {
		words[READ_FRAME_LIBRARY] = library_of(n, said[SAID_CLASS]);
		/* a function of C++ is known by having its arguments, whether they are told or not */
		if (strcmp(names_text_of(n, said[SAID_KIND]), "C++") == 0)
			words[READ_FRAME_SIGNATURE] = said[SAID_NAME];
	}
	if (!words[READ_FRAME_NAME])
		words[READ_FRAME_NAME] = strings_add(&n->aggregate->strings, "[unknown]", 9);
	words[READ_FRAME_KIND] = kind_of(names_text_of(n, said[SAID_KIND]), java, words[READ_FRAME_LIBRARY],
				   names_text_of(n, words[READ_FRAME_NAME]));
	if (java && said[SAID_NATIVE] && words[READ_FRAME_KIND] == FRAME_C2)
		words[READ_FRAME_KIND] = FRAME_WRAPPER;
	if (words[READ_FRAME_KIND] == FRAME_KERNEL) {
		words[READ_FRAME_NAME] = without_ending(n, words[READ_FRAME_NAME]);
		words[READ_FRAME_LIBRARY] = 0;
	}
	return read_aggregate_frame(n->aggregate, words);
}

/* The same, made once. */
static uint32_t frame_as_said(struct names *n, const uint32_t said[SAID_WORDS])
{
	uint32_t number, *made;

	/* no more of it where too much was asked for: long names would be measured for each frame that is left */
	if (n->aggregate->no_memory)
		return LISTS_FAILED;
	number = lists_add(&n->said, said, SAID_WORDS);
	if (number < n->said_frames.count)
		return n->said_frames.items[number];
	if (!read_aggregate_text(n->aggregate, strlen(names_text_of(n, said[SAID_CLASS])) +
						       strlen(names_text_of(n, said[SAID_NAME])) +
						       strlen(names_text_of(n, said[SAID_SIGNATURE]))))
		return LISTS_FAILED;
	made = number == LISTS_FAILED ? NULL : VECTOR_PUSH(&n->said_frames);
	if (!made) {
		n->aggregate->no_memory = true;
		return LISTS_FAILED;
	}
	*made = make_frame(n, said);
	return *made;
}

/* What the constant at PLACE of the methods' POOL says, read once; NULL: out of memory. */
static const struct method_said *method_said(struct names *n, const struct pool *pool, uint32_t place)
{
	struct constant *constant = &pool->constants.items[place];
	uint64_t slots[METHOD_SLOTS] = {0};
	struct method_said *m;
	struct reader r;

	if (constant->known)
		return &n->methods.items[constant->known - 1];
	m = VECTOR_PUSH(&n->methods);
	if (!m)
		return NULL;
	r = names_reader_at(n, constant->at);
	field_layout_read(n->layouts, n->method_layout, &r, slots);
	m->class_name = names_field_text(n, n->method_class, slots[METHOD_TYPE]);
	m->name = names_field_text(n, n->method_name, slots[METHOD_NAME]);
	m->signature = names_field_text(n, n->method_signature, slots[METHOD_SIGNATURE]);
	m->native = slots[METHOD_MODIFIERS] & MODIFIER_NATIVE;
	constant->known = (uint32_t)n->methods.count;
	return m;
}

uint32_t names_frame(struct names *n, uint64_t method, uint64_t kind, uint32_t line)
{
	uint32_t said[SAID_WORDS] = {[SAID_KIND] = names_text(n, n->frame_kind_type, kind)};
	uint32_t place = POOL_NO_PLACE;
	const struct method_said *m;
	const struct pool *pool;

	if (n->method_type != METADATA_NONE && n->method_layout != LAYOUT_NONE) {
		pool = &n->pools->of_type[n->method_type];
		place = pool_find(pool, method);
	}
	if (place != POOL_NO_PLACE) {
		m = method_said(n, pool, place);
		if (!m) {
			n->aggregate->no_memory = true;
			return LISTS_FAILED;
		}
		said[SAID_METHOD] = true;
		said[SAID_CLASS] = m->class_name;
		said[SAID_NAME] = m->name;
		said[SAID_SIGNATURE] = m->signature;
		said[SAID_NATIVE] = m->native;
		said[SAID_LINE] = (int32_t)line > 0 || n->bci ? line : 0;
	}
	return frame_as_said(n, said);
}

uint32_t names_method(struct names *n, uint64_t key)
{
	return names_frame(n, key, 0, 0);
}

/* Where "Foo$$Lambda$14+0x0000000800c03000", in any recorder's spelling, has what tells it from others, or N. */
static size_t hidden_part(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i + 3 < n; i++)
		if (strchr("+/.", text[i]) && text[i + 1] == '0' && text[i + 2] == 'x')
			return i;
	return n;
}

/* Where the class begins behind its package, in the N letters of TEXT. */
static size_t behind_package(const char *text, size_t n)
{
	size_t i;

	for (i = hidden_part(text, n); i > 0; i--)
		if (text[i - 1] == '/' || text[i - 1] == '.')
			break;
	return i;
}

/* "[[Ljava/lang/String;" is java.lang.String[][], "[B" is byte[]. */
static uint32_t object_name(struct names *n, const char *text)
{
	struct java_class c = java_class_of(text);
	size_t end = n->norm ? hidden_part(c.element, c.length) : c.length, i;

	n->text.length = 0;
	for (i = n->simple ? behind_package(c.element, c.length) : 0; i < end; i++)
		buffer_putc(&n->text, c.element[i] == '/' ? '.' : c.element[i]);
	for (; c.dimensions; c.dimensions--)
		buffer_puts(&n->text, "[]");
	return n->text.failed ? 0 : strings_add(&n->aggregate->strings, n->text.data, n->text.length);
}

uint32_t names_object(struct names *n, uint32_t type, uint64_t key, bool class)
{
	uint32_t words[READ_FRAME_WORDS] = {0}, name = names_text(n, type, key), *known, frame;

	known = map_put(&n->objects, (uint64_t)!class << 32 | name, NULL);
	if (!known) {
		n->aggregate->no_memory = true;
		return LISTS_FAILED;
	}
	if (*known)
		return *known - 1;
	words[READ_FRAME_NAME] = !class ? name : name ? object_name(n, names_text_of(n, name)) : 0;
	if (!words[READ_FRAME_NAME])
		words[READ_FRAME_NAME] = strings_add(&n->aggregate->strings, "[unknown class]", 15);
	words[READ_FRAME_KIND] = FRAME_OTHER;
	frame = read_aggregate_frame(n->aggregate, words);
	*known = frame == LISTS_FAILED ? 0 : frame + 1;
	return frame;
}
