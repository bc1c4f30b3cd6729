/*
 * context_table.h - the table in which threads say what they work for, and the sets of labels they may name there.
 *
 * Both are made when the program's Java code first asks for them (java/jstrobe/context/SampleContext.java) and stay for
 * the life of the process: code that runs may hold them. How the table is read: agent/zone/trace_context.h. Any
 * thread in normal code.
 */
#ifndef JSTROBE_CONTEXT_CONTEXT_TABLE_H
#define JSTROBE_CONTEXT_CONTEXT_TABLE_H

#include "agent/zone/trace_context.h"

#define TRACE_CONTEXT_LABEL_SETS 10000
#define TRACE_CONTEXT_LABEL_BYTES (4u << 20) /* of all sets together */

/* The table, of TRACE_CONTEXT_CELLS cells; NULL when there is no address space for it. */
struct trace_context_cell *trace_contexts_table(void);
/*
 * Number of a cell that is THREAD's from now on: the one it has, one that was never used or was cleared, or, if all
 * within its reach hold something, one that another thread loses, which is counted.
 */
uint32_t trace_contexts_claim(uint64_t thread);

/*
 * NUMBER is the set of labels TEXT from now on: "key\nvalue\nkey\nvalue\n". False: no room, or the
 * number is another text's; it stays unknown, which is counted.
 */
bool trace_contexts_define(uint64_t number, const char *text);
/* N sets had no number to be named by. */
void trace_contexts_refuse(uint64_t n);
/* The text of set NUMBER, "" if it is not known. Valid for ever. */
const char *trace_contexts_labels(uint64_t number);

/*
 * Look for the thread variable of OpenTelemetry's thread context in the libraries that are loaded; what was found
 * stays mapped until trace_contexts_otel_forget(), after which no handler may run that began before. On a thread that
 * is not the process's first.
 */
void trace_contexts_otel_find(void);
void trace_contexts_otel_forget(void);

struct trace_contexts_counts {
	uint64_t torn;    /* samples without their trace context, since they came while it was being written */
	uint64_t evicted; /* cells taken from threads that had something in them */
	uint64_t refused; /* times that a set of labels found no room */
};
void trace_contexts_count(struct trace_contexts_counts *c);

#endif
