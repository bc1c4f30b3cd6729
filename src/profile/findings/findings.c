#include "profile/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/decimal.h"
#include "profile/findings/evidence.h"

static const struct {
	const char *id, *needs, *meaning;
	void (*test)(const struct evidence *e, struct profile_finding *f);
} rows[] = {
#define FINDING(id, needs, meaning) {#id, needs, meaning, finding_##id},
#include "profile/findings/findings.def"
};

/* The heaviest first; of equal ones, as in findings.def. */
static void insert(struct findings *f, const struct profile_finding *fresh)
{
	uint32_t at = f->count, i;

	while (at > 0 && f->rows[at - 1].score < fresh->score)
		at--;
	if (at == FINDINGS_MOST) {
		f->more++;
		return;
	}
	if (f->count == FINDINGS_MOST)
		f->more++;
	else
		f->count++;
	for (i = f->count - 1; i > at; i--)
		f->rows[i] = f->rows[i - 1];
	f->rows[at] = *fresh;
}

/*
 * To NOTE, where there are no findings: what the session shows or cannot show all the same. By wall time, what threads
 * did that were not idle, of a program that used so little CPU time that they may have had no work all the same.
 * Waits alone of a program that hardly runs: who was blocked before they were recorded, and still is, is in none of
 * them. It may be that nothing has work, or that everything waits.
 */
static void note_for(const struct evidence *e, char *note, size_t size)
{
	if (!e->lock || e->cpu || e->wall || strcmp(e->lock->event, "lock") != 0) {
		note_waits(e, note, size);
		return;
	}
	if (e->lock_work && (double)e->lock_work->groups.unsure >= LIMIT(wait) * (double)e->lock->duration) {
		snprintf(note, size, "But threads waited %s for work or for an answer: these look alike.",
			 human_time(e->lock_work->groups.unsure).text);
		return;
	}
	if (!e->lock->cpu_time || !e->lock->duration ||
	    (double)program_cpu_time(e->lock) >= LIMIT(idle_cpu) * (double)e->lock->duration)
		return;
	snprintf(note, size, "Waits that began before the recording and went on are not in it: -e wall shows them.");
}

int findings_find(struct findings *f, const struct profile *const *profiles, uint32_t count,
		  const struct surroundings *around)
{
	struct evidence e;
	int rc = evidence_gather(&e, profiles, count, around);
	unsigned i;

	*f = (struct findings){.count = 0};
	for (i = 0; rc == 0 && e.any && i < ARRAY_LEN(rows); i++) {
		struct profile_finding one = {.id = rows[i].id};

		rows[i].test(&e, &one);
		if (one.score > 0)
			insert(f, &one);
	}
	if (rc == 0 && e.any && !f->count)
		note_for(&e, f->note, sizeof(f->note));
	f->locks_recorded = rc == 0 && e.lock && e.contended == e.lock;
	evidence_free(&e);
	return rc;
}

/* ---- beside a result ---- */

static void put_advice(struct buffer *out, const char *advice, bool color)
{
	buffer_colour(out, color ? format_colours[1] : "");
	buffer_printf(out, "   %s", advice);
	buffer_colour(out, color ? "\033[0m" : "");
	buffer_putc(out, '\n');
}

static void put_text(const struct format_beside *b, bool color, struct buffer *out)
{
	const char *bold = color ? format_colours[0] : "", *off = color ? "\033[0m" : "";
	const struct findings *f = b->findings;
	uint32_t i;

	if (!f->count)
		buffer_puts(out, b->around && b->around->known ? "Nothing stands out.\n" :
				 "Nothing stands out in the samples; what went on around them is not in this file.\n");
	if (*f->note)
		put_advice(out, f->note, color);
	for (i = 0; i < f->count; i++) {
		buffer_colour(out, bold);
		buffer_printf(out, "%u. %s", i + 1, f->rows[i].sentence);
		buffer_colour(out, off);
		buffer_putc(out, '\n');
		if (!f->rows[i].advice[0])
			continue;
		put_advice(out, f->rows[i].advice, color);
	}
	if (f->more)
		buffer_printf(out, "   and %u more with less weight\n", f->more);
	buffer_putc(out, '\n');
}

static void put_one(struct json_writer *w, uint32_t i, const void *findings)
{
	const struct profile_finding *f = &((const struct findings *)findings)->rows[i];

	json_put_texts(w, {"id", f->id}, {"sentence", f->sentence}, {"advice", f->advice}, {"look", f->look});
	json_put_value(w, "score", decimal(f->score, 3).text);
}

static void put_json(const struct format_beside *b, struct json_writer *w)
{
	unsigned i;

	json_put_objects(w, "findings", b->findings->count, put_one, b->findings);
	if (*b->findings->note)
		json_put_text(w, "findings_note", b->findings->note);
	if (!b->around || !b->around->known)
		return;
	json_object(w, "surroundings");
	for (i = 0; i < SURROUNDINGS; i++)
		if (around_known(b->around, i))
			json_put_number(w, surrounding_name((enum surrounding)i), b->around->value[i]);
	json_end(w);
}

void findings_beside(struct format_beside *b, const struct findings *f, const struct surroundings *around)
{
	uint32_t i;

	*b = (struct format_beside){.findings = f, .around = around, .text = put_text, .json = put_json,
				    .locks_recorded = f->locks_recorded};
	for (i = 0; i < f->count; i++)
		b->tells_lock |= text_begins(f->rows[i].id, "lock");
}

void findings_markdown(struct buffer *out)
{
	static const struct {
		const char *id, *value, *unit, *meaning;
	} limits[] = {
#define THRESHOLD(id, value, unit, meaning) {#id, #value, unit, meaning},
#include "profile/findings/thresholds.def"
	}, keys[] = {
#define SURROUNDING(id, unit, meaning) {#id, "", unit, meaning},
#include "profile/model/surroundings.def"
	};
	unsigned i;

	buffer_puts(out, "\n## What is looked for\n\n| finding | goes by | it is said where |\n|---|---|---|\n");
	for (i = 0; i < ARRAY_LEN(rows); i++)
		buffer_printf(out, "| `%s` | %s | %s |\n", rows[i].id, rows[i].needs, rows[i].meaning);
	buffer_puts(out, "\n## Thresholds\n\n| threshold | from | |\n|---|---|---|\n");
	for (i = 0; i < ARRAY_LEN(limits); i++)
		buffer_printf(out, "| `%s` | %s %s | %s |\n", limits[i].id, limits[i].value, limits[i].unit,
			      limits[i].meaning);
	buffer_puts(out, "\n## Surroundings\n\nKeys of `surroundings` in JSON; what is not known has none.\n\n"
			 "| key | unit | meaning |\n|---|---|---|\n");
	for (i = 0; i < ARRAY_LEN(keys); i++)
		buffer_printf(out, "| `%s` | %s | %s |\n", keys[i].id, keys[i].unit, keys[i].meaning);
}
