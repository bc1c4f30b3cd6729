/*
 * format_help.c - what each format is for. The agent does not ask, so this is not linked with it.
 */
#include <string.h>

#include "profile/writers/format.h"

static const struct {
	const char *name, *help;
} helps[] = {
#define FORMAT(name, extensions, function, help) {#name, help},
#define EXPORT(name, extensions, help) {#name, help},
#include "profile/writers/formats.def"
};

const char *format_help(const struct format *f)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(helps); i++)
		if (strcmp(helps[i].name, f->name) == 0)
			return helps[i].help;
	return "";
}
