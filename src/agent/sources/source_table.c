/*
 * source_table.c - the sources of events.def, each told of what concerns all: a session listens to the JVM, the JVM is
 * up or ends, memory goes back.
 */
#include "agent/sources/class_names.h"
#include "agent/sources/engine.h"
#include "agent/threads/thread_names.h"

static const struct engine_ops *const sources[] = {
#define ROW_NOW(source) &engine_##source,
#define ROW_LATER(source)
#define EVENT(name, when, source, weight, interval, least, help) ROW_##when(source)
#include "common/words/events.def"
};

/* The next source from *I on, which is moved behind it; a source may have several events. NULL: there is none. */
static const struct engine_ops *next(size_t *i)
{
	while (*i < ARRAY_LEN(sources)) {
		const struct engine_ops *source = sources[(*i)++];
		size_t before = 0;

		while (sources[before] != source)
			before++;
		if (before + 1 == *i)
			return source;
	}
	return NULL;
}

/* Call FUNCTION of all sources that have it. */
#define TELL(function, ...)                                  \
	do {                                                 \
		const struct engine_ops *source;             \
		size_t i = 0;                                \
		while ((source = next(&i)))                  \
			if (source->function)                \
				source->function(__VA_ARGS__); \
	} while (0)

int engine_listen(struct buffer *notes, struct error *err)
{
	const struct engine_ops *source;
	size_t i = 0;
	int rc = 0;

	virtual_names_begin();
	while (rc == 0 && (source = next(&i)))
		rc = source->listen ? source->listen(notes, err) : 0;
	if (rc)
		engine_listen_no_more(false);
	return rc;
}

void engine_listen_no_more(bool goes_on)
{
	TELL(listen_no_more, goes_on);
}

void engine_look(bool collect)
{
	TELL(look, collect);
}

void engine_images_changed(void)
{
	TELL(images_changed);
}

void engine_vm_init(void)
{
	TELL(vm_init);
}

void engine_vm_death(void)
{
	TELL(vm_death);
}

void engine_release(void)
{
	TELL(release);
	class_names_release();
}
