/*
 * exports.h - the door of the exports room: files for other viewers. formats.def lists them.
 *
 * A file holds all profiles of a session. The agent is not linked with it: the command writes them of what the agent
 * has packed, of recordings and of JSON.
 */
#ifndef JSTROBE_EXPORTS_EXPORTS_H
#define JSTROBE_EXPORTS_EXPORTS_H

#include "profile/writers/format.h"

/* For format_options.exports. Traces of calls have no place in them: ENOTSUP. Errors stay in OUT. Normal code. */
void exports_write(const struct format *f, const struct profile *const *profiles, uint32_t count,
		   const struct format_options *options, struct buffer *out);
/* What format NAME cannot hold, as one sentence; NULL: it is no export. */
const char *exports_lack(const char *name);

#endif
