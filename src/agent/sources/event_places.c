/*
 * event_places.c - events that happen at a place: tracepoints and probes of the kernel, functions and memory of the
 * process.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sources/event_resolve.h"
#include "common/base/ascii.h"

/* ---- tracepoints ---- */

static int tracepoint_error(const char *name, int rc, struct error *err)
{
	if (rc == -ENODEV)
		return error_set(err, -rc, "%s: tracefs is not mounted where the JVM runs; as root: mount -t tracefs "
				 "tracefs /sys/kernel/tracing, or give the number: trace:ID", name);
	if (rc == -EACCES)
		return error_set(err, -rc, "%s: the JVM's user may not read /sys/kernel/tracing; give "
					 "the number that its "
				 "file id holds: trace:ID", name);
	return error_set(err, ENOENT, "%s: the kernel has no such tracepoint; see /sys/kernel/tracing/events", name);
}

int event_tracepoint(const char *name, struct engine_event *e, struct error *err)
{
	const char *event = strchr(name, ':') + 1, *filter = strchr(event, ':');
	char plain[160];
	int id;

	if (filter && (!filter[1] || strlen(filter + 1) >= sizeof(e->filter)))
		return error_set(err, EINVAL, "%s: the filter is empty or too long", name);
	snprintf(plain, sizeof(plain), "%.*s", filter ? (int)(filter - name) : 159, name);
	if (filter)
		strcpy(e->filter, filter + 1);
	if (strncmp(plain, "trace:", 6) == 0)
		id = atoi(plain + 6) > 0 ? atoi(plain + 6) : -ENOENT;
	else
		id = os_tracepoint(plain);
	if (id < 0)
		return tracepoint_error(name, id, err);
	e->perf.type = PERF_TYPE_TRACEPOINT;
	e->perf.config = (uint64_t)id;
	e->kernel_only = true;
	/* A sample makes system calls of its own: to hush events, to return, to restart what it broke off. */
	e->interval = strncmp(plain, "raw_syscalls:", 13) == 0 ? 10 : 1;
	return 0;
}

/* ---- probes and breakpoints ---- */

/* Split "+OFFSET" from the end of TEXT; 0 if there is none. False: it is no number. */
static bool split_offset(char *text, uint64_t *offset)
{
	char *plus = strrchr(text, '+'), *end;

	*offset = 0;
	if (!plus)
		return true;
	*offset = strtoull(plus + 1, &end, 0);
	*plus = '\0';
	return end != plus + 1 && *end == '\0';
}

int event_probe(const char *name, struct engine_event *e, struct error *err)
{
	bool kernel = name[0] == 'k', ret = name[1] == 'r';
	int type = os_perf_source(kernel ? "kprobe" : "uprobe");
	char place[256];
	uint64_t offset;
	int rc;

	if (type < 0)
		return error_set(err, ENODEV, "%s: this kernel has no %s (it was built without CONFIG_%s)", name,
				 kernel ? "kprobes" : "uprobes", kernel ? "KPROBES" : "UPROBE_EVENTS");
	snprintf(place, sizeof(place), "%s", strchr(name, ':') + 1);
	if (!split_offset(place, &offset) || !place[0])
		return error_set(err, EINVAL, "%s: write it like %s", name,
				 kernel ? "kprobe:do_sys_openat2" : "uprobe:malloc or uprobe:/path/of/file+0x1234");
	e->perf.type = (uint32_t)type;
	e->perf.config = ret;
	e->kernel_only = kernel;
	e->interval = 1;
	if (!kernel && !strchr(place, '/')) {
		rc = native_place(place, e->path, sizeof(e->path), &e->perf.config2, err);
		e->perf.config2 += offset;
		return rc;
	}
	snprintf(e->path, sizeof(e->path), "%s", place);
	e->perf.config2 = offset;
	return 0;
}

/* The kind of access after the last ':' of TEXT, which it takes away; 0 = no such. */
static uint32_t split_access(char *text)
{
	char *colon = strrchr(text, ':');
	uint32_t access = 0;
	const char *p;

	/* "::" belongs to a C++ name */
	if (!colon || (colon > text && colon[-1] == ':'))
		return HW_BREAKPOINT_RW;
	for (p = colon + 1; *p; p++) {
		if (!strchr("rwx", *p))
			return 0;
		access |= *p == 'x' ? HW_BREAKPOINT_X : *p == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_R;
	}
	*colon = '\0';
	/* x86 has none for reading alone */
	return access == HW_BREAKPOINT_R ? HW_BREAKPOINT_RW : access;
}

int event_breakpoint(const char *symbol, uint64_t offset, uint32_t access, uint64_t length,
		      struct engine_event *e, struct error *err)
{
	uintptr_t address;
	char *end;

	if (ascii_is_digit(symbol[0])) {
		address = strtoull(symbol, &end, 0);
		if (*end)
			return error_set(err, EINVAL, "%s: '%s' is no address", e->name, symbol);
	} else if (native_address(symbol, &address, err)) {
		return -err->code;
	}
	e->perf.type = PERF_TYPE_BREAKPOINT;
	e->perf.bp_type = access;
	e->perf.config1 = address + offset;
	e->perf.config2 = length;
	e->interval = 1;
	return 0;
}

int event_memory(const char *name, struct engine_event *e, struct error *err)
{
	char text[256], *slash;
	uint64_t offset, length;
	uint32_t access;

	snprintf(text, sizeof(text), "%s", name + 4);
	access = split_access(text);
	slash = strrchr(text, '/');
	length = access == HW_BREAKPOINT_X ? sizeof(long) : 1;
	if (slash) {
		length = strtoull(slash + 1, NULL, 10);
		*slash = '\0';
	}
	if (!access || !split_offset(text, &offset) || !text[0] ||
	    (length != 1 && length != 2 && length != 4 && length != 8) ||
	    ((access & HW_BREAKPOINT_X) && access != HW_BREAKPOINT_X))
		return error_set(err, EINVAL, "%s: write it like mem:SYMBOL+OFFSET/8:rw; the length is "
					 "1, 2, 4 or 8, the "
				 "access r, w, rw or x", name);
	return event_breakpoint(text, offset, access, length, e, err);
}
