/*
 * events_available.c - what can be sampled in this process, for `jstrobe list`.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>

#include "agent/sources/event_resolve.h"

/* Whether this process may sample E: "yes", or why not. */
static void put_state(const struct engine_event *e, struct buffer *out)
{
	struct os_perf spec = e->perf;
	int fd;

	if (e->ops != &engine_perf) {
		buffer_puts(out, "yes");
		return;
	}
	spec.period = e->interval;
	spec.kernel = true;
	fd = os_perf_open(os_gettid(), &spec);
	if (fd == -EACCES || fd == -EPERM) {
		spec.kernel = false;
		fd = e->fallback || e->kernel_only || weight_is_time(e->weight) ? fd : os_perf_open(os_gettid(), &spec);
		if (fd < 0)
			buffer_puts(out, e->fallback ? "by timers: no permission for perf events"
						     : "no: not permitted (kernel.perf_event_paranoid)");
		else
			buffer_puts(out, "user mode only (kernel.perf_event_paranoid)");
	} else if (fd < 0) {
		buffer_puts(out, e->perf.type == PERF_TYPE_SOFTWARE ? "no: the kernel has none"
								     : "no: the machine has none");
	} else {
		buffer_puts(out, "yes");
	}
	if (fd >= 0)
		os_close(fd);
}

static void put_kind(struct buffer *out, const char *name, const char *help, const char *state)
{
	buffer_printf(out, "%-28s %-58s %s\n", name, help, state);
}

void event_list(struct buffer *out)
{
	struct engine_event e = {.ops = &engine_perf, .weight = WEIGHT_COUNT, .interval = 1};
	const struct event_row *row;
	struct error ignored;
	int found;

	for (row = event_rows; row->name; row++) {
		if (!row->available)
			continue;
		event_resolve(row->name, 0, &e, &ignored);
		buffer_printf(out, "%-28s %-58s ", row->name, row->help);
		put_state(&e, out);
		buffer_putc(out, '\n');
	}
	found = os_tracepoint("sched:sched_switch");
	put_kind(out, "SUBSYSTEM:EVENT[:FILTER]", "a tracepoint of the kernel, also trace:ID",
		 found == -ENODEV ? "no: tracefs is not mounted"
		 : found == -EACCES ? "by trace:ID only: /sys/kernel/tracing is not readable" : "yes");
	found = os_perf_source("kprobe");
	put_kind(out, "kprobe:FUNCTION", "entry of a kernel function, kretprobe: its return",
		 found < 0 ? "no: the kernel has none" : "yes, with CAP_PERFMON");
	found = os_perf_source("uprobe");
	put_kind(out, "uprobe:FUNCTION", "entry of a native function, uretprobe: its return",
		 found < 0 ? "no: the kernel has none" : "yes, with CAP_PERFMON");
	memset(&e, 0, sizeof(e));
	e.ops = &engine_perf;
	e.weight = WEIGHT_COUNT;
	if (event_breakpoint("clock_gettime", 0, HW_BREAKPOINT_X, sizeof(long), &e, &ignored) == 0) {
		buffer_printf(out, "%-28s %-58s ", "FUNCTION", "calls of a native function, by a hardware breakpoint");
		put_state(&e, out);
		buffer_printf(out, "\n%-28s %-58s ", "mem:SYMBOL[+N][/LEN][:rwx]", "access to memory, by the same");
		put_state(&e, out);
		buffer_putc(out, '\n');
	}
	memset(&e, 0, sizeof(e));
	e = (struct engine_event){.ops = &engine_perf, .weight = WEIGHT_COUNT, .interval = COUNTER_INTERVAL,
				  .perf = {.type = PERF_TYPE_RAW}};
	buffer_printf(out, "%-28s %-58s ", "rNNN, PMU/TERM=VALUE/", "a raw counter of the CPU, or of a "
				 "source of events");
	put_state(&e, out);
	buffer_putc(out, '\n');
}
