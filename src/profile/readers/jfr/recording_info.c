#include "profile/readers/jfr/recording_info.h"

#include <stdlib.h>
#include <string.h>

#include "profile/model/human.h"

#define TIME_MAX 40 /* letters: a longer text is no time, and may be told with each event */

struct recording_info_counts *recording_info_counts_of(struct recording_info *f, uint32_t event)
{
	struct recording_info_counts *c;
	size_t i;

	for (i = 0; i < f->counts.count; i++)
		if (f->counts.items[i].event == event)
			return &f->counts.items[i];
	c = f->counts.count < RECORDING_INFO_COUNTS_MAX ? VECTOR_PUSH(&f->counts) : NULL;
	if (c)
		c->event = event;
	return c;
}

uint64_t recording_info_time(const char *value)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"", 1}, {"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S},
		{"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
	};
	uint64_t n, ns;
	char *end;
	size_t i;

	if (*value < '0' || *value > '9' || strnlen(value, TIME_MAX) == TIME_MAX)
		return 0; /* "everyChunk", "off" */
	n = strtoull(value, &end, 10);
	while (*end == ' ')
		end++;
	for (i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(units[i].name, end) == 0)
			return __builtin_mul_overflow(n, units[i].ns, &ns) ? 0 : ns;
	return 0;
}

void recording_info_jvm(struct recording_info *f, struct strings *strings, const char *version, const char *arguments,
	       int64_t pid)
{
	/* "OpenJDK 64-Bit Server VM (17.0.15+6-Debian) for linux-amd64 JRE …" */
	const char *open = strchr(version, '('), *close = open ? strchr(open, ')') : NULL;
	/* strings_add may move what these stand in */
	char *jdk = close ? strndup(open + 1, (size_t)(close - open - 1)) : strdup(version);
	char *program = strndup(arguments, strcspn(arguments, " "));

	if (jdk)
		f->jdk = strings_add(strings, jdk, strlen(jdk));
	if (program)
		f->main_class = strings_add(strings, program, strlen(program));
	free(jdk);
	free(program);
	f->pid = pid > 0 && pid < INT32_MAX ? (int)pid : 0;
}

void recording_info_notes(const struct recording_info *f, const char *name, struct buffer *out)
{
	if (f->open_chunks)
		buffer_printf(out, "%s: %u chunk%s not finished; read up to the last whole event\n",
			      name, f->open_chunks, f->open_chunks == 1 ? " was" : "s were");
	if (f->lost_chunks)
		buffer_printf(out, "%s: %u chunk%s could not be read: without description of their types "
			      "events mean nothing\n", name, f->lost_chunks, human_plural(f->lost_chunks));
	if (f->lost_bytes)
		buffer_printf(out, "%s: %llu byte%s damaged or not finished and were left out\n", name,
			      (unsigned long long)f->lost_bytes, f->lost_bytes == 1 ? " is" : "s are");
	if (f->constants_damaged)
		buffer_printf(out, "%s: some constants are damaged; stacks, threads or names may be "
			      "missing\n", name);
}
