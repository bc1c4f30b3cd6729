/*
 * exports.c - which writer makes which file.
 */
#include "profile/exports/exports.h"

#include <errno.h>
#include <string.h>

#include "profile/exports/export.h"

static const struct {
	const char *name, *lack;
	export_writer *write;
} writers[] = {
#define WRITER(name, lack) {#name, lack, export_##name},
#include "profile/exports/exports.def"
};

const char *exports_lack(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(writers); i++)
		if (strcmp(writers[i].name, name) == 0)
			return writers[i].lack;
	return NULL;
}

void exports_write(const struct format *f, const struct profile *const *profiles, uint32_t count,
		   const struct format_options *options, struct buffer *out)
{
	size_t i;
	uint32_t n;

	for (n = 0; n < count; n++)
		if (profiles[n]->calls && !out->failed)
			out->failed = ENOTSUP;
	for (i = 0; !out->failed && i < ARRAY_LEN(writers); i++)
		if (strcmp(writers[i].name, f->name) == 0)
			writers[i].write(profiles, count, options, out);
}
