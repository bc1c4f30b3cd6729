/*
 * Which JVMs run here, and which one a name means.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attach/attach.h"
#include "cli/attach/process.h"
#include "common/base/ascii.h"

/* In a child: a hostile process must not hold up the others. */
static bool look_at(pid_t pid, void *reply, const void *unused)
{
	struct attach_jvm *jvm = reply;
	char libjvm[PATH_MAX];
	struct process_status s;
	struct process_java java;
	enum process_vm vm;
	int rc = process_vm(pid, &vm, libjvm);

	jvm->unseen = (rc == -EACCES || rc == -EPERM) && process_has_vm_thread(pid);
	if ((!jvm->unseen && (rc || vm == PROCESS_NO_VM)) || process_status(pid, &s))
		return false;
	process_java(pid, &s, &java);
	jvm->pid = pid;
	jvm->nspid = s.nspid;
	jvm->uid = s.uid;
	snprintf(jvm->main, sizeof(jvm->main), "%s", java.main);
	if (jvm->unseen)
		snprintf(jvm->jdk, sizeof(jvm->jdk), "?");
	else if (vm == PROCESS_OPENJ9)
		snprintf(jvm->jdk, sizeof(jvm->jdk), "OpenJ9");
	else
		process_jdk(pid, libjvm, java.version, jvm->jdk, sizeof(jvm->jdk));
	return true;
}

static bool add(pid_t pid, const void *reply, void *result)
{
	struct attach_jvms *jvms = result;
	const struct attach_jvm *told = reply;
	struct attach_jvm *jvm = told->unseen ? VECTOR_PUSH(&jvms->unseen) : VECTOR_PUSH(jvms);

	if (!jvm)
		return false;
	memcpy(jvm, told, sizeof(*jvm));
	/* texts end, whatever became of the child */
	jvm->jdk[sizeof(jvm->jdk) - 1] = jvm->main[sizeof(jvm->main) - 1] = '\0';
	return true;
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct attach_jvm *)a)->pid - ((const struct attach_jvm *)b)->pid;
}

int attach_list(struct attach_jvms *jvms, struct error *err)
{
	struct survey survey = {.look = look_at, .take = add, .size = sizeof(*jvms->items), .result = jvms};
	int rc;

	memset(jvms, 0, sizeof(*jvms));
	rc = survey_all(&survey, &jvms->late, err);
	if (rc == 0 && jvms->count)
		qsort(jvms->items, jvms->count, sizeof(*jvms->items), by_pid);
	if (rc == 0 && jvms->unseen.count)
		qsort(jvms->unseen.items, jvms->unseen.count, sizeof(*jvms->unseen.items), by_pid);
	return rc;
}

void attach_list_free(struct attach_jvms *jvms)
{
	free(jvms->items);
	free(jvms->unseen.items);
}

/* The main class without its package, or the jar without its folder. */
static const char *last_part(const char *main)
{
	const char *slash = strrchr(main, '/'), *dot;
	size_t n = strlen(main);

	main = slash ? slash + 1 : main;
	if (n > 4 && strcmp(main + strlen(main) - MIN(strlen(main), (size_t)4), ".jar") == 0)
		return main;
	dot = strrchr(main, '.');
	return dot ? dot + 1 : main;
}

static bool equals(const char *main, const char *name)
{
	const char *last = last_part(main);
	size_t n = strlen(last);

	if (strcmp(main, name) == 0 || strcmp(last, name) == 0)
		return true;
	return n > 4 && strcmp(last + n - 4, ".jar") == 0 && strlen(name) == n - 4 &&
	       strncmp(last, name, n - 4) == 0;
}

/* How many match; *PID is the last of them, LIST names them. */
static size_t match(const struct attach_jvms *jvms, const char *name, bool exact, pid_t *pid,
		    char *list, size_t size)
{
	size_t i, found = 0, at = 0;

	list[0] = '\0';
	for (i = 0; i < jvms->count; i++) {
		const struct attach_jvm *jvm = &jvms->items[i];

		if (exact ? !equals(jvm->main, name) : !ascii_contains(jvm->main, name))
			continue;
		found++;
		*pid = jvm->pid;
		if (at < size)
			at += (size_t)snprintf(list + at, size - at, "%s%d %s", at ? ", " : "",
					       (int)jvm->pid, jvm->main);
	}
	return found;
}

/* When PID started, in ticks since boot; 0 when it is gone. */
static uint64_t started(pid_t pid)
{
	unsigned long long ticks = 0;
	char text[1024];
	const char *p;
	int i;

	if (process_read(pid, "stat", text, sizeof(text)) <= 0)
		return 0;
	/* the program's name is in brackets and may hold any; the start is field 22 */
	p = strrchr(text, ')');
	for (i = 2; p && i < 22; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p && sscanf(p, "%llu", &ticks) == 1 ? ticks : 0;
}

/* async-profiler's word for "the JVM": the one that started last. */
static size_t newest(const struct attach_jvms *jvms, pid_t *pid)
{
	uint64_t latest = 0, its;
	size_t i;

	for (i = 0; i < jvms->count; i++) {
		its = started(jvms->items[i].pid);
		if (its < latest)
			continue;
		latest = its;
		*pid = jvms->items[i].pid;
	}
	return jvms->count > 0;
}

static int resolve_name(const char *name, pid_t *pid, struct error *err)
{
	struct attach_jvms jvms;
	char list[320], late[200];
	size_t found;
	int rc = attach_list(&jvms, err);

	if (rc)
		return rc;
	survey_say(&jvms.late, late, sizeof(late));
	found = match(&jvms, name, true, pid, list, sizeof(list));
	if (found == 0 && strcmp(name, "jps") == 0)
		found = newest(&jvms, pid);
	if (found == 0)
		found = match(&jvms, name, false, pid, list, sizeof(list));
	if (found > 1)
		rc = error_set(err, EINVAL, "'%.64s' means several JVMs: %s; give the pid%s%s", name,
			       list, *late ? " (" : "", late);
	else if (found == 0)
		rc = error_set(err, ESRCH, "no JVM is called '%.64s'; 'jstrobe ps' lists them%s%s",
			       name, *late ? "; " : "", late);
	attach_list_free(&jvms);
	return rc;
}

int attach_resolve(const char *target, pid_t *pid, struct error *err)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(target, &end, 10);
	if (*end || end == target)
		return resolve_name(target, pid, err);
	if (errno || n <= 0 || n > INT_MAX)
		return error_set(err, ESRCH, "%s is no process number; 'jstrobe ps' lists the JVMs",
				 target);
	*pid = (pid_t)n;
	return 0;
}
