#include "elf_walk.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread uintptr_t stack_low, stack_high;

static void find_stack(void)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	if (stack_high || pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	stack_low = (uintptr_t)low;
	stack_high = stack_low + size;
}

static bool load(uintptr_t address, uintptr_t *value)
{
	if (address < stack_low || address > stack_high - sizeof(*value) || address % 8)
		return false;
	*value = *(const volatile uintptr_t *)address;
	return true;
}

/* DWARF numbers of x86_64 to places in a ucontext. */
static const int register_place[16] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static bool find_cfa(const struct unwind_rule *rule, const struct walk_from *at, uintptr_t *cfa,
		     enum walk_stop *stop)
{
	*stop = STOP_BAD_LOAD;
	switch (rule->cfa_kind) {
	case CFA_SP:
		*cfa = at->sp + (uintptr_t)(intptr_t)rule->cfa_offset;
		return true;
	case CFA_FP:
		*cfa = at->fp + (uintptr_t)(intptr_t)rule->cfa_offset;
		return true;
	case CFA_PLT:
		*cfa = at->sp + 8 + ((at->pc & 15) >= (uintptr_t)rule->cfa_offset ? 8 : 0);
		return true;
	case CFA_FP_DEREF:
	case CFA_SP_DEREF:
		if (!load((rule->cfa_kind == CFA_FP_DEREF ? at->fp : at->sp) +
			  (uintptr_t)(intptr_t)rule->cfa_offset, cfa))
			return false;
		*cfa += 8 * (uintptr_t)rule->cfa_register;
		return true;
	case CFA_REG:
		*stop = STOP_REGISTER;
		if (!at->context || rule->cfa_register >= 16)
			return false;
		*cfa = (uintptr_t)at->context->uc_mcontext
			       .gregs[register_place[rule->cfa_register]] +
		       (uintptr_t)(intptr_t)rule->cfa_offset;
		return true;
	default:
		*stop = rule->cfa_kind == CFA_END ? STOP_END : STOP_NO_RULE;
		return false;
	}
}

static bool step(const struct unwind_rule *rule, struct walk_from *at, enum walk_stop *stop)
{
	uintptr_t cfa, pc, fp = at->fp;

	if (!find_cfa(rule, at, &cfa, stop))
		return false;
	*stop = STOP_BAD_LOAD;
	if (cfa <= at->sp || !load(cfa + (uintptr_t)(intptr_t)rule->ra_offset, &pc))
		return false;
	if (rule->fp_kind == FP_AT_CFA && !load(cfa + (uintptr_t)(intptr_t)rule->fp_offset, &fp))
		return false;
	if (rule->fp_kind == FP_AT_FP && !load(at->fp + (uintptr_t)(intptr_t)rule->fp_offset, &fp))
		return false;
	*at = (struct walk_from){pc, cfa, rule->fp_kind == FP_LOST ? 0 : fp, NULL};
	return true;
}

struct walk_from walk_from_context(const void *context)
{
	const ucontext_t *uc = context;

	return (struct walk_from){
		(uintptr_t)uc->uc_mcontext.gregs[REG_RIP],
		(uintptr_t)uc->uc_mcontext.gregs[REG_RSP],
		(uintptr_t)uc->uc_mcontext.gregs[REG_RBP],
		uc,
	};
}

size_t walk_frames(const struct image_set *set, const struct walk_from *from, uintptr_t *pcs,
		   size_t max, enum walk_stop *stop)
{
	struct walk_from at = *from;
	bool exact = true; /* not a return address */
	size_t n;

	find_stack();
	for (n = 0; n < max; n++) {
		uintptr_t pc = exact ? at.pc : at.pc - 1;
		const struct image *image = image_find(set, pc);
		const struct unwind_rule *rule = image ? unwind_find(image, pc) : NULL;

		pcs[n] = at.pc;
		exact = false;
		if (rule && rule->cfa_kind == CFA_SIGNAL) {
			at = walk_from_context((const void *)at.sp);
			exact = true;
			continue;
		}
		*stop = STOP_NO_RULE;
		if (!rule || !step(rule, &at, stop))
			return n + 1;
	}
	*stop = STOP_FULL;
	return n;
}

const char *find_libjvm(void)
{
	static char path[4096];
	const char *home = getenv("JAVA_HOME");
	glob_t found;

	if (home) {
		snprintf(path, sizeof(path), "%s/lib/server/libjvm.so", home);
		if (access(path, R_OK) == 0)
			return path;
	}
	path[0] = '\0';
	if (glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found) == 0) {
		snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	return path[0] ? path : NULL;
}
