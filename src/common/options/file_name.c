/*
 * Patterns in the name of a result file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/options/option_table.h"

static int put(char *out, size_t size, size_t *at, const char *text, struct error *err)
{
	size_t n = strlen(text);

	if (*at + n >= size)
		return error_set(err, ENAMETOOLONG, "file: the name gets longer than %zu bytes; "
				 "give a shorter one", size - 1);
	memcpy(out + *at, text, n + 1);
	*at += n;
	return 0;
}

static int put_time(char *out, size_t size, size_t *at, int64_t now, struct error *err)
{
	time_t seconds = (time_t)now;
	struct tm tm;
	char text[32];

	if (!localtime_r(&seconds, &tm))
		return error_set(err, EINVAL, "file: %%t: the clock shows no valid time");
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	return put(out, size, at, text, err);
}

static int put_environment(char *out, size_t size, size_t *at, const char **pattern,
			   struct error *err)
{
	const char *end = strchr(*pattern, '}'), *value;
	char name[128];

	snprintf(name, sizeof(name), "%.*s", end ? (int)(end - *pattern) : 0, *pattern);
	value = end ? getenv(name) : NULL;
	if (!value)
		return error_set(err, EINVAL, "file: %%{%s: %s", *pattern,
				 end ? "the environment has no such variable" : "the closing } is "
										"missing");
	*pattern = end + 1;
	return put(out, size, at, value, err);
}

/* "%n{10}" counts from 0 to 9 and again; 0 = "%n". Moves *PATTERN to the last letter but one. */
static unsigned limit(const char **pattern)
{
	const char *open = *pattern + 2, *end = strchr(open, '}');
	unsigned long most;
	char *rest;

	if (*open != '{' || !end)
		return 0;
	most = strtoul(open + 1, &rest, 10);
	if (rest != end || most == 0 || most > 1000000)
		return 0;
	*pattern = end - 1;
	return (unsigned)most;
}

/* Expand with NUMBER for %n; *NUMBERED says whether there was one. */
static int expand(const char *pattern, int pid, int64_t now, unsigned number, bool *numbered,
		  char *out, size_t size, struct error *err)
{
	size_t at = 0;
	char text[32];
	int rc = 0;

	*numbered = false;
	out[0] = '\0';
	while (*pattern && rc == 0) {
		char kind = pattern[0] == '%' ? pattern[1] : '\0';

		if (kind == 'p') {
			snprintf(text, sizeof(text), "%d", pid);
			rc = put(out, size, &at, text, err);
		} else if (kind == 'n') {
			unsigned most = limit(&pattern);

			snprintf(text, sizeof(text), "%u", most ? number % most : number);
			rc = put(out, size, &at, text, err);
			*numbered = !most;
		} else if (kind == 't') {
			rc = put_time(out, size, &at, now, err);
		} else if (kind == '{') {
			pattern += 2;
			rc = put_environment(out, size, &at, &pattern, err);
			continue;
		} else {
			snprintf(text, sizeof(text), "%c", *pattern++);
			rc = put(out, size, &at, text, err);
			continue;
		}
		pattern += 2;
	}
	return rc;
}

int options_file_name(const char *pattern, int pid, int64_t now, int round, char *out, size_t size,
		      struct error *err)
{
	bool numbered = true;
	unsigned number;
	int rc = 0;

	if (round >= 0)
		return expand(pattern, pid, now, (unsigned)round, &numbered, out, size, err);

	for (number = 1; numbered && number <= 100000; number++) {
		rc = expand(pattern, pid, now, number, &numbered, out, size, err);
		if (rc || !numbered || access(out, F_OK) != 0)
			return rc;
	}
	return error_set(err, EEXIST, "file: %s: all numbers up to 100000 are taken; remove old "
			 "results", pattern);
}
