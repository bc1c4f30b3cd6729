/* Symbol names of any bytes, demangled in bounded time. */
#include <stdlib.h>
#include <string.h>

#include "common/elf/elf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 3), *text;

	/* Names begin so; the fuzzer need not find that out. */
	memcpy(name, size && data[0] & 1 ? "_R" : "_Z", 2);
	if (size)
		memcpy(name + 2, data + 1, size - 1);
	name[size ? size + 1 : 2] = '\0';
	text = demangle(name);
	FUZZ_CHECK(!text || strlen(text) <= 4096);
	free(text);
	free(name);
	return 0;
}
