/*
 * jstrobe ps: the running JVMs that we may look at, and whose the others are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/root.h"
#include "cli/cli.h"
#include "common/base/json_writer.h"

static const char *owner_of(const struct attach_jvm *jvm, char name[64])
{
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)jvm->uid);
	return user_name(jvm->uid, name, number);
}

static bool is_in_container(const struct attach_jvm *jvm)
{
	return jvm->nspid != jvm->pid;
}

/* ---- for people ---- */

static void print(const struct attach_jvm *jvm)
{
	char name[64], inside[64] = "";

	if (is_in_container(jvm))
		snprintf(inside, sizeof(inside), " (in a container, there %d)", (int)jvm->nspid);
	console_out("%7d  %-12s %-10s %s%s", (int)jvm->pid, owner_of(jvm, name), jvm->jdk, jvm->main, inside);
}

/* Why one cannot be looked at, and what to do. */
static const char *remedy(bool one)
{
	if (geteuid() != 0)
		return one ? "run as root to see it" : "run as root to see them";
	return one ? "the system protects it even from root; run jstrobe outside of this container, or with "
		     "CAP_SYS_PTRACE" :
		     "the system protects them even from root; run jstrobe outside of this container, or with "
		     "CAP_SYS_PTRACE";
}

/* A line for all of a user, with or without container, at the first of them. */
static void print_unseen(const struct attach_jvms *jvms, size_t first)
{
	const struct attach_jvm *all = jvms->unseen.items, *jvm = &all[first];
	size_t i, count = 0;
	char name[64];

	for (i = 0; i < jvms->unseen.count; i++) {
		if (all[i].uid != jvm->uid || is_in_container(&all[i]) != is_in_container(jvm))
			continue;
		if (i < first)
			return;
		count++;
	}
	console_note("%zu JVM%s of user %s%s: %s", count, count == 1 ? "" : "s", owner_of(jvm, name),
		     !is_in_container(jvm) ? "" : count == 1 ? " in a container" : " in containers",
		     remedy(count == 1));
}

static void print_all(const struct attach_jvms *jvms)
{
	char late[400];
	size_t i;

	console_out("%7s  %-12s %-10s %s", "PID", "USER", "JDK", "MAIN");
	for (i = 0; i < jvms->count; i++)
		print(&jvms->items[i]);
	for (i = 0; i < jvms->unseen.count; i++)
		print_unseen(jvms, i);
	if (jvms->late.count)
		console_note("%s", survey_say(&jvms->late, late, sizeof(late)));
	if (geteuid() != 0 && !jvms->unseen.count)
		console_hint("only your own JVMs; run it as root to see all");
}

/* ---- for programs ---- */

static void put_jvm(struct json_writer *w, const struct attach_jvm *jvm)
{
	char name[64];

	json_object(w, NULL);
	json_put_numbers(w, {"pid", (uint64_t)jvm->pid}, {"uid", jvm->uid});
	json_put_texts(w, {"user", owner_of(jvm, name)}, {"main", jvm->main});
	if (!jvm->unseen)
		json_put_text(w, "jdk", jvm->jdk);
	json_put_bool(w, "container", is_in_container(jvm));
	json_put_number(w, "pid_inside", (uint64_t)jvm->nspid);
	if (jvm->unseen)
		json_put_text(w, "remedy", remedy(true));
	json_end(w);
}

static int print_json(const struct attach_jvms *jvms)
{
	struct buffer out = BUFFER_INIT;
	struct json_writer w = JSON_WRITER(&out, JSON_FILE);
	size_t i;

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_array(&w, "jvms");
	for (i = 0; i < jvms->count; i++)
		put_jvm(&w, &jvms->items[i]);
	json_end(&w);
	json_array(&w, "unseen");
	for (i = 0; i < jvms->unseen.count; i++)
		put_jvm(&w, &jvms->unseen.items[i]);
	json_end(&w);
	json_put_number(&w, "late", jvms->late.count);
	json_end(&w);
	return cli_print(&out);
}

int cli_ps(struct cli *cli)
{
	struct attach_jvms jvms;
	struct error err;
	int rc = CLI_DONE;

	if (cli->word_count) {
		console_error("ps takes no arguments");
		return CLI_USAGE;
	}
	if (cli_check_json(cli, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (attach_list(&jvms, &err)) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	if (cli->options.format[0])
		rc = print_json(&jvms);
	else
		print_all(&jvms);
	attach_list_free(&jvms);
	return rc;
}
