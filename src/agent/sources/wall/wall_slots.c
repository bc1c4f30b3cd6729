/*
 * wall_slots.c - has a thread that cannot be marked moved? The words of its stack say.
 *
 * A thread may wake, return, be called by another method and wait again with the same last Java frame. Its stack is
 * the same only if each word is that a walk would follow:
 *
 *   return addresses into generated code         each frame's; by conservative scan: a stale one that is no frame's
 *                                                does no harm, it does not change while the thread sleeps
 *   the word before one (the caller's fp), with  where it points into the stack; a compiled frame may keep an
 *   CPU_BACK_CHAIN the one at the caller's sp    object there, which the collector moves
 *   caller's sp, Method* and bytecode pointer    of each interpreted frame: all return to the same entry of the
 *                                                interpreter, and the method of a native one has no bytecode
 *   the frame saved at a call from native code   of each call stub: JavaCallWrapper's JavaFrameAnchor
 *
 * Equal words from an equal last Java frame on lead to an equal stack, frame by frame. The JVM changes return
 * addresses of sleeping threads when it deoptimises: then the stack is walked once more, and found the same.
 *
 * A virtual thread's stack that goes on in the heap is walked each time: equal words here are not all of it.
 */
#include <string.h>

#include "agent/sources/wall/wall.h"
#include "agent/walk/codecache.h"
#include "cpu.h"

#define SCAN_LIMIT (64u * 1024) /* bytes; deeper stacks are walked instead */

struct noting {
	const struct layout *l;
	struct wall_slots *s;
	uintptr_t high;
	bool failed;
};

static uintptr_t slot(uintptr_t frame, int64_t words)
{
	return frame + (uintptr_t)(words * WORD);
}

static bool is_on_stack(const struct noting *n, uintptr_t address)
{
	return address >= n->s->base && address < n->high && !(address & (WORD - 1));
}

static void add(struct noting *n, uintptr_t address)
{
	if (!is_on_stack(n, address))
		return; /* of no frame that stands */
	if (n->s->count == WALL_SLOTS)
		n->failed = true;
	else
		n->s->at[n->s->count++] = (uint16_t)((address - n->s->base) / WORD);
}

/* PC is where the frame at FP goes on. */
static void add_frame(struct noting *n, uintptr_t pc, uintptr_t fp)
{
	const struct layout *l = n->l;
	uintptr_t wrapper;

	if (code_is_interpreter(l, pc)) {
		add(n, slot(fp, l->interpreter_sender_sp_slot));
		add(n, slot(fp, l->method_slot));
		add(n, slot(fp, l->bcp_slot));
	} else if (pc == l->call_stub_pc && load_word(slot(fp, l->entry_wrapper_slot), &wrapper)) {
		uintptr_t anchor = wrapper + (uintptr_t)l->wrapper_anchor;

		add(n, slot(fp, l->entry_wrapper_slot));
		add(n, anchor + (uintptr_t)l->anchor_sp);
		add(n, anchor + (uintptr_t)l->anchor_pc);
		add(n, anchor + (uintptr_t)l->anchor_fp);
	}
}

/* The word at ADDRESS is PC, in generated code. A saved JavaFrameAnchor has sp before it, the frame pointer behind. */
static void add_return(struct noting *n, uintptr_t address, uintptr_t pc)
{
	uintptr_t fp;

	add(n, address);
	if (CPU_BACK_CHAIN) {
		if (load_word(address - CPU_RETURN_AT, &fp) && is_on_stack(n, fp)) {
			add(n, address - CPU_RETURN_AT);
			add_frame(n, pc, fp);
		}
		if (load_word(address - WORD, &fp) && is_on_stack(n, fp) && load_word(fp, &fp))
			add_frame(n, pc, fp);
		return;
	}
	if (load_word(address - WORD, &fp) && is_on_stack(n, fp)) {
		add(n, address - WORD);
		add_frame(n, pc, fp);
	}
	if (load_word(address + WORD, &fp) && is_on_stack(n, fp))
		add_frame(n, pc, fp);
}

/* 0 = a word cannot be read. */
static uint64_t digest(const struct wall_slots *s)
{
	uint64_t sum = s->count;
	uintptr_t word;
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		if (!load_word(s->base + (uintptr_t)WORD * s->at[i], &word))
			return 0;
		sum = wall_mix(sum, word);
	}
	return sum | 1;
}

bool wall_slots_note(struct wall_slots *s, uintptr_t sp, uintptr_t pc, uintptr_t fp, uintptr_t high)
{
	const struct stub_set *stubs = atomic_load_explicit(&zone.stubs, memory_order_acquire);
	const uintptr_t barrier = stubs ? stubs->barrier : 0;
	struct noting n = {.l = &zone.layout, .s = s, .high = high};
	uintptr_t at, word;

	s->count = 0;
	s->base = sp;
	if (high <= sp || high - sp > SCAN_LIMIT || (sp & (WORD - 1)))
		return false;
	if (CPU_BACK_CHAIN && !load_word(sp, &fp))
		return false;
	add_frame(&n, pc, fp);
	for (at = sp; at < high && !n.failed; at += WORD) {
		if (!load_word(at, &word) || (word == barrier && word))
			n.failed = true;
		else if (code_contains(n.l, word))
			add_return(&n, at, word);
	}
	s->digest = n.failed ? 0 : digest(s);
	if (!s->digest)
		s->count = 0;
	return s->count > 0;
}

bool wall_slots_hold(const struct wall_slots *s)
{
	return s->count && digest(s) == s->digest;
}
