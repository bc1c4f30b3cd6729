/*
 * jstrobe memory: where the resident memory of a process is, from outside, once or again and again.
 */
#include <string.h>

#include "cli/attach/attach.h"
#include "cli/cli.h"
#include "cli/memory/resident.h"
#include "cli/watch.h"
#include "common/base/buffer.h"

#define STEP_MS 180000

static int show(struct cli *cli, pid_t pid)
{
	struct buffer out = BUFFER_INIT;
	struct memory_reading r;
	struct error err;
	int rc;

	watch_begin(STEP_MS, "looking at the memory of process %d", (int)pid);
	rc = memory_read(pid, &r, &err);
	watch_end();
	if (rc) {
		console_error("%s", err.text);
		memory_reading_free(&r);
		return CLI_CANNOT_ATTACH;
	}
	if (strcmp(cli->options.format, "json") == 0) {
		memory_json(&r, false, &out);
	} else {
		memory_table(&r, NULL, &out);
		memory_advice(&r, &out);
	}
	memory_reading_free(&r);
	return cli_print(&out);
}

int cli_memory(struct cli *cli)
{
	struct error err;
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
	return show(cli, pid);
}
