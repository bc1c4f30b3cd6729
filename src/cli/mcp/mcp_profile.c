/*
 * mcp_profile.c - tools that read a result: each reads the file anew, in its own process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/mcp/mcp.h"
#include "cli/reading.h"
#include "common/base/json_writer.h"
#include "common/base/decimal.h"
#include "profile/model/filter.h"
#include "profile/model/human.h"
#include "profile/model/methods.h"
#include "profile/model/work/work.h"
#include "profile/readers/readers.h"
#include "profile/views/explanation.h"

#define NEXT_MOST 900 /* bytes of what can be asked next */

/* What of a file is read: NULL: all of it. */
struct wanted {
	const char *event, *focus, *from, *to;
};

/* NULL: it cannot be read, as OUT says. *NOTHING: because there is nothing of what is wanted. */
static struct conversion *read_file(const char *file, const struct wanted *w, bool main_only, bool *nothing,
				    struct buffer *out)
{
	const char *words[8];
	int count = 0, left, program, rc;
	struct conversion *c = NULL;
	struct options o;
	struct error err;

	if (w->event) {
		words[count++] = "-e";
		words[count++] = w->event;
	}
	if (w->from) {
		words[count++] = "--from";
		words[count++] = w->from;
		words[count++] = "--to";
		words[count++] = w->to;
	}
	options_init(&o);
	o.converting = true;
	rc = options_parse_command(&o, count, (char **)(uintptr_t)words, &left, &program, &err);
	o.threads = true;
	strcpy(o.format, "hot"); /* it tells of locks, for which times are needed */
	if (rc == 0)
		rc = readers_read(file, &o, main_only, &c, &err);
	if (rc)
		buffer_printf(out, "%s\n", err.text);
	*nothing = rc == -ENODATA;
	return rc ? NULL : c;
}

static bool is_recording(const char *file)
{
	char head[4] = "";
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, head, 4) == 4 && memcmp(head, "FLR", 4) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

/* ---- what to ask next ---- */

#define NAME_MOST 160 /* bytes: a longer one leaves no room for the rest */

static void put_hottest(struct buffer *out, const struct profile *p, const char *handle)
{
	struct methods m;
	struct work w;
	bool known = activity_is_known(p), of_work = known && work_of(&w, p, NULL) == 0;
	/* idle waits are no work */
	const struct profile *looked = of_work && w.profile.stored ? &w.profile : p;
	bool built = looked->stored && methods_build(&m, looked, STYLE_TEXT, looked->weight_stored != 0) == 0;
	const char *name = built && m.count ? name_text(&m.names, m.rows[0].name) : "";

	if (*name && strlen(name) <= NAME_MOST) {
		buffer_printf(out, "- callers {\"handle\": \"%s\", \"method\": ", handle);
		json_quote(out, name);
		buffer_puts(out, "}: who calls the hottest method\n");
	}
	if (built)
		methods_free(&m);
	if (known)
		work_free(&w);
}

static void put_next(struct buffer *out, const struct profile *const *profiles, uint32_t count, const char *handle,
		     bool recording)
{
	const struct profile *p = profiles[0];
	bool wall = strcmp(p->event, "wall") == 0;
	uint32_t i;

	buffer_puts(out, "\nAsk next (tools)\n");
	buffer_printf(out, "- hot_paths {\"handle\": \"%s\"}: where it goes, as a tree", handle);
	for (i = 0; count > 1 && i < count; i++)
		buffer_printf(out, "%s%.40s", i ? ", " : "; with \"event\" one of ", profiles[i]->event);
	buffer_putc(out, '\n');
	put_hottest(out, p, handle);
	if (recording)
		buffer_printf(out, "- timeline {\"handle\": \"%s\"}: how it went over time\n", handle);
	/* without a target: what the file calls its process may be another one here */
	if (p->pid && count == 1)
		buffer_printf(out, "- record {\"target\": …, \"event\": \"%s\"} of the same JVM: %s\n", wall ?
			      "lock" : "wall",
			      wall ? "which locks, and who holds them" : "what its threads wait for");
}

/* ---- findings ---- */

int mcp_say_findings(struct mcp_call *call, const char *handle, const char *file, struct buffer *out)
{
	struct buffer next = BUFFER_INIT;
	bool nothing;
	struct conversion *c = read_file(file, &(struct wanted){NULL}, false, &nothing, out);
	struct explained e = {.file = handle, .parts = EXPLAINED_SETUP | EXPLAINED_FINDINGS | EXPLAINED_METHODS |
						       EXPLAINED_WAITS | EXPLAINED_MEMORY};
	int rc;

	(void)call;
	if (!c)
		return -1;
	e.profiles = convert_profiles(c, &e.count);
	e.around = readers_around(c);
	buffer_clean_begin(&next);
	put_next(&next, e.profiles, e.count, handle, is_recording(file));
	buffer_clean_end(&next);
	if (next.length > NEXT_MOST)
		mcp_fit(&next, NEXT_MOST, "");
	e.most = MCP_ANSWER_MOST - out->length - next.length;
	rc = explanation_put(&e, false, out);
	if (rc)
		buffer_printf(out, "%s cannot be explained: %s\n", handle, error_text(-rc));
	buffer_append(out, next.data, next.length);
	buffer_free(&next);
	readers_free(c);
	return rc ? -1 : 0;
}

int mcp_tool_findings(struct mcp_call *c, struct buffer *out)
{
	return mcp_say_findings(c, c->names[0], c->files[0], out);
}

int mcp_tool_open(struct mcp_call *c, struct buffer *out)
{
	return mcp_say_findings(c, c->handle, c->file, out);
}

/* ---- paths ---- */

/* The paths of P, which is of a file called HANDLE. */
static int put_paths(struct mcp_call *call, const struct profile *p, struct explained *e, struct buffer *out)
{
	int rc;

	e->file = call->names[0];
	e->profiles = &p;
	e->count = 1;
	e->depth = mcp_number(call, "depth", 0);
	e->most = MCP_ANSWER_MOST - 300;
	rc = explanation_put(e, false, out);
	if (rc == -ENOENT)
		buffer_printf(out, "%s has no frame \"%.100s\" in its stacks of %s; names are spelled as hot_paths "
			      "shows them, with * at the begin or end for anything: \"*HashMap.put\"\n", call->names[0],
			      e->method, p->event);
	else if (rc)
		buffer_printf(out, "%s cannot be shown: %s\n", call->names[0], error_text(-rc));
	else
		buffer_printf(out, "\nAsk next: callers or callees {\"handle\": \"%s\", \"method\": NAME} of any name "
			      "above%s\n", call->names[0],
			      e->method ? "" : "; hot_paths with \"focus\": NAME, \"depth\": N");
	return rc ? -1 : 0;
}

static int show_paths(struct mcp_call *call, const char *focus, struct explained *e, struct buffer *out)
{
	const struct format_options narrow = {.include = focus};
	const struct wanted w = {.event = mcp_arg(call, "event")};
	bool nothing;
	struct conversion *c = read_file(call->files[0], &w, true, &nothing, out);
	const struct profile *p;
	struct profile view;
	uint32_t count;
	int rc;

	if (!c)
		return -1;
	p = convert_profiles(c, &count)[0];
	rc = focus ? filter_apply(p, &narrow, &view) : 0;
	if (focus && rc == 0 && !view.stack_count) {
		buffer_printf(out, "%s has no stack with \"%.100s\"; names are spelled as hot_paths shows them, with * "
			      "at the begin or end for anything\n", call->names[0], focus);
		rc = -1;
	} else if (rc == 0) {
		rc = put_paths(call, focus ? &view : p, e, out);
	}
	if (focus && rc != -ENOMEM)
		free((void *)view.stacks);
	readers_free(c);
	return rc ? -1 : 0;
}

int mcp_tool_hot_paths(struct mcp_call *c, struct buffer *out)
{
	struct explained e = {.parts = EXPLAINED_METHODS | EXPLAINED_PATHS};

	return show_paths(c, mcp_arg(c, "focus"), &e, out);
}

int mcp_tool_callers(struct mcp_call *c, struct buffer *out)
{
	struct explained e = {.parts = EXPLAINED_PATHS, .method = mcp_arg(c, "method"), .callers = true};

	return show_paths(c, NULL, &e, out);
}

int mcp_tool_callees(struct mcp_call *c, struct buffer *out)
{
	struct explained e = {.parts = EXPLAINED_PATHS, .method = mcp_arg(c, "method")};

	return show_paths(c, NULL, &e, out);
}

/* ---- timeline ---- */

static void put_slice(struct buffer *out, const struct profile *p, uint64_t length)
{
	struct methods m;
	bool by_weight = p->weight_stored != 0;

	human_right(out, human_count(p->stored).text, 9);
	human_right(out, human_amount(p->weight_stored, p->weight_kind).text, 10);
	if (weight_is_time(p->weight_kind))
		human_right(out, decimal((double)p->weight_stored / (double)length, 2).text, 8);
	if (p->stored && methods_build(&m, p, STYLE_TEXT, by_weight) == 0 && m.count)
		buffer_printf(out, "  %.90s (%s%%)", name_text(&m.names, m.rows[0].name),
			      decimal(by_weight ? percent_of(m.rows[0].self_weight, p->weight_stored) :
						  percent_of(m.rows[0].self, p->stored), 0).text);
	if (p->stored)
		methods_free(&m);
	buffer_putc(out, '\n');
}

/* The slice from FROM to TO, ns. False: it cannot be read. */
static bool slice(const char *file, const char *event, uint64_t from, uint64_t to, struct buffer *out)
{
	struct buffer why = BUFFER_INIT;
	struct conversion *c;
	char begin[32], end[32];
	bool nothing;
	uint32_t count;

	snprintf(begin, sizeof(begin), "%lluns", (unsigned long long)from);
	snprintf(end, sizeof(end), "%lluns", (unsigned long long)to);
	c = read_file(file, &(struct wanted){.event = event, .from = begin, .to = end}, true, &nothing, &why);
	human_right(out, human_time(from).text, 10);
	if (c) {
		put_slice(out, convert_profiles(c, &count)[0], to - from);
		readers_free(c);
	} else {
		buffer_puts(out, nothing ? "        0\n" : "  cannot be read: ");
		if (!nothing)
			buffer_append(out, why.data, why.length);
	}
	buffer_free(&why);
	return c || nothing;
}

int mcp_tool_timeline(struct mcp_call *call, struct buffer *out)
{
	const char *file = call->files[0];
	uint32_t slices = MAX(mcp_number(call, "slices", 12), 2u), i, count;
	struct conversion *c;
	struct profile whole;
	char event[64];
	bool nothing, ok = true;

	if (!is_recording(file)) {
		buffer_printf(out, "%s holds no times: it is no recording (.jfr), only sums. record {\"target\": PID} "
			      "makes a recording; of a file, open the .jfr that it was made from.\n", call->names[0]);
		return -1;
	}
	c = read_file(file, &(struct wanted){.event = mcp_arg(call, "event")}, true, &nothing, out);
	if (!c)
		return -1;
	whole = *convert_profiles(c, &count)[0];
	snprintf(event, sizeof(event), "%s", whole.event);
	readers_free(c);
	buffer_clean_begin(out);
	buffer_printf(out, "Timeline of %s (%s): %u slices of %s\n      from  samples    weight%s  hottest method (its "
		      "own part)\n", call->names[0], event, slices, human_time(whole.duration / slices).text,
		      weight_is_time(whole.weight_kind) ? " threads" : "");
	for (i = 0; i < slices && ok; i++)
		ok = slice(file, event, whole.duration * i / slices, whole.duration * (i + 1) / slices, out);
	if (weight_is_time(whole.weight_kind))
		buffer_puts(out, "threads: weight per time of the slice, so many at once on average\n");
	buffer_clean_end(out);
	return ok ? 0 : -1;
}
