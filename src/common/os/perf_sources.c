/*
 * perf_sources.c - what this kernel lets be counted: its dynamic sources (in
 * /sys/bus/event_source), its tracepoints (in tracefs), and what a user may.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/os/os.h"

#define SOURCES "/sys/bus/event_source/devices"

/* The text of a small file without its newline; 0 or a negative errno. */
static int read_text(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, out, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return 0;
}

int os_perf_paranoid(void)
{
	char text[32];

	return read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) ? -2 : atoi(text);
}

bool os_perf_kernel_allowed(void)
{
	struct os_perf clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .period = 1, .kernel = true,
	};
	int fd = os_perf_open(os_gettid(), &clock);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int os_perf_source(const char *name)
{
	char path[160], text[32];
	int rc;

	if (!*name || strchr(name, '/') || strlen(name) > 64 || name[0] == '.')
		return -ENOENT;
	snprintf(path, sizeof(path), SOURCES "/%s/type", name);
	rc = read_text(path, text, sizeof(text));
	return rc ? -ENOENT : atoi(text);
}

int os_tracepoint(const char *name)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	const char *colon = strchr(name, ':');
	bool mounted = false;
	char path[256], text[32];
	size_t i;

	if (!colon || strchr(name, '/') || strchr(name, '.'))
		return -ENOENT;
	for (i = 0; i < ARRAY_LEN(roots); i++) {
		snprintf(path, sizeof(path), "%s/events", roots[i]);
		if (access(path, F_OK)) {
			if (errno == EACCES)
				return -EACCES;
			continue;
		}
		mounted = true;
		snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", roots[i], (int)(colon - name),
			 name, colon + 1);
		switch (read_text(path, text, sizeof(text))) {
		case 0:
			return atoi(text);
		case -EACCES:
			return -EACCES;
		}
	}
	return mounted ? -ENOENT : -ENODEV;
}

/* Put VALUE into the bits that LAYOUT names ("config:0-7,32-35"), the lowest first. */
static int put_bits(const char *layout, uint64_t value, struct os_perf *spec)
{
	uint64_t *word = &spec->config;
	const char *p = strchr(layout, ':');

	if (!p)
		return -EINVAL;
	if (strncmp(layout, "config1", 7) == 0)
		word = &spec->config1;
	else if (strncmp(layout, "config2", 7) == 0)
		word = &spec->config2;
	else if (layout[6] != ':')
		return -EINVAL;
	while (*p) {
		char *end;
		unsigned long low = strtoul(p + 1, &end, 10), high = low;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > 63 || high > 63 || high < low || (*end && *end != ','))
			return -EINVAL;
		for (; low <= high; low++, value >>= 1)
			*word = (*word & ~(1ull << low)) | (value & 1) << low;
		p = end;
	}
	return value ? -ERANGE : 0;
}

int os_perf_field(const char *source, const char *field, uint64_t value, struct os_perf *spec)
{
	char path[256], layout[128];

	if (strcmp(field, "config") == 0)
		return put_bits("config:0-63", value, spec);
	if (strcmp(field, "config1") == 0)
		return put_bits("config1:0-63", value, spec);
	if (strcmp(field, "config2") == 0)
		return put_bits("config2:0-63", value, spec);
	if (strchr(field, '/') || field[0] == '.' || strlen(field) > 64)
		return -ENOENT;
	snprintf(path, sizeof(path), SOURCES "/%s/format/%s", source, field);
	if (read_text(path, layout, sizeof(layout)))
		return -ENOENT;
	return put_bits(layout, value, spec);
}

int os_perf_alias(const char *source, const char *event, char *out, size_t size)
{
	char path[256];

	if (strchr(event, '/') || event[0] == '.' || strlen(event) > 64)
		return -ENOENT;
	snprintf(path, sizeof(path), SOURCES "/%s/events/%s", source, event);
	return read_text(path, out, size);
}
