#include "agent/session/jvm_info.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/jvm/jvm.h"
#include "agent/zone/zone.h"
#include "common/base/secrets.h"
#include "common/os/os.h"

#define FACT(r, type, ...)                                                \
	do {                                                              \
		const struct jfr_value v_[] = {__VA_ARGS__};              \
		recording_setting(r, type, v_, ARRAY_LEN(v_));               \
	} while (0)

static const char *ended(struct buffer *b)
{
	buffer_putc(b, '\0');
	return b->failed ? "" : b->data;
}

/* ---- the JVM ---- */

/* The COUNT texts at ARRAY, both places in the JVM, with blanks between. */
static void put_arguments(struct buffer *out, uintptr_t array, uintptr_t count)
{
	char **texts = array ? *(char ***)array : NULL;
	int n = count ? *(int *)count : 0, i;

	for (i = 0; texts && i < n; i++) {
		buffer_puts(out, i ? " " : "");
		secrets_put(out, texts[i]);
	}
}

struct properties {
	struct recording *recording;
	struct buffer command, name, version;
	bool wanted;
};

static void take_property(const char *key, const char *value, void *arg)
{
	struct properties *p = arg;
	struct buffer clean = BUFFER_INIT;

	if (strcmp(key, "sun.java.command") == 0)
		secrets_put(&p->command, value);
	if (strcmp(key, "java.vm.name") == 0)
		buffer_puts(&p->name, value);
	if (strcmp(key, "java.vm.version") == 0)
		buffer_puts(&p->version, value);
	if (!p->wanted)
		return;
	if (secrets_is_name(key, strlen(key)))
		buffer_puts(&clean, "***");
	else
		secrets_put(&clean, value);
	FACT(p->recording, JFR_SYSTEM_PROPERTY, JFR_S(key), JFR_S(ended(&clean)));
	buffer_free(&clean);
}

static void tell_jvm(struct recording *r, const struct options *o)
{
	struct properties p = {.recording = r, .command = BUFFER_INIT, .name = BUFFER_INIT,
			       .version = BUFFER_INIT, .wanted = !o->no_props && !(o->omitted & OMIT_PROPERTIES)};
	struct buffer args = BUFFER_INIT, flags = BUFFER_INIT;
	uint64_t started = os_thread_start(getpid()), now = os_monotonic();

	jvm_each_property(take_property, &p);
	if (zone.has_jvm) {
		put_arguments(&args, zone.layout.jvm_args, zone.layout.jvm_arg_count);
		put_arguments(&flags, zone.layout.jvm_flags, zone.layout.jvm_flag_count);
	}
	if (!(o->omitted & OMIT_MACHINE))
		FACT(r, JFR_JVM_INFORMATION, JFR_S(ended(&p.name)), JFR_S(ended(&p.version)),
		     JFR_S(ended(&args)), JFR_S(ended(&flags)), JFR_S(ended(&p.command)),
		     JFR_N((os_realtime() - (now - MIN(started, now))) / NS_PER_MS), JFR_N(getpid()));
	buffer_free(&p.command);
	buffer_free(&p.name);
	buffer_free(&p.version);
	buffer_free(&args);
	buffer_free(&flags);
}

static int take_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t low = UINT64_MAX, high = 0;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD)
			continue;
		low = MIN(low, info->dlpi_addr + h->p_vaddr);
		high = MAX(high, info->dlpi_addr + h->p_vaddr + h->p_memsz);
	}
	if (info->dlpi_name && info->dlpi_name[0] && low < high)
		FACT(arg, JFR_NATIVE_LIBRARY, JFR_S(info->dlpi_name), JFR_N(low), JFR_N(high));
	return 0;
}

/* ---- the machine ---- */

/* What stands behind NAME in /proc/cpuinfo's or /etc/os-release's first such line. */
static void read_line(const char *file, const char *name, char separator, char *out, size_t size)
{
	FILE *f = fopen(file, "re");
	char line[4096];
	size_t n = strlen(name);

	out[0] = '\0';
	while (f && !out[0] && fgets(line, sizeof(line), f)) {
		const char *at = strchr(line, separator);

		if (strncmp(line, name, n) != 0 || !at)
			continue;
		at += 1 + strspn(at + 1, " \"");
		snprintf(out, size, "%.*s", (int)strcspn(at, "\"\n"), at);
	}
	if (f)
		fclose(f);
}

static void tell_machine(struct recording *r)
{
	char model[256], system[256], text[1024], flags[4096];
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uname(&u);
	read_line("/proc/cpuinfo", "model name", ':', model, sizeof(model));
	read_line("/etc/os-release", "PRETTY_NAME", '=', system, sizeof(system));
	snprintf(text, sizeof(text), "%s; %s %s %s %s", system, u.sysname, u.release, u.version, u.machine);
	FACT(r, JFR_OS_INFORMATION, JFR_S(text));
	FACT(r, JFR_CPU_INFORMATION, JFR_S(u.machine), JFR_S(model), JFR_N(1), JFR_N(os_cpus_online()),
	     JFR_N(os_cpus_online()));
	read_line("/proc/cpuinfo", "flags", ':', flags, sizeof(flags));
	FACT(r, JFR_VIRTUALIZATION, JFR_S(strstr(flags, " hypervisor") ? "Virtual machine" :
					  "No virtualization detected"));
	FACT(r, JFR_PHYSICAL_MEMORY, JFR_N(os_memory_total()), JFR_N(os_memory_total() - os_memory_free()));
}

/* ---- the recording itself ---- */

static void tell_setting(struct recording *r, unsigned type, const char *name, const char *value)
{
	FACT(r, JFR_ACTIVE_SETTING, JFR_N(jfr_type_id(type, recording_is_apart(r))), JFR_S(name), JFR_S(value));
}

/* As the JDK has it: of each event that is on, three settings. */
static void tell_enabled(struct recording *r, unsigned type, const char *name, const char *value)
{
	tell_setting(r, type, "enabled", "true");
	tell_setting(r, type, "stackTrace", "true");
	tell_setting(r, type, name, value);
}

/* As the JDK writes it: "20 ms". */
static void time_text(uint64_t ns, char *text, size_t size)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US}, {"ns", 1}};
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	snprintf(text, size, "%llu %s", (unsigned long long)(ns / units[i].ns), units[ns ? i : 3].name);
}

static void tell_settings(struct recording *r, const struct options *o, const struct engine_event *events,
			  uint32_t count)
{
	struct buffer all = BUFFER_INIT;
	char text[64];
	uint32_t e;

	FACT(r, JFR_ACTIVE_RECORDING, JFR_N(1), JFR_S("jstrobe " JSTROBE_VERSION), JFR_S(NULL), JFR_N(0),
	     JFR_N(1000), JFR_N(o->max_size), JFR_N(os_realtime() / NS_PER_MS), JFR_N(0));
	tell_setting(r, JFR_ACTIVE_RECORDING, "version", JSTROBE_VERSION);
	options_print(o, ',', &all);
	tell_setting(r, JFR_ACTIVE_RECORDING, "options", ended(&all));
	buffer_free(&all);
	tell_setting(r, JFR_ACTIVE_RECORDING, "clock", "monotonic");
	for (e = 0; e < count; e++) {
		/* a bare number, as async-profiler's; the JDK's settings have a unit */
		snprintf(text, sizeof(text), "%llu", (unsigned long long)events[e].interval);
		tell_setting(r, JFR_ACTIVE_RECORDING, "event", events[e].name);
		tell_setting(r, JFR_ACTIVE_RECORDING, "interval", text);
		if (weight_is_time(events[e].weight))
			time_text(events[e].interval, text, sizeof(text));
		if (!weight_is_time(events[e].weight)) {
			bool objects = strcmp(events[e].name, "alloc") == 0 && strcmp(o->jfr_alloc, "sample") == 0;

			tell_enabled(r, objects ? JFR_OBJECT_SAMPLE : jfr_type_of_event(events[e].name), "period",
				     text);
			continue;
		}
		if (events[e].weight == WEIGHT_IO) {
			static const unsigned types[] = {JFR_FILE_READ, JFR_FILE_WRITE, JFR_FILE_FORCE,
							 JFR_SOCKET_READ, JFR_SOCKET_WRITE, JFR_IO};
			size_t i;

			for (i = 0; i < ARRAY_LEN(types); i++)
				tell_enabled(r, types[i], "threshold", text);
			continue;
		}
		if (events[e].weight == WEIGHT_WAIT && strcmp(events[e].name, "lock") != 0) {
			tell_enabled(r, JFR_NATIVE_LOCK, "threshold", text);
			continue;
		}
		if (events[e].weight == WEIGHT_WAIT) {
			tell_enabled(r, JFR_MONITOR_ENTER, "threshold", text);
			tell_enabled(r, JFR_MONITOR_WAIT, "threshold", text);
			tell_enabled(r, JFR_THREAD_PARK, "threshold", text);
			if (o->sleep)
				tell_enabled(r, JFR_THREAD_SLEEP, "threshold", text);
			continue;
		}
		if (strcmp(o->cpu_events, "cputime") != 0)
			tell_enabled(r, JFR_EXECUTION_SAMPLE, "period", text);
		if (strcmp(o->cpu_events, "execution") != 0)
			tell_enabled(r, JFR_CPU_TIME_SAMPLE, "throttle", text);
	}
}

void jvm_info_gather(struct recording *r, const struct options *o, const struct engine_event *events,
		  uint32_t count)
{
	tell_settings(r, o, events, count);
	tell_jvm(r, o);
	if (!(o->omitted & OMIT_MACHINE))
		tell_machine(r);
	if (!(o->omitted & OMIT_LIBRARIES))
		dl_iterate_phdr(take_library, r);
}

void jvm_info_gap(struct recording *r, uint64_t ns)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu ns", (unsigned long long)ns);
	tell_setting(r, JFR_COUNTERS, "gap", text);
}
