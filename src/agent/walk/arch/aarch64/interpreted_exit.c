/*
 * interpreted_exit.c (aarch64) - an interpreted method's last instructions, and beside them its first ones.
 *
 *   entry (generate_normal_entry, generate_fixed_frame)      exit (remove_activation)
 *     …                      x12 = Method*                     ldr x20, [x29, -8]
 *     stp x20, x22, [sp, -96]!   x30 = return address          mov sp, x29        the frame stands by x29
 *     …                      sender's sp in a register         ldp x29, x30, [sp], 16
 *     stp x29, x30, [sp, 80]                                   and sp, x20, -16   x30 = return address
 *     add x29, sp, 80        the frame stands, but for         ret
 *     stp xzr, x13, [sp, 64]    the sender's sp
 *
 * That register is x13 up to 19 and x19 from 20 on (8288971).
 */
#include "agent/walk/arch/linked/prologues.h"
#include "insn.h"

#define EXIT_MAX 6

enum { ESP = 20 };

uintptr_t interpreted_sender(const struct walk *w)
{
	uintptr_t sp;

	if (w->l->jdk < 20)
		return w->regs->sender_sp;
	return context_dwarf_register(w->regs->all, 19, &sp) ? sp : 0;
}

/* At or behind the load of x29 and x30. */
bool interpreted_exit(const struct walk *w, struct interpreted_caller *c)
{
	uintptr_t pc = w->pc, esp;
	struct insn i;
	unsigned n;

	for (n = 0; n < EXIT_MAX; n++, pc += INSN_BYTES) {
		uint32_t word;

		if (!load_u32(pc, &word))
			return false;
		insn_decode(word, &i);
		if (i.does == INSN_RETURN)
			break;
		if (i.does == INSN_SP_LOST && (word >> 5 & 31) == ESP) {
			if (!context_dwarf_register(w->regs->all, ESP, &esp))
				return false;
			c->sp = esp & ~(uintptr_t)15;
		} else if (n == 0 && i.does == INSN_STACK && i.load && i.link_at == 8 && i.after == 16) {
			if (!load_word(w->sp, &c->fp) || !load_word(w->sp + 8, &c->pc))
				return false;
			c->sp += 16;
		} else if (i.does != INSN_OTHER) {
			return false;
		}
	}
	return n < EXIT_MAX;
}
