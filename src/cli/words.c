/*
 * Which JVM a command line means, and its answer. Apart from main.c, so that tests can use what uses it.
 */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

int cli_target(const struct cli *cli, const char **target, struct error *err)
{
	if (cli->word_count == 0)
		return error_set(err, EINVAL, "%s: which JVM? Give its pid or name; 'jstrobe ps' "
				 "lists them", cli->command);
	if (cli->word_count > 1)
		return error_set(err, EINVAL, "%s: one JVM at a time, not '%s' and '%s'",
				 cli->command,
				 cli->words[0], cli->words[1]);
	*target = cli->words[0];
	return 0;
}

int cli_check_json(const struct cli *cli, struct error *err)
{
	if (!cli->options.format[0] || strcmp(cli->options.format, "json") == 0)
		return 0;
	return error_set(err, EINVAL, "%s: its output is a text, or with --json an object, not %s; leave that out",
			 cli->command, cli->options.format);
}

int cli_print(struct buffer *b)
{
	bool done = !b->failed && console_write(b);

	buffer_free(b);
	return done ? CLI_DONE : CLI_FAILED;
}
