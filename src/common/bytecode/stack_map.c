#include "common/bytecode/stack_map.h"

#include "common/bytecode/emit.h"

/* First bytes of frames, and what follows them. */
enum {
	SAME_MAX = 63,
	SAME_STACK1_MAX = 127,
	SAME_STACK1_EXTENDED = 247,
	CHOP_MIN = 248, /* 248..250 drop 3..1 locals */
	SAME_EXTENDED = 251,
	APPEND_MAX = 254, /* 252..254 add 1..3 locals */
	FULL = 255,
};

static bool push_local(struct frame *f, struct frame_type t)
{
	if (f->local_count >= f->local_room)
		return false;
	f->locals[f->local_count++] = t;
	f->local_slots += frame_type_slots(t);
	return f->local_slots <= f->local_room;
}

/* The type that a parameter of TYPE is to the verifier. */
static struct frame_type parameter_type(const struct text *type, struct pool *pool)
{
	struct frame_type t = {TYPE_INTEGER, 0};

	switch (type->at[0]) {
	case 'J':
		t.tag = TYPE_LONG;
		break;
	case 'D':
		t.tag = TYPE_DOUBLE;
		break;
	case 'F':
		t.tag = TYPE_FLOAT;
		break;
	case 'L': /* a class is named without L and semicolon, an array with all of it */
		t = (struct frame_type){TYPE_OBJECT, pool_class(pool, type->at + 1, type->length - 2u)};
		break;
	case '[':
		t = (struct frame_type){TYPE_OBJECT, pool_class(pool, type->at, type->length)};
		break;
	}
	return t;
}

bool frames_begin(struct frame_reader *r, struct cursor table, const struct frame *memory,
		  const struct class_file *file, const struct member *m, struct pool *pool)
{
	struct text rest = m->type, type;
	struct frame_type this = {TYPE_OBJECT, file->this_class};

	r->frame = *memory;
	r->frame.pc = 0;
	r->frame.local_count = r->frame.stack_count = r->frame.local_slots = 0;
	r->first = true;
	r->at = table;
	r->left = cursor_left(&table) ? cursor_be16(&r->at) : 0;
	/* Object's own constructor calls no other one */
	if (text_is(&m->name, "<init>") && file->super_class)
		this.tag = TYPE_UNINITIALIZED_THIS;
	if (!(m->access & ACC_STATIC) && !push_local(&r->frame, this))
		return false;
	if (!rest.length || rest.at[0] != '(')
		return false;
	rest.at++;
	rest.length--;
	while (descriptor_next(&rest, &type))
		if (!push_local(&r->frame, parameter_type(&type, pool)))
			return false;
	return rest.length && rest.at[0] == ')';
}

static struct frame_type read_type(struct cursor *at)
{
	struct frame_type t = {cursor_u8(at), 0};

	if (t.tag >= TYPE_TAGS)
		cursor_fail(at);
	if (t.tag == TYPE_OBJECT || t.tag == TYPE_UNINITIALIZED)
		t.value = cursor_be16(at);
	return t;
}

static void read_locals(struct frame_reader *r, unsigned count)
{
	while (count-- > 0 && !r->at.failed)
		if (!push_local(&r->frame, read_type(&r->at)))
			cursor_fail(&r->at);
}

static void read_stack(struct frame_reader *r, unsigned count)
{
	if (count > r->frame.stack_room)
		cursor_fail(&r->at);
	while (count-- > 0 && !r->at.failed)
		r->frame.stack[r->frame.stack_count++] = read_type(&r->at);
}

static void chop(struct frame_reader *r, unsigned count)
{
	struct frame *f = &r->frame;

	if (count > f->local_count)
		cursor_fail(&r->at);
	while (count-- > 0 && !r->at.failed)
		f->local_slots -= frame_type_slots(f->locals[--f->local_count]);
}

bool frames_next(struct frame_reader *r)
{
	struct frame *f = &r->frame;
	unsigned kind, delta;

	if (!r->left || r->at.failed)
		return false;
	r->left--;
	kind = cursor_u8(&r->at);
	f->stack_count = 0;
	if (kind > SAME_STACK1_MAX && kind < SAME_STACK1_EXTENDED)
		cursor_fail(&r->at);
	delta = kind <= SAME_MAX ? kind : kind <= SAME_STACK1_MAX ? kind - SAME_MAX - 1 : cursor_be16(&r->at);
	if (kind == FULL) {
		f->local_count = f->local_slots = 0;
		read_locals(r, cursor_be16(&r->at));
		read_stack(r, cursor_be16(&r->at));
	} else if (kind > SAME_EXTENDED) {
		read_locals(r, kind - SAME_EXTENDED);
	} else if (kind >= CHOP_MIN && kind < SAME_EXTENDED) {
		chop(r, SAME_EXTENDED - kind);
	} else if (kind == SAME_STACK1_EXTENDED || (kind > SAME_MAX && kind <= SAME_STACK1_MAX)) {
		read_stack(r, 1);
	}
	f->pc += delta + !r->first;
	r->first = false;
	return !r->at.failed;
}

static void emit_type(struct buffer *out, struct frame_type t, const uint32_t *pcs)
{
	emit_u1(out, t.tag);
	if (t.tag == TYPE_OBJECT)
		emit_u2(out, t.value);
	else if (t.tag == TYPE_UNINITIALIZED)
		emit_u2(out, pcs[t.value]);
}

void frame_emit(struct buffer *out, const struct frame *f, unsigned delta, unsigned local,
		const uint32_t *pcs)
{
	unsigned i, fill = local - f->local_slots;

	emit_u1(out, FULL);
	emit_u2(out, delta);
	emit_u2(out, f->local_count + fill + 1);
	for (i = 0; i < f->local_count; i++)
		emit_type(out, f->locals[i], pcs);
	for (i = 0; i < fill; i++)
		emit_u1(out, TYPE_TOP);
	emit_u1(out, TYPE_LONG);
	emit_u2(out, f->stack_count);
	for (i = 0; i < f->stack_count; i++)
		emit_type(out, f->stack[i], pcs);
}
