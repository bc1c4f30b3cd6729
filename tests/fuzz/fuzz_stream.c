/*
 * What a target sends while `top` and `trace --live` look at it: records a line each, and results in JSON. The first byte
 * says which, and how wide the screen is.
 */
#include <string.h>

#include "cli/live/top_view.h"
#include "cli/live/trace.h"
#include "fuzz.h"

static void top(const char *text, size_t size, unsigned columns)
{
	struct top_view view = {.rows = 40, .columns = columns, .filter = "", .terminal = columns & 1, .idle = columns & 2,
				.events = "cpu"};
	struct top_model m = {0};
	struct buffer out = BUFFER_INIT;

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) : size;

		if (n == 0) /* an empty line: the next screen */
			top_next(&m, 0);
		top_take(&m, text, n);
		n += end != NULL;
		text += n;
		size -= n;
	}
	top_next(&m, 0);
	for (view.view = 0; view.view < TOP_VIEWS; view.view++)
		top_show(&m, &view, &out);
	FUZZ_CHECK(!out.failed);
	buffer_free(&out);
	top_free(&m);
}

/* Two looks at a tree, parted by a line end. */
static void trace(const char *text, size_t size, unsigned columns)
{
	const char *end = memchr(text, '\n', size);
	size_t first = end ? (size_t)(end - text) : size;
	struct trace_view view = {.rows = 40, .columns = columns, .whole = columns & 1,
				  .filter = columns & 2 ? "a" : ""};
	struct trace_model m = {0};
	struct buffer out = BUFFER_INIT;

	if (trace_model_take(&m, text, first)) {
		trace_view_show(&m, &view, &out);
		if (end && trace_model_take(&m, end + 1, size - first - 1))
			trace_view_show(&m, &view, &out);
	}
	FUZZ_CHECK(!out.failed);
	buffer_free(&out);
	trace_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	(data[0] & 0x80 ? trace : top)((const char *)data + 1, size - 1, data[0] & 0x7f);
	return 0;
}
