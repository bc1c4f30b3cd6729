/*
 * rewrite_classes - puts probes into every method of the classes that come in.
 *
 * stdin:  [size, 4 bytes, high byte first][class file] ...
 * stdout: [methods with probes, 4][methods skipped, 4][why the class was left, 4][size, 4][class file] ...
 *         (size 0: left as it was)
 * At the end stderr gets one line: bytes in, bytes out, ns spent in rewriting. `repeat=N` rewrites each
 * class N times, for that figure; `base=ID` is the first method's number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/bytecode/rewrite.h"

static uint32_t next_id;
static unsigned skipped_methods, reasons[SKIPS];

static bool choose(void *data, const struct rewrite_method *m, uint32_t *id)
{
	*id = next_id++;
	return !(m->member->access & (ACC_NATIVE | ACC_ABSTRACT));
}

static void skipped(void *data, const struct rewrite_method *m, uint32_t id, enum skip why)
{
	skipped_methods++;
	reasons[why]++;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static bool get_number(uint32_t *value)
{
	uint8_t b[4];

	if (fread(b, 1, 4, stdin) != 4)
		return false;
	*value = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	return true;
}

static void put_number(uint32_t value)
{
	uint8_t b[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

	fwrite(b, 1, 4, stdout);
}

int main(int argc, char **argv)
{
	static const struct rewrite_probes probes = {
		.class = "java/lang/JstrobeProbe", .enter = "enter", .enter_if = "enterIf", .leave = "leave", .leave_if = "leaveIf",
		.again = "again", .sleep = "sleep"};
	struct rewrite rewrite = {.probes = &probes, .choose = choose, .skipped = skipped};
	unsigned long long in = 0, out_bytes = 0, ns = 0;
	uint32_t size, repeat = 1, i;
	int a;

	for (a = 1; a < argc; a++) {
		if (strncmp(argv[a], "repeat=", 7) == 0)
			repeat = (uint32_t)strtoul(argv[a] + 7, NULL, 10);
		if (strncmp(argv[a], "base=", 5) == 0)
			next_id = (uint32_t)strtoul(argv[a] + 5, NULL, 10);
	}
	while (get_number(&size)) {
		uint8_t *bytes = malloc(size + !size);
		struct buffer out = BUFFER_INIT;
		enum skip why = SKIP_NONE;
		uint64_t began;
		unsigned done = 0;

		if (!bytes || fread(bytes, 1, size, stdin) != size)
			return 1;
		skipped_methods = 0;
		began = now();
		for (i = 0; i < repeat; i++) {
			out.length = 0;
			done = rewrite_class(bytes, size, &rewrite, &out, &why);
		}
		ns += now() - began;
		in += (unsigned long long)size * repeat;
		out_bytes += out.length;
		put_number(done);
		put_number(skipped_methods / repeat);
		put_number(why);
		put_number((uint32_t)out.length);
		fwrite(out.data, 1, out.length, stdout);
		fflush(stdout);
		buffer_free(&out);
		free(bytes);
	}
	fprintf(stderr, "in=%llu out=%llu ns=%llu", in, out_bytes, ns);
	for (i = 0; i < SKIPS; i++)
		if (reasons[i])
			fprintf(stderr, " %s=%u", skip_names[i].word, reasons[i]);
	fprintf(stderr, "\n");
	return 0;
}
