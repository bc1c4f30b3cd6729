/*
 * tables.c - the attributes of a method's code: those that speak of pcs follow the code, the others
 * go as they are.
 */
#include "common/bytecode/classfile.h"
#include "common/bytecode/code.h"
#include "common/bytecode/emit.h"

#define FRAMES_MAJOR 50 /* JDK 6: the verifier that reads frames */

/* Where a range of PCS or a line begins: what is at the very start takes the entry's probe in. */
static unsigned begin_of(const struct code *c, uint32_t pc)
{
	return pc ? c->at[pc] : 0;
}

static bool emit_lines(const struct code *c, struct cursor *body, struct buffer *out)
{
	unsigned count = cursor_be16(body);

	emit_u2(out, count);
	while (count-- > 0) {
		unsigned pc = cursor_be16(body), line = cursor_be16(body);

		if (body->failed || pc >= c->bytes.size)
			return false;
		emit_u2(out, begin_of(c, pc));
		emit_u2(out, line);
	}
	return true;
}

/* Two numbers, begin and length of a range of code. */
static bool emit_range(const struct code *c, struct cursor *body, struct buffer *out)
{
	uint32_t begin = cursor_be16(body), end = begin + cursor_be16(body);

	if (body->failed || end > c->bytes.size)
		return false;
	emit_u2(out, begin_of(c, begin));
	emit_u2(out, (end == 0 ? 0 : c->at[end]) - begin_of(c, begin));
	return true;
}

/* LocalVariableTable and LocalVariableTypeTable alike: a range, name, type, slot. */
static bool emit_variables(const struct code *c, struct cursor *body, struct buffer *out)
{
	unsigned count = cursor_be16(body);

	emit_u2(out, count);
	while (count-- > 0) {
		if (!emit_range(c, body, out) || cursor_left(body) < 6)
			return false;
		buffer_append(out, body->at, 6);
		cursor_skip(body, 6);
	}
	return true;
}

/* What an annotation of a type stands on (JVMS 4.7.20.1), of those within code. */
static bool emit_place(const struct code *c, unsigned kind, struct cursor *body, struct buffer *out)
{
	unsigned count, pc;

	if (kind == 0x40 || kind == 0x41) { /* local variables */
		emit_u2(out, count = cursor_be16(body));
		while (count-- > 0) {
			if (!emit_range(c, body, out))
				return false;
			emit_u2(out, cursor_be16(body));
		}
	} else if (kind == 0x42) { /* a handler, by its number */
		emit_u2(out, code_handler_number(c, cursor_be16(body)));
	} else if (kind >= 0x43 && kind <= 0x4b) { /* an instruction, and which of its types */
		pc = cursor_be16(body);
		if (pc >= c->bytes.size)
			return false;
		emit_u2(out, c->moved[pc]);
		if (kind >= 0x47)
			emit_u1(out, cursor_u8(body));
	} else {
		return false;
	}
	return !body->failed;
}

static bool emit_type_annotations(const struct code *c, struct cursor *body, struct buffer *out)
{
	unsigned count = cursor_be16(body);

	emit_u2(out, count);
	while (count-- > 0) {
		unsigned kind = cursor_u8(body);
		const uint8_t *rest;
		struct text type;

		emit_u1(out, kind);
		if (!emit_place(c, kind, body, out))
			return false;
		rest = body->at;
		cursor_skip(body, 2ull * cursor_u8(body)); /* the path to the type */
		if (!annotation_next(c->file, body, &type))
			return false;
		buffer_append(out, rest, (size_t)(body->at - rest));
	}
	return true;
}

/* ---- frames ---------------------------------------------------------------------- */

bool code_frame_is_sound(const struct code *c, const struct frame *f)
{
	unsigned i;

	if (f->pc >= c->bytes.size || !(c->marks[f->pc] & AT_START))
		return false;
	for (i = 0; i < f->local_count + f->stack_count; i++) {
		struct frame_type t = i < f->local_count ? f->locals[i] : f->stack[i - f->local_count];

		if (t.tag != TYPE_UNINITIALIZED)
			continue;
		if (t.value >= c->bytes.size || c->bytes.bytes[t.value] != OP_new ||
		    !(c->marks[t.value] & AT_START))
			return false;
	}
	return true;
}

/* The frame of a handler of ours: an exception, and of all locals only L (and `this`, while it is not initialised). */
static void emit_own_frame(const struct code *c, bool early, unsigned delta, struct buffer *out)
{
	struct frame_type this = {TYPE_UNINITIALIZED_THIS, 0};
	struct frame_type exception = {TYPE_OBJECT, pool_class(c->pool, "java/lang/Throwable", 19)};
	struct frame f = {.stack = &exception, .stack_count = 1, .locals = &this};

	f.local_count = f.local_slots = early;
	frame_emit(out, &f, delta, c->local, c->moved);
}

/* Frames of the bridges from number *NEXT on that stand before PC, behind the frame at *LAST. */
static enum skip emit_bridge_frames(const struct code *c, size_t *next, uint32_t pc, uint32_t *last, struct buffer *out)
{
	enum skip why = SKIP_NONE;
	const struct bridge *b;

	for (; *next < c->bridges.count && why == SKIP_NONE; ++*next) {
		b = &c->bridges.items[*next];
		if (b->spot > pc)
			break;
		why = code_emit_bridge_frame(c, b, b->at - *last - 1, out);
		*last = b->at;
	}
	return why;
}

/* The body of a StackMapTable. */
static enum skip emit_frames(const struct code *c, struct buffer *out)
{
	struct cursor none = {.failed = false};
	struct frame_reader r;
	size_t place = out->length, bridges = 0;
	uint32_t last = UINT32_MAX, now;
	enum skip why = SKIP_NONE;
	unsigned count = 0;

	emit_u2(out, 0);
	if (!frames_begin(&r, c->frames.failed ? none : c->frames, &c->memory, c->file, c->method, c->pool))
		return SKIP_DAMAGED;
	for (; why == SKIP_NONE && frames_next(&r); count++) {
		if (!code_frame_is_sound(c, &r.frame))
			return SKIP_DAMAGED;
		why = emit_bridge_frames(c, &bridges, r.frame.pc, &last, out);
		now = c->at[r.frame.pc];
		frame_emit(out, &r.frame, now - last - 1, c->local, c->moved);
		last = now;
	}
	if (why == SKIP_NONE)
		why = emit_bridge_frames(c, &bridges, (uint32_t)c->bytes.size, &last, out);
	if (why != SKIP_NONE || r.at.failed || cursor_left(&r.at))
		return why != SKIP_NONE ? why : SKIP_DAMAGED;
	now = c->end;
	if (c->early_handler) {
		emit_own_frame(c, true, now - last - 1, out);
		last = now;
		now += c->leave + 1;
	}
	if (c->handler)
		emit_own_frame(c, false, now - last - 1, out);
	count += (unsigned)c->bridges.count + c->early_handler + c->handler;
	if (count > 65535)
		return SKIP_TOO_LONG;
	emit_u2_at(out, place, count);
	return SKIP_NONE;
}

/* Old code has no frames, and code of JDK 6 may come without. */
static bool needs_new_frames(const struct code *c)
{
	return c->frames.failed && c->file->major >= FRAMES_MAJOR && !c->jumps &&
	       (c->handler || c->early_handler);
}

static enum skip emit_attribute(const struct code *c, const struct attribute *a, struct buffer *out)
{
	struct cursor body = a->body, name = cursor_at(&c->file->file, a->begin);
	size_t place = out->length;
	enum skip why = SKIP_NONE;
	bool sound = true;

	emit_u2(out, cursor_be16(&name));
	emit_u4(out, 0);
	if (text_is(&a->name, "LineNumberTable")) {
		sound = emit_lines(c, &body, out);
	} else if (text_is(&a->name, "LocalVariableTable") || text_is(&a->name, "LocalVariableTypeTable")) {
		sound = emit_variables(c, &body, out);
	} else if (text_is(&a->name, "StackMapTable")) {
		why = emit_frames(c, out);
		cursor_skip(&body, cursor_left(&body));
	} else if (text_is(&a->name, "RuntimeVisibleTypeAnnotations") ||
		   text_is(&a->name, "RuntimeInvisibleTypeAnnotations")) {
		sound = emit_type_annotations(c, &body, out);
	} else {
		buffer_append(out, body.at, cursor_left(&body));
		cursor_skip(&body, cursor_left(&body));
	}
	emit_u4_at(out, place + 2, (uint32_t)(out->length - place - 6));
	return why == SKIP_NONE && (!sound || body.failed || cursor_left(&body)) ? SKIP_DAMAGED : why;
}

enum skip code_emit_attributes(const struct code *c, struct buffer *out)
{
	struct cursor at = c->attributes;
	enum skip why = SKIP_NONE;
	struct attribute a;
	bool fresh = needs_new_frames(c);
	size_t place;
	unsigned i;

	if (c->attribute_count + fresh > 65535)
		return SKIP_TOO_LONG;
	emit_u2(out, c->attribute_count + fresh);
	for (i = 0; why == SKIP_NONE && i < c->attribute_count && attribute_next(c->file, &at, &a); i++)
		why = emit_attribute(c, &a, out);
	if (why == SKIP_NONE && fresh) {
		emit_u2(out, pool_text(c->pool, "StackMapTable", 13));
		place = out->length;
		emit_u4(out, 0);
		why = emit_frames(c, out);
		emit_u4_at(out, place, (uint32_t)(out->length - place - 4));
	}
	return why;
}
