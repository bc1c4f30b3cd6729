#include "profile/views/explanation.h"

#include <errno.h>
#include <string.h>

#include "common/base/ascii.h"
#include "profile/findings/findings.h"
#include "profile/model/human.h"
#include "profile/model/loss_line.h"
#include "profile/model/methods.h"
#include "profile/model/profile_unit.h"
#include "profile/model/work/work.h"
#include "profile/views/explained_parts.h"
#include "profile/views/program_methods.h"

/* ---- where it comes from ---- */

static const struct profile *of_event(const struct explained *e, const char *event)
{
	uint32_t i;

	for (i = 0; i < e->count; i++)
		if (strcmp(e->profiles[i]->event, event) == 0)
			return e->profiles[i];
	return NULL;
}

/* The loss line without the advice in brackets that its parts have for a terminal. */
static void put_losses(struct buffer *out, const struct profile *p)
{
	struct buffer line = BUFFER_INIT;
	const char *at, *bracket;

	format_loss_line(p, &line);
	at = buffer_text(&line, out);
	while ((bracket = strstr(at, " (-"))) {
		buffer_append(out, at, (size_t)(bracket - at));
		at = bracket + strcspn(bracket, ")");
		at += *at != '\0';
	}
	buffer_puts(out, at);
	buffer_free(&line);
}

/* The same where there is little room: how many were lost. */
static void put_counts(struct buffer *out, const struct profile *p)
{
	uint64_t lost = p->taken > p->stored + p->gone ? p->taken - p->stored - p->gone : 0;

	buffer_printf(out, "%s sample%s", human_count(p->stored).text, human_plural(p->stored));
	if (lost)
		buffer_printf(out, ", %s lost (%s)", human_count(lost).text, human_percent(lost, p->taken).text);
}

/* BRIEF: there are many. */
static void put_event(struct sections *s, struct section *to, const struct profile *p, bool brief)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "%s", p->event);
	if (*p->engine && strcmp(p->engine, p->event) != 0)
		buffer_printf(&text, " (engine %s)", p->engine);
	if (p->interval)
		buffer_printf(&text, ", a sample each %s", human_amount(p->interval, p->weight_kind).text);
	if (p->weight_stored)
		buffer_printf(&text, ", %s in samples", human_amount(p->weight_stored, p->weight_kind).text);
	buffer_puts(&text, ": ");
	if (brief)
		put_counts(&text, p);
	else
		put_losses(&text, p);
	section_row(s, to, NULL, &text, NULL);
}

static void put_setup(struct sections *s, const struct explained *e)
{
	const struct profile *p = e->profiles[0];
	struct section *to = sections_add(s, "setup", 1000, "Profile %s", e->file);
	struct buffer text = BUFFER_INIT;
	uint32_t i;

	if (!to)
		return;
	to->least = e->count + 1;
	buffer_printf(&text, "program %.150s", *p->main_class ? p->main_class : "not known");
	if (p->pid)
		buffer_printf(&text, ", pid %d", p->pid);
	if (*p->jdk)
		buffer_printf(&text, ", JDK %.60s", p->jdk);
	if (p->duration)
		buffer_printf(&text, ", %s", human_time(p->duration).text);
	if (p->started_at)
		buffer_printf(&text, " from %s", human_date(p->started_at).text);
	section_row(s, to, NULL, &text, NULL);
	for (i = 0; i < e->count; i++)
		put_event(s, to, e->profiles[i], e->count > 2);
}

/* ---- findings ---- */

static int put_findings(struct sections *s, const struct explained *e)
{
	struct section *to = sections_add(s, "findings", 1200, "Findings, the weightiest first");
	struct buffer text = BUFFER_INIT;
	struct findings f;
	int rc = findings_find(&f, e->profiles, e->count, e->around);
	uint32_t i;

	if (rc || !to)
		return -ENOMEM;
	for (i = 0; i < f.count; i++) {
		buffer_puts(&text, f.rows[i].sentence);
		section_row(s, to, f.rows[i].id, &text, f.rows[i].advice);
	}
	if (!f.count) {
		buffer_puts(&text, e->around && e->around->known ? "Nothing stands out." :
			    "Nothing stands out in the samples; what went on around them is not in this file.");
		section_row(s, to, "none", &text, *f.note ? f.note : NULL);
	}
	return 0;
}

/* ---- what to ask next ---- */

/* Append WORD as a shell takes it. */
static void put_word(struct buffer *out, const char *word)
{
	const char *p = word;

	while (ascii_is_letter(*p) || ascii_is_digit(*p) || (*p && strchr("_./:@%+=,-", *p)))
		p++;
	if (!*p && *word) {
		buffer_puts(out, word);
		return;
	}
	buffer_putc(out, '\'');
	for (p = word; *p; p++)
		*p == '\'' ? buffer_puts(out, "'\\''") : buffer_putc(out, *p);
	buffer_putc(out, '\'');
}

/* "jstrobe record …": what would be seen of the running program, if it was not looked at. */
static void put_record(struct sections *s, struct section *to, const struct explained *e, const char *event,
		       const char *why)
{
	struct buffer text = BUFFER_INIT;
	int pid = e->profiles[0]->pid;

	if (of_event(e, event))
		return;
	buffer_printf(&text, "jstrobe record -e %s -d 30 ", event);
	if (pid)
		buffer_printf(&text, "%d", pid);
	else
		buffer_puts(&text, "PID");
	buffer_printf(&text, "   # %s", why);
	section_row(s, to, NULL, &text, NULL);
}

/* Who calls the method with the most of its own. */
static void put_hottest(struct sections *s, struct section *to, const struct explained *e)
{
	const struct profile *p = e->profiles[0];
	struct buffer text = BUFFER_INIT;
	bool known = activity_is_known(p) && p->stored;
	struct methods m = {.count = 0};
	struct work w;

	if (known && work_of(&w, p, NULL) == 0 && w.profile.stored)
		p = &w.profile; /* what threads without work wait in is the hottest of all */
	if (p->stored && methods_build(&m, p, STYLE_TEXT, p->weight_stored != 0) == 0 &&
	    program_methods(&m, p) == 0 && m.count) {
		buffer_puts(&text, "jstrobe explain ");
		put_word(&text, e->file);
		buffer_puts(&text, " --include ");
		put_word(&text, name_text(&m.names, m.rows[0].name));
		buffer_puts(&text, "   # only the stacks of the hottest method");
		section_row(s, to, NULL, &text, NULL);
	}
	methods_free(&m);
	if (known)
		work_free(&w);
}

static void put_next(struct sections *s, const struct explained *e)
{
	struct section *to = sections_add(s, "next", 550, "What to ask next");
	struct buffer text = BUFFER_INIT;

	if (!to)
		return;
	buffer_puts(&text, "jstrobe convert ");
	put_word(&text, e->file);
	buffer_puts(&text, " x.html   # all of it, as a flame graph");
	section_row(s, to, NULL, &text, NULL);
	put_hottest(s, to, e);
	put_record(s, to, e, "wall", "what its threads wait for");
	put_record(s, to, e, "cpu", "what uses CPU time");
	put_record(s, to, e, "alloc", "what allocates");
	if (of_event(e, "wall"))
		put_record(s, to, e, "lock", "which locks they wait for, and who holds them");
	buffer_puts(&text, "jstrobe diff ");
	put_word(&text, e->file);
	buffer_puts(&text, " AFTER   # what has changed, after a change");
	section_row(s, to, NULL, &text, NULL);
}

int explanation_put(const struct explained *e, bool json, struct buffer *out)
{
	struct sections s = {.no_memory = false};
	uint32_t i;
	int rc;

	if (e->parts & EXPLAINED_SETUP)
		put_setup(&s, e);
	rc = e->parts & EXPLAINED_FINDINGS ? put_findings(&s, e) : 0;
	for (i = 0; rc == 0 && i < e->count && (e->parts & (EXPLAINED_METHODS | EXPLAINED_PATHS)); i++)
		rc = explained_paths(&s, e->profiles[i], i == 0, e);
	for (i = 0; rc == 0 && i < e->count && (e->parts & EXPLAINED_WAITS); i++)
		rc = explained_waits(&s, e->profiles[i]);
	for (i = 0; rc == 0 && i < e->count && (e->parts & EXPLAINED_MEMORY); i++)
		rc = explained_memory(&s, e->profiles[i]);
	if (e->parts & EXPLAINED_NEXT)
		put_next(&s, e);
	if (rc == 0)
		rc = sections_write(&s, json, e->most, out);
	sections_free(&s);
	return rc;
}
