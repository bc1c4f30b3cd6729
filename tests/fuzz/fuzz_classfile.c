/*
 * A class file of any bytes: rewritten with probes in all methods. What comes out is a class file again, whose
 * methods can take probes once more; nothing comes out of a class that is left.
 */
#include "common/bytecode/pattern.h"
#include "common/bytecode/rewrite.h"
#include "fuzz.h"

static struct patterns patterns;
static unsigned asked, refused;

static bool choose(void *data, const struct rewrite_method *m, uint32_t *id)
{
	*id = 30000 + asked++ * 10000; /* short and long numbers */
	patterns_match(&patterns, m->file, m->member);
	return true;
}

static void skipped(void *data, const struct rewrite_method *m, uint32_t id, enum skip why)
{
	FUZZ_CHECK(why > SKIP_NONE && why < SKIPS);
	refused++;
}

static unsigned rewrite(const uint8_t *data, size_t size, struct buffer *out)
{
	static const struct rewrite_probes probes = {
		.class = "java/lang/JstrobeProbe", .enter = "enter", .enter_if = "enterIf", .leave = "leave", .leave_if = "leaveIf",
		.again = "again", .sleep = "sleep"};
	struct rewrite r = {.probes = &probes, .choose = choose, .skipped = skipped};
	enum skip why;
	unsigned count;

	asked = refused = 0;
	count = rewrite_class(data, size, &r, out, &why);
	FUZZ_CHECK(count + refused == asked || why != SKIP_NONE);
	FUZZ_CHECK((count > 0) == (out->length > 0));
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer once = BUFFER_INIT, twice = BUFFER_INIT;
	struct class_file c;
	struct error err;
	unsigned count;

	if (!patterns.list.count)
		FUZZ_CHECK(patterns_add(&patterns, "@Deprecated;a.**.m*(int,String);**.x", false, &err) == 0);
	count = rewrite(data, size, &once);
	if (count) {
		FUZZ_CHECK(classfile_open(&c, (const uint8_t *)once.data, once.length));
		classfile_close(&c);
		rewrite((const uint8_t *)once.data, once.length, &twice);
	}
	buffer_free(&once);
	buffer_free(&twice);
	return 0;
}
