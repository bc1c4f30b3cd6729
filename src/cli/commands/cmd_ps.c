/*
 * jstrobe ps: the running JVMs that we may look at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/root.h"
#include "cli/cli.h"

static void print(const struct attach_jvm *jvm)
{
	char number[16], name[64];

	snprintf(number, sizeof(number), "%u", (unsigned)jvm->uid);
	console_out("%7d  %-12s %-10s %s", (int)jvm->pid, user_name(jvm->uid, name, number), jvm->jdk,
		    jvm->main);
}

int cli_ps(struct cli *cli)
{
	struct attach_jvms jvms;
	char late[400];
	struct error err;
	size_t i;

	if (cli->word_count) {
		console_error("ps takes no arguments");
		return CLI_USAGE;
	}
	if (attach_list(&jvms, &err)) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	console_out("%7s  %-12s %-10s %s", "PID", "USER", "JDK", "MAIN");
	for (i = 0; i < jvms.count; i++)
		print(&jvms.items[i]);
	free(jvms.items);
	if (jvms.late.count)
		console_note("%s", survey_say(&jvms.late, late, sizeof(late)));
	if (geteuid() != 0)
		console_hint("only your own JVMs; run it as root to see all");
	return CLI_DONE;
}
