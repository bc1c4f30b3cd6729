/*
 * Several copies of the agent in one JVM: that of an older installation, one given by --libpath. A session belongs to
 * one of them, and every command finds it, whatever build it is of.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/talk/agent_link.h"

#define COPIES 15
#define ASK_MS 60000

/* The copies in the process, ours first. */
struct loaded {
	struct attach_copy copies[COPIES];
	const char *libraries[COPIES + 1]; /* what to load to speak with each */
	size_t count;
	bool old;
};

static void look(pid_t pid, const struct options *o, struct loaded *l)
{
	size_t i, n = attach_copies(pid, l->copies, COPIES);
	int turn;

	l->count = 0;
	l->old = false;
	for (turn = 0; turn < 2; turn++)
		for (i = 0; i < n; i++)
			if (!l->copies[i].old && agent_is_ours(o, l->copies[i].path) == (turn == 0))
				l->libraries[l->count++] = l->copies[i].path;
	for (i = 0; i < n; i++)
		l->old |= l->copies[i].old;
	/* by its path another file would be loaded; by its name it is found while it is the first of all copies */
	if (l->old)
		l->libraries[l->count++] = ATTACH_LOADED;
}

/* How much a copy has to do with sessions, as it says. */
enum rank { SILENT, IDLE, HAS_DATA, RUNS };

static enum rank ask(struct agent *a, pid_t pid, const struct options *o, const char *library, struct error *err)
{
	if (agent_attach(a, pid, o, library, err) || agent_command(a, "status", ASK_MS, err) || !a->talk.status)
		return SILENT;
	if (control_number(a->talk.status, "running"))
		return RUNS;
	return control_number(a->talk.status, "has_data") ? HAS_DATA : IDLE;
}

/* The command that came with a library of another build, where libraries and commands are installed. */
static void say_command(const char *library, pid_t pid, struct error *err)
{
	static const char place[] = "/lib/" LIBRARY;
	char text[256], said[sizeof(err->text)];
	size_t n = strlen(library);

	if (err->code != EPROTO || n < strlen(place) || strcmp(library + n - strlen(place), place) != 0)
		return;
	snprintf(text, sizeof(text), "%.*s/bin/jstrobe stop %d", (int)MIN(n - strlen(place), (size_t)200), library,
		 (int)pid);
	error_set(err, EPROTO, "%.250s; a session of that one ends by %s", strcpy(said, err->text), text);
}

/* Ask one after the other until one says that it runs; then the best of the others. */
static int choose(struct agent *a, pid_t pid, const struct options *o, const struct loaded *l, struct error *err)
{
	struct error first = {0};
	enum rank rank, best = SILENT;
	size_t i, chosen = 0;

	for (i = 0; i < l->count; i++) {
		rank = ask(a, pid, o, l->libraries[i], err);
		if (rank == SILENT)
			say_command(l->libraries[i], pid, err);
		if (rank == RUNS) {
			chosen = i;
			best = rank;
			break;
		}
		if (rank > best) {
			best = rank;
			chosen = i;
		}
		if (rank == SILENT && !first.code)
			first = *err;
		agent_close(a);
		if (rank == SILENT && err->code == EINTR)
			return -EINTR;
	}
	if (best == SILENT) {
		*err = first;
		return -err->code;
	}
	/* one that could not be asked may be the one that samples */
	if (best != RUNS && first.code)
		console_note("%s", first.text);
	else if (best != RUNS && l->old)
		console_note("process %d also holds an older build of the agent, replaced on disk since; a session of "
			     "that one ends with the JVM if it cannot be found", (int)pid);
	if (best != RUNS && agent_attach(a, pid, o, l->libraries[chosen], err))
		return -err->code;
	if (!agent_is_ours(o, l->libraries[chosen]))
		console_note("process %d: this is another copy of the agent, %s, version %s", (int)pid,
			     l->libraries[chosen][0] == '/' ? l->libraries[chosen] : "whose file was replaced",
			     a->talk.version);
	return 0;
}

int agent_attach_loaded(struct agent *a, pid_t pid, const struct options *o, struct error *err)
{
	struct loaded *l = malloc(sizeof(*l));
	int rc;

	if (!l)
		return error_set(err, ENOMEM, "out of memory");
	look(pid, o, l);
	if (!l->count)
		rc = -error_set(err, ENOENT, "Profiler is not active: no session runs in process %d; 'jstrobe start' "
				"or 'jstrobe record' begins one", (int)pid);
	else if (l->count == 1 && agent_is_ours(o, l->libraries[0]))
		rc = agent_attach(a, pid, o, l->libraries[0], err);
	else
		rc = choose(a, pid, o, l, err);
	free(l);
	return rc;
}

void agent_hint_copies(const struct agent *a)
{
	char text[1024];

	if (!a->talk.status || !control_value(a->talk.status, "copies", text, sizeof(text)))
		return;
	console_note("process %d: another copy of the agent has a session: %s; 'jstrobe stop %d' ends that one next",
		     (int)a->target.pid, text, (int)a->target.pid);
}
