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

#define STEP_MS 20000

static const char *const verdicts[] = {"ok", "note", "problem"};

static const struct {
	const char *name, *asks;
	void (*look)(const struct patient *p, struct finding *f);
} checks[] = {
#define DOCTOR(name, asks) {#name, asks, doctor_##name},
#include "cli/doctor/doctor.def"
};

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

static void show(struct buffer *out, const char *name, const char *asks, const struct finding *f, bool json)
{
	if (json) {
		buffer_printf(out, "%s\n    {\"name\": \"%s\", \"verdict\": \"%s\", \"about\": ",
			      out->length && out->data[out->length - 1] == '}' ? "," : "", name, verdicts[f->verdict]);
		buffer_json(out, asks);
		buffer_puts(out, ", \"text\": ");
		buffer_json(out, f->text);
		buffer_puts(out, ", \"remedy\": ");
		buffer_json(out, f->remedy);
		buffer_putc(out, '}');
		return;
	}
	buffer_printf(out, "%-8s %-16s ", verdicts[f->verdict], name);
	clean_name(out, f->text[0] ? f->text : asks);
	if (f->remedy[0])
		buffer_printf(out, "\n%-8s %-16s → ", "", "");
	clean_name(out, f->remedy);
	buffer_putc(out, '\n');
}

/* What attaching itself asks for: the sentence of its error names cause and remedy. */
static enum verdict look_at_attach(const struct patient *p, struct buffer *out, bool json)
{
	enum verdict worst = DOCTOR_OK;
	size_t i;

	for (i = 0; attach_preconditions[i].name && worst == DOCTOR_OK; i++) {
		struct finding f = {0};
		struct error err = {0};

		if (attach_preconditions[i].check(p->pid, &p->status, &err)) {
			finding_say(&f, DOCTOR_PROBLEM, "%s", err.text);
			worst = DOCTOR_PROBLEM;
		}
		show(out, attach_preconditions[i].name, attach_preconditions[i].asks, &f, json);
	}
	return worst;
}

static enum verdict look(const struct patient *p, struct buffer *out, bool json)
{
	enum verdict worst = look_at_attach(p, out, json);
	size_t i;

	/* Of what cannot be seen into, or is no JVM, the rest would only be guesses. */
	for (i = 0; p->libjvm[0] && i < ARRAY_LEN(checks); i++) {
		struct finding f = {0};

		checks[i].look(p, &f);
		show(out, checks[i].name, checks[i].asks, &f, json);
		worst = MAX(worst, f.verdict);
	}
	return worst;
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

static void report(const struct patient *p, struct buffer *out, bool json, enum verdict *worst)
{
	struct buffer rows = BUFFER_INIT;
	const char *text;

	*worst = look(p, &rows, json);
	text = buffer_text(&rows, out);
	if (json) {
		buffer_printf(out, "{\"schema\": 1, \"pid\": %d, \"main\": ", (int)p->pid);
		buffer_json(out, p->java.main);
		buffer_puts(out, ", \"jdk\": ");
		buffer_json(out, p->jdk);
		buffer_printf(out, ", \"verdict\": \"%s\", \"checks\": [%s\n]}\n", verdicts[*worst], text);
	} else {
		buffer_printf(out, "Process %d, ", (int)p->pid);
		clean_name(out, p->java.main);
		buffer_puts(out, ", JDK ");
		clean_name(out, p->jdk);
		buffer_printf(out, "\n%s", text);
		buffer_puts(out, *worst == DOCTOR_PROBLEM ? "jstrobe cannot attach to it as it is.\n" :
				 *worst == DOCTOR_NOTE ? "jstrobe can attach; read the notes.\n" :
							 "Nothing stands in the way.\n");
	}
	buffer_free(&rows);
}

int cli_doctor(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;
	enum verdict worst = DOCTOR_OK;
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
	report(&p, &out, strcmp(cli->options.format, "json") == 0, &worst);
	watch_end();
	rc = cli_print(&out);
	attach_close(&p.target);
	return rc ? rc : worst == DOCTOR_PROBLEM ? CLI_CANNOT_ATTACH : CLI_DONE;
}
