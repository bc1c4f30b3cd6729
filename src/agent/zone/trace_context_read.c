#include "agent/zone/trace_context_read.h"

#include <endian.h>

#include "agent/zone/load.h"
#include "agent/zone/zone.h"
#include "context.h"

static struct trace_context_cell *find(struct trace_context_cell *cells, uint64_t thread)
{
	uint32_t probe;

	for (probe = 0; probe < TRACE_CONTEXT_PROBES; probe++) {
		struct trace_context_cell *c = &cells[trace_context_place(thread, probe)];
		uint64_t its = atomic_load_explicit(&c->thread, memory_order_relaxed);

		if (its == thread)
			return c;
		if (!its)
			return NULL;
	}
	return NULL;
}

bool trace_context_of(uint64_t thread, struct trace_context *out)
{
	struct trace_context_cell *cells = atomic_load_explicit(&zone.trace_contexts.cells, memory_order_acquire), *c;
	uint64_t check;

	*out = (struct trace_context){0};
	c = cells && thread ? find(cells, thread) : NULL;
	check = c ? atomic_load_explicit(&c->check, memory_order_acquire) : 0;
	if (!check)
		return false;
	out->trace_high = atomic_load_explicit(&c->trace_high, memory_order_relaxed);
	out->trace_low = atomic_load_explicit(&c->trace_low, memory_order_relaxed);
	out->span = atomic_load_explicit(&c->span, memory_order_relaxed);
	out->labels = atomic_load_explicit(&c->labels, memory_order_relaxed);
	if (unlikely(check != trace_context_check(thread, out))) {
		atomic_fetch_add_explicit(&zone.trace_contexts.torn, 1, memory_order_relaxed);
		*out = (struct trace_context){0};
		return false;
	}
	return !trace_context_is_none(out);
}

/*
 * Thread.getId of who runs on R's thread, 0 = no Java code. From JDK 24 on the JVM notes that of a virtual thread, too;
 * before, one that is mounted cannot be told from its carrier, whose own cell is empty then.
 */
static uint64_t thread_on(const struct thread_record *r)
{
	uintptr_t java = atomic_load_explicit(&r->java_thread, memory_order_relaxed);
	uint64_t id;

	if (!java)
		return 0;
	if (zone.layout.thread_owner_id >= 0 && load_u64(java + (uintptr_t)zone.layout.thread_owner_id, &id))
		return id;
	return atomic_load_explicit(&r->java_id, memory_order_relaxed);
}

/* ---- OpenTelemetry's record ---- */

#ifndef CONTEXT_DTV
#define CONTEXT_DTV (-1) /* not known of this CPU */
#endif
#define DTV_ENTRY 16 /* bytes: a pointer, and what to free; the first entry is a count, as is the one before */
#define DTV_UNALLOCATED ((uintptr_t)-1)
#define OTEL_VALID 1

/* OTEP 4947: packed, numbers of the ids in network order. */
struct otel_record {
	uint64_t trace_high, trace_low, span;
	uint8_t valid, flags;
	uint16_t attributes;
} __attribute__((packed));

/*
 * Where the thread with thread pointer TCB has its variable; 0 = it has none yet, or it cannot be told. The dtv as
 * glibc has it (sysdeps/generic/dl-dtv.h): the number of its entries stands before it.
 */
static uintptr_t otel_variable(const struct otel_place *p, uint32_t way, uintptr_t tcb)
{
	uintptr_t dtv, count, block;

	if (way == OTEL_STATIC)
		return tcb + (uintptr_t)p->at;
	if (CONTEXT_DTV < 0 || !load_word(tcb + (uintptr_t)CONTEXT_DTV, &dtv) ||
	    !load_word(dtv - DTV_ENTRY, &count) || p->module > count ||
	    !load_word(dtv + p->module * DTV_ENTRY, &block) || !block || block == DTV_UNALLOCATED)
		return 0;
	return block + (uintptr_t)p->at;
}

/* A virtual thread is mounted: the record may be the one of whom the carrier carried before. */
static bool carries(const struct thread_record *r)
{
	uintptr_t java = atomic_load_explicit(&r->java_thread, memory_order_relaxed), entry;

	return java && zone.layout.thread_cont_entry >= 0 &&
	       load_word(java + (uintptr_t)zone.layout.thread_cont_entry, &entry) && entry;
}

static bool otel_trace_context(const struct thread_record *r, struct trace_context *out)
{
	const struct otel_place *p = &zone.trace_contexts.otel;
	uint32_t way = atomic_load_explicit(&p->way, memory_order_acquire);
	uintptr_t tcb = atomic_load_explicit(&r->tcb, memory_order_relaxed), variable, record;
	struct otel_record o;

	variable = way != OTEL_NONE && tcb && !carries(r) ? otel_variable(p, way, tcb) : 0;
	if (!variable || !load_word(variable, &record) || !record || !load_bytes(&o, record, sizeof(o)) ||
	    o.valid != OTEL_VALID)
		return false;
	out->trace_high = be64toh(o.trace_high);
	out->trace_low = be64toh(o.trace_low);
	out->span = be64toh(o.span);
	return !trace_context_is_none(out);
}

bool trace_context_of_record(const struct thread_record *r, struct trace_context *out)
{
	bool asked = atomic_load_explicit(&zone.trace_contexts.cells, memory_order_relaxed);

	return trace_context_of(asked ? thread_on(r) : 0, out) || otel_trace_context(r, out);
}
