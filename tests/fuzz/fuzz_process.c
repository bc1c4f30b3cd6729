/*
 * What other processes say of themselves: performance data, command lines, environments.
 *
 * The two files are part of this one, so that their inner functions can be called on bytes.
 */
#include "cli/attach/perfdata.c"
#include "cli/attach/java_command.c"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process_java java = {0};
	const char *found;
	char *text;

	if (size < 2)
		return 0;
	/* As process_read leaves it: a NUL behind. */
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] & 3) {
	case 0:
		found = find(text, size - 1, "sun.rt.javaCommand");
		FUZZ_CHECK(!found || strlen(found) < size);
		break;
	case 1:
		read_environment(text, size - 1, "JAVA_TOOL_OPTIONS", &java);
		break;
	case 2:
		read_arguments(text, size - 1, &java);
		FUZZ_CHECK(strlen(java.main) < sizeof(java.main));
		break;
	default:
		read_words(text, &java);
	}
	free(text);
	return 0;
}
