#include "format/frame_name.h"

#include <string.h>

const char *const frame_type_names[FRAME_TYPES] = {
	[TYPE_JAVA] = "java",     [TYPE_NATIVE] = "native", [TYPE_JVM] = "jvm",
	[TYPE_KERNEL] = "kernel", [TYPE_OTHER] = "other",
};

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

/*
 * A hidden class (lambda) is "Foo$$Lambda$14+0x0000000800c03000" in the JVM and
 * "Foo$$Lambda$14/0x0000000800c03000" for Java code: that slash separates no package
 * and stays in dotted names, too.
 */
static void put_class(struct buffer *out, const char *name, unsigned style)
{
	for (; *name; name++) {
		if (name[0] == '+' && name[1] == '0' && name[2] == 'x')
			buffer_putc(out, '/');
		else if (name[0] == '/' && (style & STYLE_DOTS) &&
			 !(name[1] >= '0' && name[1] <= '9'))
			buffer_putc(out, '.');
		else
			buffer_putc(out, safe_char(*name, style));
	}
}

void frame_name_put(struct buffer *out, const struct profile_frame *frame, unsigned style)
{
	if (frame->class_name) {
		put_class(out, frame->class_name, style);
		buffer_putc(out, '.');
	}
	put_text(out, frame->name ? frame->name : "[unknown]", style);
	if ((style & STYLE_LINES) && frame->line > 0)
		buffer_printf(out, ":%d", (int)frame->line);
	if ((style & STYLE_KERNEL) && frame->kind == FRAME_KERNEL)
		buffer_puts(out, frame_kind_names[FRAME_KERNEL].suffix);
}

void frame_name_thread(struct buffer *out, const struct profile_thread *thread, unsigned style)
{
	buffer_putc(out, '[');
	put_text(out, thread->name, style);
	/* Virtual threads have no tid. */
	if (thread->tid)
		buffer_printf(out, " tid=%u", thread->tid);
	buffer_putc(out, ']');
}
