/*
 * jstrobe selftest: whether what jstrobe says of a program on this machine, with this JVM, is what the program knows of
 * itself.
 */
#include "cli/selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/knob.h"
#include "common/os/os.h"

#define DEFAULT_NS (60 * NS_PER_S)
#define BESIDE_NS (1200 * NS_PER_MS) /* of a session, to begin and end it, before one was measured */
#define LEAST_MS 500
#define MOST_MS 10000
#define MOST_WORDS 16
#define RESULT "-o json -f -"

static const struct plan {
	const char *name, *scenario;
	unsigned groups;
	int jdk;
	const char *options, *about;
} plans[] = {
#define SESSION(name, scenario, groups, jdk, options, about) {name, scenario, groups, jdk, options, about},
#include "cli/selftest/selftest.def"
};

struct selftest {
	struct cli *cli;
	struct patience patience;
	struct program program;
	struct session sessions[ARRAY_LEN(plans)];
	unsigned count;
	uint64_t began, beside;  /* beside: of the last session, what was not the program's time */
	bool json;
};

/* ---- one session ------------------------------------------------------------------- */

/* CPU time that the machine's host gave to others, ns. */
static uint64_t stolen(void)
{
	unsigned long long v[8] = {0};
	char line[256] = "";
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, line, sizeof(line) - 1) <= 0)
		line[0] = '\0';
	close(fd);
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
		   &v[7]) != 8)
		return 0;
	return v[7] * NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Run "jstrobe ACTION OPTIONS PID". */
static int command(struct selftest *t, const char *action, const char *options, struct buffer *out, char said[400],
		   struct error *err)
{
	const char *words[MOST_WORDS + 8] = {"jstrobe", action};
	const char *libpath = t->cli->options.libpath;
	char list[256], pid[16], *rest = list, *word;
	unsigned n = 2;

	snprintf(list, sizeof(list), "%s", options);
	while (n < MOST_WORDS && (word = strsep(&rest, " ")))
		words[n++] = word;
	if (libpath[0]) {
		words[n++] = "--libpath";
		words[n++] = libpath;
	}
	snprintf(pid, sizeof(pid), "%d", (int)t->program.pid);
	words[n++] = pid;
	return itself_run(&t->patience, words, out, said, err);
}

/* Let it lie: the truth of this name is half of what it was. Tests see that selftest says so. */
static void falsify(struct selftest *t)
{
	static const char knob[] = "truth:";
	const char *fail = t->cli->options.engine_fail;
	unsigned i;

	if (!KNOB(strncmp(fail, knob, sizeof(knob) - 1) == 0))
		return;
	for (i = 0; i < t->program.truth_count; i++)
		if (strcmp(t->program.truths[i].name, fail + sizeof(knob) - 1) == 0) {
			t->program.truths[i].value /= 2;
			t->program.truths[i].parts /= 2;
			t->program.truths[i].delay = 0;
		}
}

static void note_engines(struct session *s, const struct measured *m)
{
	unsigned i;

	for (i = 0; i < m->count; i++)
		if (!m->timing[0])
			snprintf(s->engine + strlen(s->engine), sizeof(s->engine) - strlen(s->engine), "%s%.24s",
				 i ? ", " : "", m->profiles[i].engine);
}

/* What stood in for something else is not what the session is about. */
static void compare(struct selftest *t, struct session *s, const struct plan *plan, const struct measured *m,
		    uint64_t others)
{
	static const char cpu[] = "-e cpu ";
	struct circumstances c = {.groups = plan->groups, .feature = t->program.feature, .stolen = others};
	unsigned i;

	note_engines(s, m);
	if (strncmp(plan->options, cpu, sizeof(cpu) - 1) == 0 && strncmp(m->profiles[0].engine, "perf", 4) != 0) {
		s->skipped = true;
		snprintf(s->reason, sizeof(s->reason), "no perf events are permitted here, %s takes their place; "
			 "`jstrobe doctor PID` says why", m->profiles[0].engine);
		return;
	}
	falsify(t);
	judge(s, m, &t->program, &c);
	for (i = 0; i < s->count; i++)
		s->failed |= s->checks[i].verdict == CHECK_FAILS;
}

static int run_session(struct selftest *t, struct session *s, const struct plan *plan, unsigned ms, struct error *err)
{
	struct buffer result = BUFFER_INIT, nothing = BUFFER_INIT;
	struct measured m = {.count = 0};
	char said[400];
	uint64_t before = stolen();
	int rc = command(t, "start", plan->options, &nothing, said, err);

	if (rc == 0)
		rc = program_run(&t->program, plan->scenario, ms, &t->patience, err);
	if (rc == 0)
		rc = command(t, "stop", RESULT, &result, said, err);
	if (rc == 0 && (result.failed || !result.length))
		rc = error_set(err, ENODATA, "stop gave no result");
	if (rc == 0)
		rc = measured_read(&m, result.data, result.length, err);
	if (rc == 0)
		compare(t, s, plan, &m, stolen() - before);
	measured_free(&m);
	buffer_free(&result);
	buffer_free(&nothing);
	return rc;
}

/* ---- all of them ------------------------------------------------------------------- */

static bool is_wanted(const struct cli *cli, const struct plan *plan)
{
	int i;

	for (i = 0; i < cli->word_count; i++)
		if (strcmp(cli->words[i], plan->name) == 0)
			return true;
	return cli->word_count == 0;
}

/* How long the program works in the next of LEFT sessions, so that all are through in time. */
static unsigned next_ms(const struct selftest *t, unsigned left)
{
	uint64_t all = t->cli->options.duration ? t->cli->options.duration : DEFAULT_NS;
	uint64_t ran = os_monotonic() - t->began, each = all > ran ? (all - ran) / left : 0;

	each = each > t->beside ? (each - t->beside) / NS_PER_MS : 0;
	return (unsigned)MAX(LEAST_MS, MIN(each, MOST_MS));
}

static int one(struct selftest *t, const struct plan *plan, unsigned left, struct error *err)
{
	struct session *s = &t->sessions[t->count++];
	uint64_t began = os_monotonic();
	unsigned ms = next_ms(t, left);
	int rc;

	*s = (struct session){.name = plan->name, .about = plan->about, .options = plan->options};
	if (t->program.feature < plan->jdk) {
		s->skipped = true;
		snprintf(s->reason, sizeof(s->reason), "needs JDK %d, this is %s", plan->jdk, t->program.jdk);
		return 0;
	}
	console_progress("%s: %u.%u s, then %u more", plan->name, ms / 1000, ms % 1000 / 100, left - 1);
	rc = run_session(t, s, plan, ms, err);
	if (rc == -EINTR)
		return rc;
	if (rc) {
		s->failed = true;
		snprintf(s->reason, sizeof(s->reason), "%.390s", err->text);
	}
	t->beside = os_monotonic() - began;
	t->beside -= MIN(t->beside, ms * NS_PER_MS);
	/* without the program there is nothing more to say */
	return rc == -ECHILD ? rc : 0;
}

static void show(struct selftest *t, const struct session *s)
{
	struct buffer out = BUFFER_INIT;

	console_progress("%s", "");
	if (t->json)
		return;
	if (s)
		table_session(&out, s);
	else
		table_head(&out, &t->program);
	cli_print(&out);
}

static int run_all(struct selftest *t, struct error *err)
{
	unsigned left = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < ARRAY_LEN(plans); i++)
		left += is_wanted(t->cli, &plans[i]);
	for (i = 0; i < ARRAY_LEN(plans) && rc == 0; i++) {
		if (!is_wanted(t->cli, &plans[i]))
			continue;
		rc = one(t, &plans[i], left--, err);
		if (rc != -EINTR)
			show(t, &t->sessions[t->count - 1]);
	}
	return rc == -ECHILD ? 0 : rc;
}

static int conclude(struct selftest *t)
{
	struct buffer out = BUFFER_INIT;
	uint64_t took = os_monotonic() - t->began;
	bool failed = false;
	unsigned i;
	int rc;

	for (i = 0; i < t->count; i++)
		failed |= t->sessions[i].failed;
	if (t->json)
		table_json(&out, &t->program, t->sessions, t->count, took);
	else
		table_end(&out, t->sessions, t->count, took);
	rc = cli_print(&out);
	return rc ? rc : failed ? CLI_FAILED : CLI_DONE;
}

/* ---- the command ------------------------------------------------------------------- */

static int check_words(const struct cli *cli, struct error *err)
{
	char names[200] = "";
	size_t i, k;

	if (cli->program)
		return error_set(err, EINVAL, "selftest: it has a program of its own; remove -- and what follows");
	for (i = 0; i < ARRAY_LEN(plans); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? ", " : "", plans[i].name);
	for (i = 0; i < (size_t)cli->word_count; i++) {
		for (k = 0; k < ARRAY_LEN(plans) && strcmp(plans[k].name, cli->words[i]) != 0; k++)
			;
		if (k == ARRAY_LEN(plans))
			return error_set(err, EINVAL, "selftest: no session is called %.80s; there are %s",
					 cli->words[i], names);
	}
	if (cli->options.format[0] && strcmp(cli->options.format, "json") != 0)
		return error_set(err, EINVAL, "selftest: it prints a table, or with --json an object, not %s",
				 cli->options.format);
	return 0;
}

int cli_selftest(struct cli *cli)
{
	static struct selftest t;
	struct error err = {0};
	int rc = check_words(cli, &err);

	if (rc) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	t = (struct selftest){.cli = cli, .beside = BESIDE_NS, .json = cli->options.format[0]};
	t.program = (struct program){.in = -1, .out = -1, .err = -1, .lines = BUFFER_INIT};
	t.began = os_monotonic();
	t.patience.signals = signals_open(&err);
	if (t.patience.signals < 0) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	signal(SIGPIPE, SIG_IGN); /* a JVM that is gone is seen by what it does not answer */
	console_progress("starting a JVM");
	rc = program_begin(&t.program, cli->options.java, &t.patience, &err);
	if (rc) {
		program_end(&t.program);
		console_error("%s", err.text);
		return rc == -EINTR ? CLI_ABORTED : CLI_CANNOT_ATTACH;
	}
	show(&t, NULL);
	rc = run_all(&t, &err);
	program_end(&t.program);
	if (rc) {
		console_error("%s", err.text);
		return CLI_ABORTED;
	}
	return conclude(&t);
}
