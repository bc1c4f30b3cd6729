#include "cli/compose.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/reading.h"
#include "profile/findings/findings.h"
#include "profile/readers/unpack.h"

#define MOST (8ull << 30) /* bytes of a result: more is a mistake */

bool compose_is_ours(const struct agent *agent, const struct options *o)
{
	const struct format *f = format_by_name(o->format);

	return f && f->write && !o->instrument[0] && strcmp(agent->talk.version, JSTROBE_VERSION) == 0;
}

int compose_of_session(struct result *r, const struct agent *agent, const struct options *o, struct error *err)
{
	const char *to = o->file[0] ? o->file : "OUT";
	char phase[8];
	bool traces = o->instrument[0] || control_value(agent->talk.status, "trace_phase", phase, sizeof(phase));

	if (!format_is_export(format_by_name(o->format))) {
		/* pages and JSON that are made here have findings and time */
		r->packed |= format_has_times(format_by_name(o->format)) && !traces && compose_is_ours(agent, o);
		return 0;
	}
	if (traces)
		return error_set(err, ENOTSUP, "%s: a trace of methods is not written so while it runs; write a .json, "
				 "then: jstrobe convert FILE %s", o->format, to);
	if (!compose_is_ours(agent, o))
		return error_set(err, ENOTSUP, "%s: this process has an agent of version %s, which cannot be asked for "
				 "it; write a .json or .jfr, then: jstrobe convert FILE %s", o->format,
				 agent->talk.version, to);
	r->packed = true;
	return 0;
}

void compose_ask(struct options *asked, const struct options *o)
{
	*asked = *o;
	strcpy(asked->format, "packed");
	asked->times = !o->no_times && format_uses_times(format_by_name(o->format));
	/* these are obeyed here */
	asked->include[0] = asked->exclude[0] = '\0';
	asked->owners = false;
	asked->no_norm = true;
	asked->flat = asked->traces = 0;
}

static int write_profiles(const struct unpacked *u, struct result *r, const struct options *o, struct format_told *told,
			  int fd, struct error *err)
{
	struct format_options options = reading_shape(o, result_colour(r));
	const struct profile *const *profiles = (const struct profile *const *)u->profiles;
	struct format_beside beside;
	struct findings findings;
	struct buffer out;
	int rc;

	rc = findings_find(&findings, profiles, u->count, &r->around);
	if (rc)
		return error_set(err, -rc, "out of memory for the findings");
	findings_beside(&beside, &findings, &r->around);
	options.beside = &beside;
	options.owners = o->owners;
	options.width = result_width(r);
	buffer_init(&out, fd);
	out.most = MOST;
	format_write(format_by_name(o->format), profiles, u->count, &options, &out, told);
	rc = buffer_flush(&out);
	buffer_free(&out);
	return rc ? reading_write_failed(rc, MOST, err) : 0;
}

int compose(struct result *r, const struct options *o, struct format_told *told, struct error *err)
{
	struct unpacked u = {.count = 0};
	uint32_t i;
	struct stat st;
	int fd, rc;

	if (fstat(r->fd, &st))
		return error_set(err, errno, "the result cannot be read back: %s", error_text(errno));
	rc = unpack(&u, r->fd, (uint64_t)st.st_size, err);
	for (i = 0; rc == 0 && r->pid && i < u.count; i++)
		u.profiles[i]->pid = r->pid;
	fd = rc ? rc : result_memory(err);
	rc = fd < 0 ? fd : write_profiles(&u, r, o, told, fd, err);
	unpack_free(&u);
	if (rc == 0) {
		close(r->fd);
		r->fd = fd;
	} else if (fd >= 0) {
		close(fd);
	}
	return rc;
}
