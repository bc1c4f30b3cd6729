/*
 * jstrobe doctor: everything that attaching to a JVM and sampling it stands on, looked at beforehand, with what
 * is missing and what to do about it.
 */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/root.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "common/base/buffer.h"
#include "common/base/clean.h"
#include "common/base/json_writer.h"

#define STEP_MS 20000
#define ROWS 48 /* checks at the most */
#define BY_ATTACH 8 /* of them those of attaching */

static const char *const verdicts[] = {"ok", "note", "problem"};

static const struct {
	const char *name, *asks;
	void (*look)(const struct patient *p, struct finding *f);
} checks[] = {
#define DOCTOR(name, asks) {#name, asks, doctor_##name},
#include "cli/doctor/doctor.def"
};
_Static_assert(ARRAY_LEN(checks) + BY_ATTACH <= ROWS, "each check has a row");

void finding_say(struct finding *f, enum verdict v, const char *fmt, ...)
{
	va_list args;

	f->verdict = v;
	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
}

void finding_remedy(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->remedy, sizeof(f->remedy), fmt, args);
	va_end(args);
}

/* A check's name, what it asks, and what came out. */
struct row {
	const char *name, *asks;
	struct finding finding;
};

struct rows {
	struct row items[ROWS];
	unsigned count;
	enum verdict worst;
};

static void keep(struct rows *r, const char *name, const char *asks, const struct finding *f)
{
	r->worst = MAX(r->worst, f->verdict);
	if (r->count < ROWS)
		r->items[r->count++] = (struct row){name, asks, *f};
}

/* What attaching itself asks for: the sentence of its error names cause and remedy. */
static void look_at_attach(const struct patient *p, struct rows *r)
{
	size_t i;

	for (i = 0; attach_preconditions[i].name && r->worst == DOCTOR_OK; i++) {
		struct finding f = {0};
		struct error err = {0};

		if (attach_preconditions[i].check(p->pid, &p->status, &err))
			finding_say(&f, DOCTOR_PROBLEM, "%s", err.text);
		keep(r, attach_preconditions[i].name, attach_preconditions[i].asks, &f);
	}
}

static void look(const struct patient *p, struct rows *r)
{
	size_t i;

	look_at_attach(p, r);
	/* Of what cannot be seen into, or is no JVM, the rest would only be guesses. */
	for (i = 0; p->libjvm[0] && i < ARRAY_LEN(checks); i++) {
		struct finding f = {0};

		checks[i].look(p, &f);
		keep(r, checks[i].name, checks[i].asks, &f);
	}
}

/* "17.0.15" and "1.8.0_402" begin with the feature release, the latter behind "1.". */
static int feature_of(const char *jdk)
{
	return strncmp(jdk, "1.", 2) == 0 ? atoi(jdk + 2) : atoi(jdk);
}

/* Fill in what is seen of process P->pid. */
static int admit(struct patient *p, struct error *err)
{
	enum process_vm vm;
	struct error ignored;
	struct root root;

	if (process_status(p->pid, &p->status))
		return error_set(err, ESRCH, "there is no process %d; 'jstrobe ps' lists the JVMs", (int)p->pid);
	process_java(p->pid, &p->status, &p->java);
	if (process_vm(p->pid, &vm, p->libjvm))
		p->libjvm[0] = '\0';
	process_jdk(p->pid, p->libjvm, p->java.version, p->jdk, sizeof(p->jdk));
	p->feature = feature_of(p->jdk);
	p->root_error = root_of(p->pid, &root);
	root_close(&root);
	if (attach_check(p->pid, -1, &p->target, &ignored))
		p->target = (struct attach_target)ATTACH_TARGET_INIT;
	return 0;
}

static void report_json(const struct patient *p, const struct rows *r, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	unsigned i;

	json_object(&w, NULL);
	json_put_numbers(&w, {"schema", 1}, {"pid", (uint64_t)p->pid});
	json_put_texts(&w, {"main", p->java.main}, {"jdk", p->jdk}, {"verdict", verdicts[r->worst]});
	json_array(&w, "checks");
	for (i = 0; i < r->count; i++) {
		const struct row *row = &r->items[i];

		json_object(&w, NULL);
		json_put_texts(&w, {"name", row->name}, {"verdict", verdicts[row->finding.verdict]},
			       {"about", row->asks}, {"text", row->finding.text}, {"remedy", row->finding.remedy});
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
}

static void report_text(const struct patient *p, const struct rows *r, struct buffer *out)
{
	unsigned i;

	buffer_printf(out, "Process %d, ", (int)p->pid);
	clean_name(out, p->java.main);
	buffer_puts(out, ", JDK ");
	clean_name(out, p->jdk);
	buffer_putc(out, '\n');
	for (i = 0; i < r->count; i++) {
		const struct finding *f = &r->items[i].finding;

		buffer_printf(out, "%-8s %-16s ", verdicts[f->verdict], r->items[i].name);
		clean_name(out, f->text[0] ? f->text : r->items[i].asks);
		if (f->remedy[0])
			buffer_printf(out, "\n%-8s %-16s → ", "", "");
		clean_name(out, f->remedy);
		buffer_putc(out, '\n');
	}
	buffer_puts(out, r->worst == DOCTOR_PROBLEM ? "jstrobe cannot attach to it as it is.\n" :
			 r->worst == DOCTOR_NOTE ? "jstrobe can attach; read the notes.\n" :
						   "Nothing stands in the way.\n");
}

int cli_doctor(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;
	struct rows rows = {.count = 0};
	struct patient p = {.target = ATTACH_TARGET_INIT, .options = &cli->options};
	struct error err;
	const char *target;
	int rc;

	if (cli_target(cli, &target, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (attach_resolve(target, &p.pid, &err)) {
		console_error("%s", err.text);
		return CLI_CANNOT_ATTACH;
	}
	watch_begin(STEP_MS, "looking at process %d", (int)p.pid);
	if (admit(&p, &err)) {
		console_error("%s", err.text);
		return CLI_CANNOT_ATTACH;
	}
	look(&p, &rows);
	if (strcmp(cli->options.format, "json") == 0)
		report_json(&p, &rows, &out);
	else
		report_text(&p, &rows, &out);
	watch_end();
	rc = cli_print(&out);
	attach_close(&p.target);
	return rc ? rc : rows.worst == DOCTOR_PROBLEM ? CLI_CANNOT_ATTACH : CLI_DONE;
}
