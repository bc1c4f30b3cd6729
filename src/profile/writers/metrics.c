#include "profile/writers/metrics.h"

#include <stddef.h>

enum kind { COUNTER, GAUGE };

/* What there is one of: name, help, where it stands; ns become seconds. */
static const struct single {
	const char *name, *help;
	enum kind kind;
	bool ns;
	size_t offset;
} singles[] = {
#define M(field) offsetof(struct metrics, field)
	{"jstrobe_session_seconds", "How long the session has run.", GAUGE, true, M(running_for)},
	{"jstrobe_process_cpu_seconds_total",
	 "CPU time of the process during the session.", COUNTER, true, M(cpu_time)},
	{"jstrobe_own_cpu_seconds_total",
	 "CPU time of jstrobe's own threads during the session.", COUNTER, true, M(own_cpu)},
	{"jstrobe_queue_bytes", "Memory of the queues of all threads.", GAUGE, false, M(queue_bytes)},
	{"jstrobe_ring_bytes", "Memory of the flight recorder.", GAUGE, false, M(ring_bytes)},
	{"jstrobe_recording_bytes", "Size of the recording so far.", GAUGE, false, M(recording_bytes)},
	{"jstrobe_recording_unwritten_samples_total",
	 "Stored samples that are not in the recording.", COUNTER, false, M(unwritten)},
	{"jstrobe_threads", "Live threads that jstrobe knows.", GAUGE, false, M(threads)},
	{"jstrobe_threads_perf", "Live threads that are sampled by perf events.", GAUGE, false, M(threads_perf)},
	{"jstrobe_threads_timer", "Live threads that are sampled by timers.", GAUGE, false, M(threads_timer)},
	{"jstrobe_threads_refused", "Live threads that could not be armed.", GAUGE, false, M(threads_refused)},
	{"jstrobe_streams", "Live streams that are open.", GAUGE, false, M(streams)},
	{"jstrobe_stream_samples_total", "Samples written to streams.", COUNTER, false, M(streamed)},
	{"jstrobe_stream_dropped_samples_total",
	 "Samples dropped because a stream's reader was too slow.", COUNTER, false, M(dropped)},
	{"jstrobe_context_torn_total",
	 "Samples without a context because it was being written. Since the JVM started.", COUNTER, false,
	 M(contexts_torn)},
	{"jstrobe_context_evicted_total",
	 "Contexts that lost their place to others: too many were set. Since the JVM started.", COUNTER, false,
	 M(contexts_evicted)},
	{"jstrobe_context_labels_refused_total",
	 "Sets of labels without room. Since the JVM started.", COUNTER, false, M(labels_refused)},
#undef M
};

static void begin(struct buffer *out, const char *name, const char *help, enum kind kind)
{
	buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind == COUNTER ? "counter" : "gauge");
}

static void put_number(struct buffer *out, bool ns, uint64_t value)
{
	if (ns)
		buffer_printf(out, " %llu.%09llu\n", (unsigned long long)(value / NS_PER_S),
			      (unsigned long long)(value % NS_PER_S));
	else
		buffer_printf(out, " %llu\n", (unsigned long long)value);
}

/* TEXT as the value of a label. */
static void put_label(struct buffer *out, const char *key, const char *text)
{
	buffer_printf(out, "%s=\"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buffer_putc(out, '\\');
		if (*text == '\n')
			buffer_puts(out, "\\n");
		else
			buffer_putc(out, *text);
	}
	buffer_putc(out, '"');
}

static void put_of_event(struct buffer *out, const char *name, const struct metrics_event *e)
{
	buffer_printf(out, "%s{", name);
	put_label(out, "event", e->name);
}

static void put_losses(struct buffer *out, const struct metrics *m)
{
	uint32_t e, i;

	begin(out, "jstrobe_samples_lost_total", "Samples lost, by reason (docs/reference/counters.md).", COUNTER);
	for (e = 0; e < m->event_count; e++)
		for (i = 0; i < LOSS_REASONS; i++) {
			put_of_event(out, "jstrobe_samples_lost_total", &m->events[e]);
			buffer_putc(out, ',');
			put_label(out, "reason", loss_names[i].name);
			buffer_putc(out, '}');
			put_number(out, false, m->events[e].lost[i]);
		}
}

static void put_held(struct buffer *out, const struct metrics *m)
{
	uint32_t i;

	begin(out, "jstrobe_held_bytes", "Memory of what the session keeps, by structure.", GAUGE);
	for (i = 0; i < m->held_count; i++) {
		buffer_puts(out, "jstrobe_held_bytes{");
		put_label(out, "structure", m->held[i].name);
		buffer_putc(out, '}');
		put_number(out, false, m->held[i].bytes);
	}
}

static void put_counts(struct buffer *out, const struct metrics *m, const char *name, const char *help, enum kind kind,
		       size_t offset)
{
	uint32_t e;

	begin(out, name, help, kind);
	for (e = 0; e < m->event_count; e++) {
		put_of_event(out, name, &m->events[e]);
		buffer_putc(out, '}');
		put_number(out, false, *(const uint64_t *)((const char *)&m->events[e] + offset));
	}
}

/* What the stored samples stand for. */
static void put_values(struct buffer *out, const struct metrics *m)
{
	uint32_t e;

	begin(out, "jstrobe_value_total", "What the stored samples weigh, in the unit of the label.", COUNTER);
	for (e = 0; e < m->event_count; e++) {
		bool time = weight_is_time(m->events[e].weight_kind);

		put_of_event(out, "jstrobe_value_total", &m->events[e]);
		buffer_putc(out, ',');
		put_label(out, "unit", time ? "seconds" : weight_kind_names[m->events[e].weight_kind].unit);
		buffer_putc(out, '}');
		put_number(out, time, m->events[e].value);
	}
}

void metrics_write(const struct metrics *m, struct buffer *out)
{
	size_t i;

	begin(out, "jstrobe_info", "Versions.", GAUGE);
	buffer_puts(out, "jstrobe_info{");
	put_label(out, "version", m->version);
	buffer_putc(out, ',');
	put_label(out, "jdk", m->jdk);
	buffer_puts(out, "} 1\n");
	begin(out, "jstrobe_session_running", "Whether a session runs.", GAUGE);
	buffer_printf(out, "jstrobe_session_running %d\n", m->running);
	for (i = 0; i < ARRAY_LEN(singles); i++) {
		begin(out, singles[i].name, singles[i].help, singles[i].kind);
		buffer_puts(out, singles[i].name);
		put_number(out, singles[i].ns, *(const uint64_t *)((const char *)m + singles[i].offset));
	}
	if (!m->event_count)
		return;
	put_counts(out, m, "jstrobe_samples_taken_total", "Samples taken.", COUNTER,
		   offsetof(struct metrics_event, taken));
	put_counts(out, m, "jstrobe_samples_stored_total", "Samples stored: taken and not lost.",
		   COUNTER, offsetof(struct metrics_event, stored));
	put_counts(out, m, "jstrobe_samples_open", "Samples taken, and neither stored nor lost yet: of open runs.",
		   GAUGE, offsetof(struct metrics_event, open));
	put_losses(out, m);
	put_values(out, m);
	put_held(out, m);
}
