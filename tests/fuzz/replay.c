/*
 * replay.c - runs a fuzzer over the inputs kept in tests/fuzz/corpus/NAME, one test each file; a
 * finding crashes it, as under libFuzzer. Without libFuzzer, so that any compiler can build it.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX (1 << 20)

static unsigned replay(const char *folder, const char *file, unsigned number)
{
	char path[4096];
	uint8_t *data = malloc(INPUT_MAX), *exact;
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "rb");
	if (!f || !data) {
		printf("not ok %u %s cannot be read\n", number, file);
		free(data);
		return 1;
	}
	size = fread(data, 1, INPUT_MAX, f);
	fclose(f);
	/* A block of its very size: one byte beyond is an error that AddressSanitizer sees. */
	exact = malloc(size + !size);
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	printf("ok %u %s\n", number, file);
	fflush(stdout);
	return 0;
}

/* fuzz_elf: tests/fuzz/corpus/elf, from the root of the sources; or the folder given. */
int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	char folder[2048];
	unsigned count = 0, failed = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", name + strlen("fuzz_"));
	if (argc > 1)
		snprintf(folder, sizeof(folder), "%s", argv[1]);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			failed += replay(folder, entry->d_name, ++count);
	if (dir)
		closedir(dir);
	printf("1..%u\n", count);
	return failed || !count;
}
