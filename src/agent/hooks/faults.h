/*
 * faults.h - our handler of SIGSEGV and SIGBUS goes before those that are there, and back. Normal code.
 */
#ifndef JSTROBE_HOOKS_FAULTS_H
#define JSTROBE_HOOKS_FAULTS_H

#include "common/base/error.h"

/* Put the fault handler before those of SIGSEGV and SIGBUS; idempotent. */
int faults_install(struct error *err);
/*
 * A library that had put its own handler in place before us may have put back what was there before that, without
 * asking: then ours goes in front again. A third one's handler is left alone, it may pass on to ours. Where that is
 * not known, the kernel makes our loads (agent/walk/fault.h). Each drain.
 */
void faults_keep(void);
/* Put theirs back, unless ours was replaced meanwhile. */
void faults_remove(void);

#endif
