/*
 * jstrobe trace: count and time every call of some methods, for as long as a recording lasts.
 *
 * It is a recording whose session counts calls (agent/tracing/tracing.c) instead of sampling; the words behind the JVM,
 * or all of them before a program, are the patterns of methods.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static bool add_patterns(struct cli *cli, int from)
{
	char *to = cli->options.instrument;
	size_t size = sizeof(cli->options.instrument), used = strlen(to);
	int i;

	for (i = from; i < cli->word_count; i++) {
		size_t n = strlen(cli->words[i]);

		if (used + n + 2 > size)
			return false;
		used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ";" : "", cli->words[i]);
	}
	return true;
}

int cli_trace(struct cli *cli)
{
	int first = cli->program ? 0 : 1, i;
	struct error err;

	if (!cli->program && cli->word_count == 0) {
		console_error("trace: which JVM? Give its pid or name, then the methods; 'jstrobe ps' lists JVMs");
		return CLI_USAGE;
	}
	if (cli->word_count <= first && !cli->options.instrument[0]) {
		console_error("trace: which methods? Say Class, Class.method, Class::method(int), package.*, "
			      "package.** or @Annotation");
		return CLI_USAGE;
	}
	for (i = first; i < cli->word_count; i++)
		if (!cli->words[i][0]) {
			console_error("trace: a pattern is empty (an unset variable of the shell?); say Class, "
				      "Class.method or package.**");
			return CLI_USAGE;
		}
	if (!add_patterns(cli, first)) {
		console_error("trace: the patterns are too long together; at most %zu bytes are possible",
			      sizeof(cli->options.instrument) - 1);
		return CLI_USAGE;
	}
	if (options_check_tracing(&cli->options, &err)) {
		console_error("trace: %s", err.text);
		return CLI_USAGE;
	}
	if (cli->options.live && cli->program) {
		console_error("trace: --live is for a JVM that runs already; a program that is started here has "
			      "the terminal");
		return CLI_USAGE;
	}
	cli->word_count = first;
	return cli_record(cli);
}
