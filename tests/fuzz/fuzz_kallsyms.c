/* /proc/kallsyms of any text: each address has a name from it or none. */
#include <stdlib.h>
#include <string.h>

#include "common/elf/kallsyms.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t addresses[] = {0, 1, 0x1000, 0x1fff, 0xffffffff81000000, 0xffffffff81000010,
				0xffffffffc0000000, UINT64_MAX, 0x1000};
	char *names[9], path[32];
	struct error err;
	size_t i;

	fuzz_file(data, size, path);
	err.text[0] = '\0';
	if (kallsyms_read(path, addresses, 9, names, NULL, &err))
		FUZZ_CHECK(err.text[0]);
	for (i = 0; i < 9; i++) {
		FUZZ_CHECK(!names[i] || strlen(names[i]) < size);
		free(names[i]);
	}
	return 0;
}
