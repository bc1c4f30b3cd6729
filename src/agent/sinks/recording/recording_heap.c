/*
 * recording_heap.c - how full the Java heap was after the last collection: jdk.GCHeapSummary. Looked at each
 * second, so of several collections in a second only the last is told.
 */
#include "agent/sinks/recording/recording_state.h"

/* In the order of the GCWhen constants. */
enum { BEFORE_GC, AFTER_GC };

void recording_heap(struct recording *r, uint64_t now)
{
	struct heap_watch *h = &r->heap;
	struct heap_state s;

	/* the JDK's own tells it of each collection */
	if (r->options.no_heap || r->options.apart || !zone.has_jvm)
		return;
	if (!h->counters.collections.count && !heap_counters_find(&zone.layout, &h->counters))
		return;
	heap_read(&zone.layout, &h->counters, &s);
	if (h->known && s.collections != h->collections) {
		const struct jfr_value v[] = {
			JFR_N(s.collections - 1), JFR_N(AFTER_GC), JFR_N(s.start), JFR_N(s.start + s.committed),
			JFR_N(s.committed), JFR_N(s.start + s.reserved), JFR_N(s.reserved), JFR_N(s.used),
		};

		jfr_event(r->jfr, JFR_GC_HEAP_SUMMARY, now, v, ARRAY_LEN(v));
	}
	h->known = true;
	h->collections = s.collections;
}
