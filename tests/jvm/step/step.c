/*
 * step.c - the walkers, held against the truth at every single instruction.
 *
 * libstep.so is libjstrobe.so with this file added. A thread that asked for it is run instruction by
 * instruction (trap flag, SIGTRAP) for a burst. Each step shows whether a call or a return was made, so
 * which return addresses are alive is known exactly, without looking at any code or debug information:
 *
 *     sp went down by a word and what lies there points just behind the last instruction   a call
 *     sp went above where a return address lies                                       it is gone
 *
 * At each step inside code of the JVM the stack is walked as in a sample; the return addresses into
 * compiled code that the walk went by must be those that are alive, in that order, from the first
 * one on. What was below when a burst began is taken from the walk at its first step, and must hold too.
 */
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "agent/sample/handler.h"
#include "cpu.h"
#include "step.h"

#define THREADS 32
#define TRAP_FLAG 0x100
#define INSTRUCTION 15 /* bytes, at most */
#define LEAF 64        /* bytes of stack */
#define ADAPTING 1000  /* steps that a popped return address may take to be pushed again */

static struct stepped threads[THREADS];
static _Atomic uint32_t thread_count;
static atomic_bool over; /* the figures are being told */
static _Atomic long steps, judged;

static struct stepped *self(void)
{
	uintptr_t tcb = context_tcb();
	uint32_t i;

	for (i = 0; i < THREADS; i++)
		if (atomic_load_explicit(&threads[i].tcb, memory_order_relaxed) == tcb)
			return &threads[i];
	return NULL;
}

/* ---- the truth ---- */

static void push_live(struct stepped *s, uintptr_t slot, uintptr_t pc)
{
	if (s->count == LIVE) { /* the oldest half is forgotten */
		memmove(s->live, s->live + LIVE / 2, sizeof(s->live) / 2);
		s->count = LIVE / 2;
	}
	s->live[s->count++] = (struct live){slot, pc};
}

/* After a signal one instruction is not seen. Whether it was the call before TOP, of PC. */
static bool calls(uintptr_t top, uintptr_t pc)
{
	uint8_t call;
	uint32_t distance;

	return load_bytes(&call, top - 5, 1) && call == 0xe8 && load_u32(top - 4, &distance) &&
	       top + (uintptr_t)(intptr_t)(int32_t)distance == pc;
}

static bool in_adapter(uintptr_t pc)
{
	if (code_contains(&zone.layout, pc) && code_is_interpreter(&zone.layout, pc))
		return true;
	const struct stub *stub = stub_find(atomic_load(&zone.stubs), pc);

	return stub && stub->adapter;
}

/* push REGISTER: from PC to NEXT. Room alone (sub) has whatever lay there. */
static bool is_push(uintptr_t pc, uintptr_t next)
{
	return next - pc <= 2;
}

/* mov [rsp], REGISTER */
static bool stores_at_sp(uintptr_t pc)
{
	uint8_t code[4];
	const uint8_t *c = code + (WORD == 8); /* behind REX */

	return load_bytes(code, pc, sizeof(code)) && c[0] == 0x89 && (c[1] & 0xc7) == 0x04 && c[2] == 0x24;
}

/* An adapter pushes the return address again elsewhere: PC stands behind that. */
static bool moved_by_adapter(const struct stepped *s, uintptr_t pc, uintptr_t top)
{
	return in_adapter(s->last_pc) && is_push(s->last_pc, pc) &&
	       ((s->popped.pc && top == s->popped.pc) || (s->count && top == s->live[s->count - 1].pc));
}

static void follow(struct stepped *s, uintptr_t pc, uintptr_t sp)
{
	uintptr_t top = 0;

	s->popped_age++;
	while (s->count && s->live[s->count - 1].slot < sp) {
		s->popped = s->live[--s->count];
		s->popped_age = 0;
	}
	if (sp == s->last_sp - WORD && load_word(sp, &top)) {
		if ((top > s->last_pc && top <= s->last_pc + INSTRUCTION) || calls(top, pc) ||
		    moved_by_adapter(s, pc, top))
			push_live(s, sp, top);
	}
	/* Popped by an adapter, it is stored where the stack has been lowered to: by an instruction that does no more. */
	if (s->popped.pc && s->popped_age < ADAPTING && sp <= s->popped.slot && sp == s->last_sp && in_adapter(s->last_pc) &&
	    stores_at_sp(s->last_pc) && load_word(sp, &top) && top == s->popped.pc &&
	    !(s->count && s->live[s->count - 1].slot == sp)) {
		push_live(s, sp, top);
		s->popped.pc = 0;
	}
	s->last_pc = pc;
	s->last_sp = sp;
}

/* ---- the walk ---- */

bool step_compiled(uintptr_t pc)
{
	return code_contains(&zone.layout, pc) && !code_is_interpreter(&zone.layout, pc);
}

static enum step walk_all(struct stepped *s, const struct walk_regs *regs, struct walk *w,
			  struct stack_trace_writer *out)
{
	struct thread_record *r = record_find(&zone.records, context_tcb());
	enum step step = STEP_ON;

	s->walked = 0;
	if (!r)
		return STEP_END;
	if (!stack_trace_begin(out, &zone.store, &s->chunk, 2000))
		return STEP_END;
	*w = (struct walk){
		.z = &zone, .l = &zone.layout,
		.images = atomic_load_explicit(&zone.images, memory_order_acquire),
		.stubs = atomic_load_explicit(&zone.stubs, memory_order_acquire),
		.cache = atomic_load_explicit(&zone.cache, memory_order_acquire),
		.java_thread = atomic_load_explicit(&r->java_thread, memory_order_relaxed),
		.stack_high = r->stack_high, .pc = regs->pc, .sp = regs->sp, .fp = regs->fp,
		.regs = regs, .top = true, .out = out,
	};
	while (s->walked < PCS) {
		step = code_contains(w->l, w->pc) ? walk_java(w) : walk_native(w);
		if (step != STEP_ON || out->full)
			break;
		if (w->pc == w->l->call_stub_pc)
			return STEP_ROOT;
		s->pcs[s->walked] = w->pc;
		s->sps[s->walked++] = w->sp;
	}
	return step;
}

/* The same address, or what has been written over it since (deoptimisation, a frozen stack). */
static bool same(const struct live *l, uintptr_t found)
{
	uintptr_t now;

	return l->pc == found || (load_word(l->slot, &now) && now == found);
}

/*
 * Whether code at PC, or what has called it if that is no code of the JVM, is entered by a signal or an exception
 * of the JVM's own: what it interrupted stands as if it had called, which is no truth known here.
 */
static bool comes_uncalled(const struct stepped *s, uintptr_t pc)
{
	uintptr_t inner = code_contains(&zone.layout, pc) || !s->count ? pc : s->live[s->count - 1].pc;
	const struct stub *stub = stub_find(atomic_load(&zone.stubs), inner);

	return stub && (stub->exception || stub->onto || stub->polled);
}

/* The entry before INDEX; recursion is one step of the walk, whatever its depth. */
static int32_t behind(const struct stepped *s, int32_t index)
{
	uintptr_t pc = s->live[index].pc;

	do
		index--;
	while (index >= 0 && s->live[index].pc == pc);
	return index;
}

/* Whether the walk went by the same place next, with interpreted frames between. */
static bool again_found(const struct stepped *s, uint32_t i)
{
	uint32_t k = i + 1;

	while (k < s->walked && !step_compiled(s->pcs[k]))
		k++;
	return k < s->walked && s->pcs[k] == s->pcs[i];
}

static void judge(struct stepped *s, const struct walk_regs *regs)
{
	struct stack_trace_writer out;
	struct walk w;
	enum step last = walk_all(s, regs, &w, &out);
	int32_t truth = (int32_t)s->count - 1;
	uint32_t i, at = 0;

	atomic_fetch_add_explicit(&judged, 1, memory_order_relaxed);
	for (i = 0; i < s->walked; i++) {
		if (!step_compiled(s->pcs[i]))
			continue;
		while (truth >= 0 && !step_compiled(s->live[truth].pc))
			truth--;
		if (truth < 0)
			return;
		if (s->live[truth].pc == zone.layout.call_stub_pc)
			return;
		if (!same(&s->live[truth], s->pcs[i])) {
			/* Popped, not yet returned to: an adapter or an exception on its way. */
			if (at == 0 && s->popped.pc == s->pcs[i] && s->popped_age < ADAPTING &&
			    regs->pc != s->popped.pc) {
				at++;
				continue;
			}
			/* The copy that an adapter left: one entry of the truth too many. */
			if (truth > 0 && at == 0 && same(&s->live[truth - 1], s->pcs[i]) &&
			    s->live[truth].pc == s->live[truth - 1].pc) {
				truth -= 2;
				at++;
				continue;
			}
			if (comes_uncalled(s, regs->pc))
				return;
			place_note(s, &w, regs, (struct verdict){true, last, at});
			return;
		}
		at++;
		truth = again_found(s, i) ? truth - 1 : behind(s, truth);
	}
	while (truth >= 0 && !step_compiled(s->live[truth].pc))
		truth--;
	if (last == STEP_END ||
	    (last != STEP_ROOT && truth >= 0 && s->live[truth].pc != zone.layout.call_stub_pc))
		place_note(s, &w, regs, (struct verdict){false, last, at});
}

/*
 * Frames that return to the very same place are one step of the walk, once it knows them: those above the one at SP and
 * below NEXT, where the walk went on.
 */
static void seed_recursion(struct stepped *s, uintptr_t pc, uintptr_t sp, uintptr_t next)
{
	uintptr_t blob = code_blob_at(&zone.layout, pc), again, low = sp;
	struct blob b;

	if (!blob || !code_blob_read(&zone.layout, blob, &b) || !b.nmethod || b.frame_bytes < 2 * WORD)
		return;
	/* Arguments of a call lie on top of the frame: what is found as far up as the frame is long may be anything. */
	if (CPU_PUSHES_ARGUMENTS && (next - sp) % b.frame_bytes)
		return;
	while (sp + b.frame_bytes < next && load_word(sp + b.frame_bytes - WORD, &again) && again == pc &&
	       s->count < LIVE / 2)
		sp += b.frame_bytes;
	for (; sp > low; sp -= b.frame_bytes)
		push_live(s, sp - WORD, pc);
}

/* What is on the stack when a burst begins. */
static void seed_from(struct stepped *s, const struct walk_regs *regs)
{
	struct stack_trace_writer out;
	struct walk w;
	uint32_t i;

	walk_all(s, regs, &w, &out);
	s->count = 0;
	s->popped = (struct live){0};
	for (i = s->walked < LIVE / 2 ? s->walked : LIVE / 2; i > 0; i--)
		if (step_compiled(s->pcs[i - 1])) {
			seed_recursion(s, s->pcs[i - 1], s->sps[i - 1], i < s->walked ? s->sps[i] : w.sp);
			push_live(s, s->sps[i - 1] - WORD, s->pcs[i - 1]);
		}
	s->last_pc = regs->pc;
	s->last_sp = regs->sp;
}

/*
 * Whether code of the JVM has called native code that has called nothing yet: on i386 that is done at places of which
 * no debug information says how the frame is.
 */
static bool is_leaf(const struct stepped *s, uintptr_t sp)
{
	const struct live *last = s->count ? &s->live[s->count - 1] : NULL;

	return CPU_PUSHES_ARGUMENTS && last && last->slot - sp < LEAF && step_compiled(last->pc) && last->pc != zone.layout.call_stub_pc;
}

/* ---- one instruction at a time ---- */

static void on_trap(int signo, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct stepped *s = self();
	struct thread_record *r;
	struct walk_regs regs;
	bool entered;

	if (!s || s->left <= 0 || atomic_load(&over)) {
		g[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	context_read(context, &regs);
	/*
	 * What walks read stays from here until handler_leave; if the burst goes through code of the profiler's own that
	 * has entered already, a handler too, until that leaves. Without a record of our own it may not: no walk then.
	 */
	r = record_find(&zone.records, context_tcb());
	entered = r && !atomic_load(&r->inside);
	if (entered)
		handler_enter(r);
	if (!r || atomic_load(&r->tcb) != context_tcb()) {
		if (entered)
			handler_leave(r);
		s->left = 0;
		s->in_burst = false;
		g[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	if (!s->in_burst) {
		s->in_burst = true;
		seed_from(s, &regs);
	} else {
		follow(s, regs.pc, regs.sp);
		if (code_contains(&zone.layout, regs.pc) || is_leaf(s, regs.sp))
			judge(s, &regs);
	}
	if (entered)
		handler_leave(r);
	atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
	if (--s->left <= 0) {
		s->in_burst = false;
		g[REG_EFL] &= ~TRAP_FLAG;
	} else {
		g[REG_EFL] |= TRAP_FLAG;
	}
}

/* Begin a burst in the thread that is told. */
static void on_poke(int signo, siginfo_t *info, void *context)
{
	struct stepped *s = self();
	long n = s ? atomic_exchange(&s->wanted, 0) : 0;

	if (!s || !n || s->left > 0 || !atomic_load(&zone.enabled))
		return;
	s->left = n;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static int poke_signal(void)
{
	return SIGRTMIN + 11;
}

/* Called by name from truth.Stepped. */
#define STEP(type, name, ...)                                     \
	JNIEXPORT type JNICALL Java_truth_Stepped_##name(__VA_ARGS__); \
	JNIEXPORT type JNICALL Java_truth_Stepped_##name(__VA_ARGS__)

/* The calling thread may be stepped from now on. */
STEP(jint, join, JNIEnv *env, jclass unused)
{
	struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction poke = {.sa_sigaction = on_poke, .sa_flags = SA_SIGINFO | SA_RESTART};
	uint32_t i = atomic_fetch_add(&thread_count, 1);

	if (i >= THREADS)
		return -1;
	sigfillset(&trap.sa_mask);
	sigdelset(&trap.sa_mask, SIGSEGV);
	sigdelset(&trap.sa_mask, SIGBUS);
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(poke_signal(), &poke, NULL);
	threads[i].thread = pthread_self();
	atomic_store(&threads[i].tcb, context_tcb());
	return (jint)i;
}

/* The calling thread is about to end. */
STEP(void, leave, JNIEnv *env, jclass unused)
{
	struct stepped *s = self();

	if (s) {
		s->left = 0;
		atomic_store(&s->tcb, 0);
	}
}

/* Step thread INDEX for COUNT instructions from wherever it is. */
STEP(void, poke, JNIEnv *env, jclass unused, jint index, jint count)
{
	struct stepped *s = &threads[index];

	if (!atomic_load(&s->tcb))
		return;
	atomic_store(&s->wanted, count);
	pthread_kill(s->thread, poke_signal());
}

/* Steps, walks judged, wrong, incomplete. */
STEP(jlong, figure, JNIEnv *env, jclass unused, jint which)
{
	atomic_store(&over, true);
	switch (which) {
	case 0: return atomic_load(&steps);
	case 1: return atomic_load(&judged);
	default: return place_count(which == 2);
	}
}
