#include "profile/model/frame_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/hash.h"
#include "common/base/java_type.h"
#include "profile/model/lasting_names.h"

const char *const frame_type_names[FRAME_TYPES] = {
	[TYPE_JAVA] = "java",     [TYPE_NATIVE] = "native", [TYPE_JVM] = "jvm",
	[TYPE_KERNEL] = "kernel", [TYPE_OTHER] = "other",
};

uint64_t frame_class_hash(const struct profile_frame *frame)
{
	return hash_mix(hash_seeded(frame->class_name, strlen(frame->class_name)));
}

uint64_t frame_method_hash(const struct profile_frame *frame)
{
	return frame_class_hash(frame) ^ hash_seeded(frame->name, strlen(frame->name));
}

bool class_is_of_jdk(const char *class_name)
{
	static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(packages); i++)
		if (text_begins(class_name, packages[i]))
			return true;
	return false;
}

enum frame_type frame_type(const struct profile_frame *frame)
{
	if (frame->class_name)
		return TYPE_JAVA;
	if (frame->kind == FRAME_KERNEL)
		return TYPE_KERNEL;
	if (frame->kind == FRAME_OTHER)
		return TYPE_OTHER;
	if (!frame->library || !strncmp(frame->library, "libjvm.", 7))
		return TYPE_JVM;
	return TYPE_NATIVE;
}

static char safe_char(char c, unsigned style)
{
	if ((style & STYLE_PRINTABLE) && ((unsigned char)c < 0x20 || c == 0x7f))
		return ' ';
	if ((style & STYLE_NO_SEMICOLON) && c == ';')
		return ',';
	return c;
}

static void put_text(struct buffer *out, const char *text, unsigned style)
{
	for (; *text; text++)
		buffer_putc(out, safe_char(*text, style));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Where the part that tells hidden classes of one name apart begins: at "+0x…", or "/123" (JDK 8). */
static const char *hidden_part(const char *name)
{
	const char *p = name + strlen(name);

	while (p > name && *p != '/' && *p != '+')
		p--;
	return p > name && is_digit(p[1]) ? p : name + strlen(name);
}

/*
 * A hidden class (lambda) is "Foo$$Lambda$14+0x0000000800c03000" in the JVM,
 * "Foo$$Lambda$14.0x0000000800c03000" for agents and so for async-profiler, and
 * "Foo$$Lambda$14/0x0000000800c03000" for Java code.
 */
static void put_class(struct buffer *out, const char *name, unsigned style)
{
	const char *hidden = hidden_part(name), *p = name;

	for (; (style & STYLE_SIMPLE) && p < hidden; p++)
		if (*p == '/')
			name = p + 1;
	for (; *name; name++) {
		if (name == hidden && (style & STYLE_NORM))
			break;
		if (name == hidden)
			buffer_putc(out, style & STYLE_GET_NAME || *name == '/' ? '/' : '.');
		else if (*name == '/' && (style & STYLE_DOTS))
			buffer_putc(out, '.');
		else
			buffer_putc(out, safe_char(*name, style));
	}
}

/* As in class files: "(Ljava/lang/Object;I)V". */
static void put_descriptor(struct buffer *out, const char *text, unsigned style)
{
	for (; *text; text++) {
		if (*text == ';' && (style & STYLE_NO_SEMICOLON))
			buffer_putc(out, '|');
		else
			buffer_putc(out, safe_char(*text, style));
	}
}

/* "[[Ljava/lang/String;" as java/lang/String[][], "[I" as int[]; a class that is no array as it is. */
static void put_class_alone(struct buffer *out, const char *name, unsigned style)
{
	struct java_class c = java_class_of(name);
	char element[512];

	snprintf(element, sizeof(element), "%.*s", (int)c.length, c.element);
	put_class(out, c.dimensions ? element : name, style);
	for (; c.dimensions; c.dimensions--)
		buffer_puts(out, "[]");
	put_text(out, c.behind, style);
}

static void put_java(struct buffer *out, const struct profile_frame *frame, unsigned style)
{
	if (!frame->name[0]) { /* of a lock, of an object */
		put_class_alone(out, frame->class_name, style);
		return;
	}
	put_class(out, frame->class_name, style);
	buffer_putc(out, strncmp(frame->name, LAMBDA_ARROW, strlen(LAMBDA_ARROW)) == 0 ? ' ' : '.');
	put_text(out, frame->name, style);
	if ((style & STYLE_SIGNATURES) && frame->signature)
		put_descriptor(out, frame->signature, style);
}

static void put_native(struct buffer *out, const struct profile_frame *frame, unsigned style)
{
	const char *name = frame->name ? frame->name : "[unknown]";

	/* "[libx.so]" stands for code without a symbol and names its library already */
	if ((style & STYLE_LIBRARY) && frame->library && name[0] != '[') {
		put_text(out, frame->library, style);
		buffer_putc(out, '`');
	}
	if ((style & STYLE_SIGNATURES) && frame->signature)
		name = frame->signature;
	put_text(out, name, style);
}

void frame_name_put(struct buffer *out, const struct profile_frame *frame, unsigned style)
{
	if (frame->class_name)
		put_java(out, frame, style);
	else
		put_native(out, frame, style);
	if ((style & STYLE_LINES) && frame->line > 0)
		buffer_printf(out, ":%d", (int)frame->line);
	else if (style & STYLE_LINES && frame->line < 0)
		buffer_printf(out, "@%d", -(int)frame->line);
	if (frame->kind == FRAME_KERNEL ? style & STYLE_KERNEL : style & STYLE_ANNOTATE)
		buffer_puts(out, frame_kind_names[frame->kind].suffix);
}

void frame_name_thread(struct buffer *out, const struct profile_thread *thread, unsigned style)
{
	buffer_putc(out, '[');
	/* some recorders call a thread without a name "[tid=123]" */
	if (strncmp(thread->name, "[tid=", 5) == 0) {
		put_text(out, thread->name + 1, style);
		return;
	}
	put_text(out, thread->name, style);
	/* Virtual threads have no tid. */
	if (thread->tid)
		buffer_printf(out, " tid=%u", thread->tid);
	buffer_putc(out, ']');
}

int frame_name_each(const struct profile *p, unsigned style,
		    bool (*fn)(uint32_t frame, const char *name, void *arg), void *arg)
{
	struct buffer name = BUFFER_INIT;
	uint32_t i;
	int failed;

	for (i = 0; i < p->frame_count; i++) {
		name.length = 0;
		frame_name_put(&name, &p->frames[i], style);
		buffer_putc(&name, '\0');
		if (name.failed || !fn(i, name.data, arg))
			break;
	}
	failed = name.failed;
	buffer_free(&name);
	return failed ? -ENOMEM : 0;
}
