/*
 * tick_state.h - the state of a thread whose tick it is, seen by its own handler.
 */
#ifndef JSTROBE_SAMPLE_TICK_STATE_H
#define JSTROBE_SAMPLE_TICK_STATE_H

#include "agent/walk/regs.h"
#include "agent/zone/thread_record.h"

/*
 * R was interrupted at REGS; LATE: its signal came later than it would to a thread that has a CPU. THREAD_NONE: it
 * waits in the JVM, and its innermost Java method says for what. In R's handler.
 */
enum thread_state tick_state(const struct thread_record *r, const struct walk_regs *regs, bool late);
/*
 * Whether REGS stand behind a call of the system that has returned a number, as of bytes, of LEAST or more. False as
 * well where it is not known how this CPU makes such calls. Handlers.
 */
bool tick_in_bulk(const struct walk_regs *regs, uint64_t least);

#endif
