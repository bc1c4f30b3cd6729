/*
 * What came out, as a table, or as JSON.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/selftest/selftest.h"
#include "common/base/decimal.h"
#include "common/base/json_writer.h"
#include "profile/model/human.h"

static const char *const verdicts[] = {[CHECK_HOLDS] = "ok", [CHECK_FAILS] = "FAILED"};

struct text {
	char text[40];
};

static struct text amount(const struct check *c, double value)
{
	struct text t;

	if (c->unit == CHECK_SHARE)
		snprintf(t.text, sizeof(t.text), "%s %%", decimal(100 * value, 2).text);
	else if (c->unit == CHECK_CALLS)
		snprintf(t.text, sizeof(t.text), "%s", decimal(value, 0).text);
	else
		snprintf(t.text, sizeof(t.text), "%s ms", decimal(value / 1e6, 1).text);
	return t;
}

/* Of times in percent of what is known; shares differ by points. */
static struct text apart(const struct check *c, double value, bool sign)
{
	double by = c->unit == CHECK_NS ? 100 * value / (c->known > 0 ? c->known : 1) :
		    c->unit == CHECK_SHARE ? 100 * value : value;
	int digits = c->unit == CHECK_CALLS ? 0 : 2;
	struct text t;

	snprintf(t.text, sizeof(t.text), "%s%s", sign ? decimal_signed(by, digits).text : decimal(by, digits).text,
		 c->unit == CHECK_NS ? " %" : c->unit == CHECK_SHARE ? " p." : "");
	return t;
}

void table_head(struct buffer *out, const struct program *g)
{
	struct utsname system = {.release = "?"};

	uname(&system);
	buffer_printf(out, "jstrobe %s, %s %s (%s), %u CPUs, Linux %s\n", JSTROBE_VERSION, g->vm, g->jdk, g->java,
		      g->cpus, system.release);
	buffer_puts(out, "known: what the program measured itself; allowed: four standard errors of what is random, "
			 "and what is systematic (docs/use/selftest.md)\n");
}

static void put_check(struct buffer *out, const struct check *c)
{
	double allowed = CHECK_ERRORS * c->error + c->systematic;

	buffer_printf(out, "  %-7s%-17s%-46s%12s%12s%12s%12s", verdicts[c->verdict], c->name, c->about,
		      amount(c, c->known).text, amount(c, c->measured).text,
		      apart(c, c->measured - c->known, true).text, apart(c, allowed, false).text);
	if (c->samples)
		buffer_printf(out, "%9llu", (unsigned long long)c->samples);
	if (c->short_by > allowed / 10)
		buffer_printf(out, "%s  up to %s less: lost, or ready without a CPU", c->samples ? "" : "         ",
			      apart(c, c->short_by, false).text);
	buffer_putc(out, '\n');
}

void table_session(struct buffer *out, const struct session *s)
{
	unsigned i;

	buffer_printf(out, "\n%s: %s", s->name, s->about);
	if (s->skipped) {
		buffer_printf(out, "\n  skipped: %s\n", s->reason);
		return;
	}
	if (s->reason[0]) {
		buffer_printf(out, "\n  FAILED: %s\n", s->reason);
		return;
	}
	buffer_printf(out, " (%s%s%s)\n", s->options, s->engine[0] ? "; by " : "", s->engine);
	buffer_printf(out, "  %-7s%-17s%-46s%12s%12s%12s%12s%9s\n", "", "", "", "known", "measured", "difference",
		      "allowed", "samples");
	for (i = 0; i < s->count; i++)
		put_check(out, &s->checks[i]);
}

struct counts {
	unsigned checks, failed, sessions_failed, skipped;
};

static struct counts count_all(const struct session *all, unsigned count)
{
	struct counts n = {.checks = 0};
	unsigned i, k;

	for (i = 0; i < count; i++) {
		n.skipped += all[i].skipped;
		n.sessions_failed += all[i].reason[0] && !all[i].skipped;
		n.checks += all[i].count;
		for (k = 0; k < all[i].count; k++)
			n.failed += all[i].checks[k].verdict == CHECK_FAILS;
	}
	return n;
}

void table_end(struct buffer *out, const struct session *all, unsigned count, uint64_t took)
{
	struct counts n = count_all(all, count);
	unsigned i, k;

	buffer_printf(out, "\n%u of %u checks hold", n.checks - n.failed, n.checks);
	if (n.sessions_failed)
		buffer_printf(out, "; %u session%s without a result", n.sessions_failed,
			      human_plural(n.sessions_failed));
	if (n.skipped)
		buffer_printf(out, "; %u skipped", n.skipped);
	buffer_printf(out, " (%s s)\n", decimal((double)took / 1e9, 0).text);
	for (i = 0; i < count; i++) {
		if (all[i].failed && all[i].reason[0])
			buffer_printf(out, "FAILED: %s: %s\n", all[i].name, all[i].reason);
		for (k = 0; k < all[i].count; k++)
			if (all[i].checks[k].verdict == CHECK_FAILS)
				buffer_printf(out, "FAILED: %s: %s (%s)\n", all[i].name, all[i].checks[k].name,
					      all[i].checks[k].about);
	}
}

/* ---- JSON ---- */

static void put_value(struct json_writer *w, const char *key, const struct check *c, double value)
{
	json_put_value(w, key, decimal(value, c->unit == CHECK_SHARE ? 6 : 0).text);
}

static void json_check(struct json_writer *w, const struct check *c)
{
	static const char *const units[] = {[CHECK_NS] = "ns", [CHECK_SHARE] = "share", [CHECK_CALLS] = "count"};

	json_object(w, NULL);
	json_put_texts(w, {"name", c->name}, {"about", c->about}, {"unit", units[c->unit]});
	put_value(w, "known", c, c->known);
	put_value(w, "measured", c, c->measured);
	put_value(w, "standard_error", c, c->error);
	put_value(w, "systematic", c, c->systematic);
	put_value(w, "allowed", c, CHECK_ERRORS * c->error + c->systematic);
	put_value(w, "short_by", c, c->short_by);
	json_put_number(w, "samples", c->samples);
	json_put_text(w, "verdict", c->verdict == CHECK_HOLDS ? "ok" : "failed");
	json_end(w);
}

static void json_session(struct json_writer *w, const struct session *s)
{
	unsigned i;

	json_object(w, NULL);
	json_put_texts(w, {"name", s->name}, {"about", s->about}, {"options", s->options}, {"engine", s->engine},
		       {"verdict", s->skipped ? "skipped" : s->failed ? "failed" : "ok"}, {"reason", s->reason});
	json_array(w, "checks");
	for (i = 0; i < s->count; i++)
		json_check(w, &s->checks[i]);
	json_end(w);
	json_end(w);
}

void table_json(struct buffer *out, const struct program *g, const struct session *all, unsigned count, uint64_t took)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	struct counts n = count_all(all, count);
	unsigned i;

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_put_texts(&w, {"version", JSTROBE_VERSION}, {"java", g->java}, {"jdk", g->jdk}, {"vm", g->vm});
	json_put_numbers(&w, {"cpus", g->cpus}, {"duration_ns", took});
	json_put_text(&w, "verdict", n.failed || n.sessions_failed ? "failed" : "ok");
	json_put_numbers(&w, {"checks", n.checks}, {"failed", n.failed});
	json_array(&w, "sessions");
	for (i = 0; i < count; i++)
		json_session(&w, &all[i]);
	json_end(&w);
	json_end(&w);
}
