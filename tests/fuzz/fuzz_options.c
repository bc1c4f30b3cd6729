/*
 * Option strings of any text: the agent's two forms, the command's arguments, patterns in file
 * names. What was understood and is written down again means the same.
 */
#include <stdlib.h>
#include <string.h>

#include "common/options/options.h"
#include "fuzz.h"

/* What the command would tell its agent is what the agent understands. */
static void round_trip(const struct options *o)
{
	struct buffer text = BUFFER_INIT, again = BUFFER_INIT;
	struct options read;
	struct error err;

	options_print(o, '\n', &text);
	buffer_putc(&text, '\0');
	options_init(&read);
	FUZZ_CHECK(options_parse_agent(&read, text.data, '\n', &err) == 0);
	options_print(&read, '\n', &again);
	buffer_putc(&again, '\0');
	FUZZ_CHECK(strcmp(text.data, again.data) == 0);
	buffer_free(&text);
	buffer_free(&again);
}

static void command(char *text, size_t size)
{
	char *argv[65], *end = text + size;
	struct options o;
	struct error err;
	int argc = 0, words, program, i;

	while (text < end && argc < 64) {
		argv[argc++] = text;
		text += strlen(text) + 1;
	}
	argv[argc] = NULL;
	options_init(&o);
	err.text[0] = '\0';
	if (options_parse_command(&o, argc, argv, &words, &program, &err) == 0) {
		FUZZ_CHECK(words >= 0 && words <= argc && program >= 0 && program <= argc);
		for (i = 0; i < words; i++)
			FUZZ_CHECK(strlen(argv[i]) <= size);
	} else {
		FUZZ_CHECK(err.text[0]);
	}
}

static void agent(const char *text, char separator)
{
	struct options o;
	struct error err;

	options_init(&o);
	err.text[0] = '\0';
	if (options_parse_agent(&o, text, separator, &err))
		FUZZ_CHECK(err.text[0]);
	else
		round_trip(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), name[200];
	struct error err;

	if (size == 0) {
		free(text);
		return 0;
	}
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] & 3) {
	case 0:
		agent(text, ',');
		break;
	case 1:
		agent(text, '\n');
		break;
	case 2:
		command(text, size - 1);
		break;
	default:
		if (options_file_name(text, 1234, 1700000000, 1, name, sizeof(name), &err) == 0)
			FUZZ_CHECK(strlen(name) < sizeof(name));
	}
	free(text);
	return 0;
}
