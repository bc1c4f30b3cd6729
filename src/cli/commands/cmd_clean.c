/*
 * jstrobe clean: remove the copies of the agent library that attaching to containers left in a
 * process's file system. The process need not be a JVM: the one that was profiled may have ended.
 */
#include <stdio.h>

#include "cli/attach/attach.h"
#include "cli/cli.h"
#include "cli/watch.h"

#define STEP_MS 60000
#define UNSURE ", %u perhaps still loaded: process %d does not let itself be looked at in time"

int cli_clean(struct cli *cli)
{
	struct attach_cleaned cleaned;
	struct error err;
	char used[160] = "";
	const char *target;
	pid_t pid;

	if (cli_target(cli, &target, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (attach_resolve(target, &pid, &err)) {
		console_error("%s", err.text);
		return CLI_CANNOT_ATTACH;
	}
	watch_begin(STEP_MS, "looking for copies of the agent in the file system of process %d", (int)pid);
	attach_clean(pid, &cleaned, &err);
	watch_end();
	if (err.code)
		console_error("%s", err.text);
	if (cleaned.used)
		snprintf(used, sizeof(used), cleaned.unsure ? UNSURE : ", %u still loaded (by process %d)",
			 cleaned.used, (int)cleaned.user);
	console_out("%u cop%s of the agent removed%s", cleaned.removed, cleaned.removed == 1 ? "y" : "ies", used);
	return err.code ? CLI_FAILED : CLI_DONE;
}
