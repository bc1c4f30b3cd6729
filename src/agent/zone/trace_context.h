/*
 * trace_context.h - what a thread works for, as the program says: trace id, span id, labels (docs/use/slow-request.md).
 *
 * The program's Java code writes it into a table of native memory, with plain stores and no call
 * (java/jstrobe/context/SampleContext.java). Its cells are found by Thread.getId, not by the thread of the system:
 * so a virtual thread takes its own along from carrier to carrier, and has it while it is parked, too.
 *
 *      cell:  thread | trace, high | trace, low | span | labels | check | – | –          64 bytes
 *
 * A reader may come in the middle of a write: in a handler of the thread that writes, or from outside. No order
 * of stores is relied on, neither the compiler's nor the CPU's: the check is made of all other words, and where it does
 * not fit, the thread shows no trace context in this sample, which is counted.
 *
 * A thread's cell is the first of TRACE_CONTEXT_PROBES places that has its number; behind a cell that was never used
 * there is none. Cells that were cleared are taken over by other threads (agent/context/context_table.c), never unused
 * again.
 */
#ifndef JSTROBE_ZONE_TRACE_CONTEXT_H
#define JSTROBE_ZONE_TRACE_CONTEXT_H

#include <stdatomic.h>

#include "common/base/base.h"

/* SampleContext.java has the same numbers. */
#define TRACE_CONTEXT_CELLS (64u * 1024)
#define TRACE_CONTEXT_PROBES 8
#define TRACE_CONTEXT_STRIDE 4099u

struct trace_context {
	uint64_t trace_high, trace_low; /* W3C trace id, 0 = none */
	uint64_t span;                  /* 0 = none */
	uint64_t labels;                /* number of a set of labels (agent/context/context_table.h), 0 = none */
};

struct trace_context_cell {
	_Atomic uint64_t thread; /* Thread.getId; 0 = never used */
	_Atomic uint64_t trace_high, trace_low, span, labels;
	_Atomic uint64_t check;  /* 0: cleared */
	uint64_t unused[2];
};
_Static_assert(sizeof(struct trace_context_cell) == 64, "SampleContext.java counts on it");

/* Where a thread's pointer to its record of OpenTelemetry is (otel_thread_ctx_v1, see agent/context/context_otel.c). */
enum otel_way {
	OTEL_NONE,
	OTEL_STATIC,  /* AT bytes from the thread pointer */
	OTEL_DYNAMIC, /* AT bytes into the block of module MODULE in the thread's dtv */
};
struct otel_place {
	_Atomic uint32_t way; /* enum otel_way, stored last */
	intptr_t at;
	size_t module;
};

struct trace_context_table {
	/* TRACE_CONTEXT_CELLS of them, mapped for ever; NULL: not asked for */
	struct trace_context_cell *_Atomic cells;
	_Atomic uint64_t torn; /* samples that came in the middle of a write */
	struct otel_place otel;
};

/* Number of the cell where THREAD is looked for in the PROBEth place. */
static inline uint32_t trace_context_place(uint64_t thread, uint32_t probe)
{
	return ((uint32_t)thread + probe * TRACE_CONTEXT_STRIDE) % TRACE_CONTEXT_CELLS;
}

/* Never 0. */
static inline uint64_t trace_context_check(uint64_t thread, const struct trace_context *r)
{
	return (thread * 0x9e3779b97f4a7c15ull + r->trace_high * 0xbf58476d1ce4e5b9ull +
		r->trace_low * 0x94d049bb133111ebull + r->span * 0xd6e8feb86659fd93ull +
		r->labels * 0xff51afd7ed558ccdull) | 1;
}

static inline bool trace_context_is_none(const struct trace_context *r)
{
	return !(r->trace_high | r->trace_low | r->span | r->labels);
}

static inline bool trace_context_equals(const struct trace_context *a, const struct trace_context *b)
{
	return a->trace_high == b->trace_high && a->trace_low == b->trace_low && a->span == b->span &&
	       a->labels == b->labels;
}

#endif
