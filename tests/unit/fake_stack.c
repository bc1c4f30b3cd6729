#include "fake_stack.h"

#include <stdlib.h>
#include <string.h>

static struct stack_store store;
static struct stack_chunk chunk;

void stack_open_store(void)
{
	struct error err;

	if (stack_store_open(&store, 16u << 20, &err))
		abort();
}

void stack_close_store(void)
{
	stack_store_close(&store);
	memset(&chunk, 0, sizeof(chunk));
}

/* The call stub's frame: its fp leads to the JavaCallWrapper. */
static void entry_frame(struct fake_stack *s, uintptr_t wrapper)
{
	s->fp = s->sp - 16;
	*fake_at(s->fp - 48) = wrapper;
	s->sp = s->fp - 96;
	s->pc = s->jvm->call_stub;
}

void stack_begin(struct fake_stack *s, struct fake_jvm *f)
{
	s->jvm = f;
	s->sp = f->stack_high - 1024;
	entry_frame(s, f->stack_high - 512);
}

void stack_compiled(struct fake_stack *s, uintptr_t pc, uint32_t words)
{
	*fake_at(s->sp - 8) = s->pc;
	*fake_at(s->sp - 16) = s->fp;
	s->sp -= words * 8;
	s->fp = 0x5555; /* a compiled method uses the register for anything */
	s->pc = pc;
}

void stack_interpreted(struct fake_stack *s, uintptr_t method, uint32_t bci, uint32_t locals)
{
	uintptr_t sender = s->sp, fp = sender - 16 - locals * 8;

	*fake_at(fp + 8) = s->pc;
	*fake_at(fp) = s->fp;
	*fake_at(fp - 8) = sender;
	*fake_at(fp - 24) = method;
	*fake_at(fp + (uintptr_t)((intptr_t)s->jvm->zone.layout.bcp_slot * 8)) = fake_bytecode(s->jvm, method) + bci;
	s->fp = fp;
	s->sp = fp - 80;
	s->pc = fake_interpreter(s->jvm, FAKE_CALL);
}

static void set_anchor(const struct fake_stack *s, uintptr_t anchor, bool no_pc)
{
	*fake_at(anchor) = s->sp;
	*fake_at(anchor + 8) = s->fp;
	*fake_at(anchor + 16) = no_pc ? 0 : s->pc;
	*fake_at(s->sp - 8) = s->pc;
}

void stack_reenter(struct fake_stack *s, bool no_pc)
{
	uintptr_t wrapper = s->sp - 256; /* in one of the native frames */

	set_anchor(s, wrapper + 32, no_pc);
	s->sp -= 512;
	entry_frame(s, wrapper);
}

void stack_native(struct fake_stack *s, uintptr_t pc, uint32_t words)
{
	set_anchor(s, s->jvm->java_thread + 512, false);
	s->sp -= words * 8;
	s->fp = 0x1234;
	s->pc = pc;
}

void stack_walk(struct fake_jvm *f, const struct fake_stack *s, const struct walk_regs *regs,
		struct walked *out)
{
	struct walk_regs own = {.pc = s ? s->pc : 0, .sp = s ? s->sp : 0, .fp = s ? s->fp : 0};
	struct stack_trace_writer w;

	if (!stack_trace_begin(&w, &store, &chunk, f->zone.depth))
		abort();
	out->root = walk_thread(&f->zone, &f->record, regs ? regs : &own, &w);
	out->count = (uint32_t)(w.pos - w.trace->frame);
	if (out->count > STACK_MAX || out->count > f->zone.depth)
		abort();
	memcpy(out->frame, w.trace->frame, out->count * sizeof(uint64_t));
}
