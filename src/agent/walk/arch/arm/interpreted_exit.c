/*
 * interpreted_exit.c (arm) - an interpreted method's last instructions, and beside them its first ones.
 *
 *   entry (generate_normal_entry, generate_fixed_frame)      exit (remove_activation)
 *     …                      r9 = Method*                      mov r12, r11
 *     str lr, [sp, -4]!      lr = return address               ldm r11, {r11, lr}    the frame stands by r12
 *     str r11, [sp, -4]!     r4 = the sender's sp              ldr sp, [r12, -4]     lr = return address
 *     mov r11, sp            the frame stands, but for         bx lr
 *     str r4, [sp, -4]!      the sender's sp
 */
#include "agent/walk/arch/linked/prologues.h"
#include "insn.h"

#define EXIT_MAX 4
#define SENDER_SP_OF_R12 0xe51cd004u /* ldr sp, [r12, -4] */

uintptr_t interpreted_sender(const struct walk *w)
{
	return w->regs->sender_sp;
}

/* Behind the load of r11 and lr. */
bool interpreted_exit(const struct walk *w, struct interpreted_caller *c)
{
	uintptr_t pc = w->pc, old;
	struct insn i;
	uint32_t word;
	unsigned n;

	for (n = 0; n < EXIT_MAX; n++, pc += INSN_BYTES) {
		if (!load_u32(pc, &word))
			return false;
		insn_decode(word, &i);
		if (i.does == INSN_RETURN)
			break;
		if (n == 0 && word == SENDER_SP_OF_R12) {
			if (!context_dwarf_register(w->regs->all, 12, &old) || !load_word(old - WORD, &c->sp))
				return false;
		} else if (i.does != INSN_OTHER && i.does != INSN_FORGET) {
			return false;
		}
	}
	return n < EXIT_MAX;
}
