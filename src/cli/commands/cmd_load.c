/*
 * jstrobe load: have a JVM load any agent library, as jattach's action of that name does. Also "PID load FILE true
 * OPTIONS", which is how ap-loader says it.
 */
#include <string.h>
#include <sys/types.h>

#include "cli/attach/attach.h"
#include "cli/cli.h"
#include "cli/watch.h"

static int load(pid_t pid, const char *library, const char *options, int timeout, struct error *err)
{
	struct attach_target t = ATTACH_TARGET_INIT;
	bool refused;
	int rc = attach_check(pid, -1, &t, err);

	if (rc == 0)
		rc = attach_load(&t, library, options, timeout, &refused, err);
	attach_close(&t);
	return rc;
}

int cli_load(struct cli *cli)
{
	int timeout = (int)(cli->options.attach_timeout / NS_PER_MS);
	struct error err;
	pid_t pid;
	int rc;

	if (cli->word_count < 2 || cli->word_count > 4) {
		console_error("load: say the JVM, the library, and perhaps true and the agent's options, as in "
			      "load 1234 /path/libagent.so true options");
		return CLI_USAGE;
	}
	if (cli->words[1][0] != '/' || (cli->word_count > 2 && strcmp(cli->words[2], "true") != 0)) {
		console_error("load %s: give the whole path of the library, from / on, and true behind it",
			      cli->words[1]);
		return CLI_USAGE;
	}
	if (attach_resolve(cli->words[0], &pid, &err)) {
		console_error("%s", err.text);
		return CLI_CANNOT_ATTACH;
	}
	watch_begin((unsigned)timeout * 2, "having process %d load %s", (int)pid, cli->words[1]);
	rc = load(pid, cli->words[1], cli->word_count > 3 ? cli->words[3] : "", timeout, &err);
	watch_end();
	if (rc) {
		console_error("%s", err.text);
		return CLI_CANNOT_ATTACH;
	}
	return CLI_DONE;
}
