/*
 * places.c - where walks went wrong: each pc once, with what was to be seen there, for the fix.
 */
#include <inttypes.h>
#include <jni.h>
#include <pthread.h>
#include <stdio.h>

#include "step.h"

#define PLACES 256
#define SHOWN 6
#define BEFORE 24 /* bytes of code before pc */

struct place {
	struct walk_regs regs;
	struct verdict verdict;
	enum walk_end end;
	_Atomic long times;
	struct blob blob;
	uint8_t code[64];
	uintptr_t stack[24], found[SHOWN];
	struct live truth[SHOWN];
	uint32_t found_count, truth_count;
};

static struct place places[PLACES];
static _Atomic uint32_t used;
static _Atomic long counts[2];

long place_count(bool wrong)
{
	return atomic_load(&counts[wrong]);
}

static void fill(struct place *p, const struct stepped *s, const struct walk_regs *regs)
{
	uintptr_t blob = code_blob_at(&zone.layout, regs->pc);
	uint32_t i;

	if (!blob || !code_blob_read(&zone.layout, blob, &p->blob))
		p->blob = (struct blob){0};
	load_bytes(p->code, regs->pc - BEFORE, sizeof(p->code));
	load_bytes(p->stack, regs->sp, sizeof(p->stack));
	for (i = 0; i < s->walked && p->found_count < SHOWN; i++)
		if (step_compiled(s->pcs[i]))
			p->found[p->found_count++] = s->pcs[i];
	for (i = s->count; i > 0 && p->truth_count < SHOWN; i--)
		if (step_compiled(s->live[i - 1].pc))
			p->truth[p->truth_count++] = s->live[i - 1];
}

void place_note(const struct stepped *s, const struct walk *w, const struct walk_regs *regs, struct verdict v)
{
	uint32_t i, n = atomic_load(&used);

	atomic_fetch_add(&counts[v.wrong], 1);
	for (i = 0; i < n && i < PLACES; i++)
		if (places[i].regs.pc == regs->pc && places[i].verdict.wrong == v.wrong) {
			atomic_fetch_add(&places[i].times, 1);
			return;
		}
	i = atomic_fetch_add(&used, 1);
	if (i >= PLACES) {
		atomic_store(&used, PLACES);
		return;
	}
	places[i].regs = *regs;
	places[i].verdict = v;
	places[i].end = w->end;
	fill(&places[i], s, regs);
	atomic_store(&places[i].times, 1);
}

/* ---- for people ---- */

static void print_method(uintptr_t blob)
{
	const struct layout *l = &zone.layout;
	uintptr_t method = 0, constant = 0, pool = 0, symbol = 0;
	uint32_t index = 0, length = 0, level = 0;
	char text[64] = "";

	load_word(blob + (uintptr_t)l->nmethod_method, &method);
	load_word(method + (uintptr_t)l->method_const, &constant);
	load_word(constant + (uintptr_t)l->const_pool, &pool);
	load_u16(constant + (uintptr_t)l->const_name, &index);
	if (!load_word(pool + (uintptr_t)l->pool_size + sizeof(uintptr_t) * index, &symbol))
		return;
	symbol &= ~(uintptr_t)3;
	load_u16(symbol + (uintptr_t)l->symbol_length, &length);
	load_bytes(text, symbol + (uintptr_t)l->symbol_body, MIN(length, sizeof(text) - 1));
	load_u8(blob + (uintptr_t)l->nmethod_comp_level, &level);
	fprintf(stderr, "%s, level %u", text, level);
}

static void print_pc(const char *what, uintptr_t pc)
{
	const struct stub *stub = stub_find(atomic_load(&zone.stubs), pc);
	uintptr_t blob = code_blob_at(&zone.layout, pc), name = 0;
	char text[64] = "";
	struct blob b = {0};

	fprintf(stderr, "%s%#" PRIxPTR " ", what, pc);
	if (stub) {
		fprintf(stderr, "%s +%#" PRIxPTR, stub->name, pc - stub->start);
		return;
	}
	if (blob && code_blob_read(&zone.layout, blob, &b) && b.nmethod)
		print_method(blob);
	else if (load_word(blob + (uintptr_t)zone.layout.blob_name, &name))
		load_bytes(text, name, sizeof(text) - 1);
	fprintf(stderr, "%s +%#" PRIxPTR, text, pc - b.code);
}

static void print_place(const struct place *p)
{
	uint32_t k;

	fprintf(stderr, "PLACE %s, %ld times, ", p->verdict.wrong ? "wrong" : "short", p->times);
	print_pc("", p->regs.pc);
	fprintf(stderr, "\n  frame %u complete %d sp %#" PRIxPTR " fp %#" PRIxPTR " end %d after %u callers\n  code",
		p->blob.frame_bytes, p->blob.frame_complete, p->regs.sp, p->regs.fp, p->end, p->verdict.at);
	for (k = 0; k < sizeof(p->code); k++)
		fprintf(stderr, "%s%02x", k == BEFORE ? " | " : " ", p->code[k]);
	fprintf(stderr, "\n  stack");
	for (k = 0; k < ARRAY_LEN(p->stack); k++)
		fprintf(stderr, " %" PRIxPTR, p->stack[k]);
	k = p->blob.frame_bytes / WORD - 1;
	if (k < ARRAY_LEN(p->stack))
		print_pc("\n  the frame's last word ", p->stack[k]);
	for (k = 0; k < p->found_count; k++)
		print_pc("\n  found ", p->found[k]);
	for (k = 0; k < p->truth_count; k++) {
		print_pc("\n  truth ", p->truth[k].pc);
		fprintf(stderr, " at sp + %ld", (long)(p->truth[k].slot - p->regs.sp));
	}
	fprintf(stderr, "\n");
}

JNIEXPORT void JNICALL Java_truth_Stepped_report(JNIEnv *env, jclass unused);
JNIEXPORT void JNICALL Java_truth_Stepped_report(JNIEnv *env, jclass unused)
{
	uint32_t i;

	for (i = 0; i < MIN(atomic_load(&used), PLACES); i++)
		print_place(&places[i]);
	fflush(stderr);
}
