/*
 * faulty.h - calls to the system that fail when told to. For test programs that are linked with
 * these calls wrapped (the Makefile's WRAPPED): test_faults_*.
 */
#ifndef FAULTY_H
#define FAULTY_H

#include <stdbool.h>

enum fault {
	FAULT_MEMORY, /* malloc and its kin */
	FAULT_MAP,    /* mmap, mremap, mprotect */
	FAULT_PERF,   /* perf_event_open */
	FAULT_TIMER,  /* timer_create */
	FAULT_FILE,   /* open, fopen, opendir */
	FAULTS
};

/* The N-th call of that kind from now on fails, in whichever thread, and with EVER all after it; 0: none. */
void fault_at(enum fault what, unsigned n, bool ever);
/* No call fails any more, and none is counted. */
void fault_stop(void);
/* Calls of that kind between the last two. */
unsigned fault_seen(void);
const char *fault_name(enum fault what);

#endif
