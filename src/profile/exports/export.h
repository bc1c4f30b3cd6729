/*
 * export.h - the writers of the exports room, for its table. Inner header.
 */
#ifndef JSTROBE_EXPORTS_EXPORT_H
#define JSTROBE_EXPORTS_EXPORT_H

#include "profile/writers/format.h"

typedef void export_writer(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
			   struct buffer *out);

#define WRITER(name, lack) export_writer export_##name;
#include "profile/exports/exports.def"

#endif
