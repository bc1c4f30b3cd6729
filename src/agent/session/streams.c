#include "agent/session/streams.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm/jvm.h"
#include "agent/session/source_options.h"
#include "agent/sinks/stream/stream_closing.h"
#include "agent/sources/engine_clocks.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_names.h"
#include "common/os/os.h"

#define MOST_STREAMS 8
#define BEFORE_ANEW (NS_PER_S / 2) /* for what the last session still has to say at the same place */
#define AT_DEATH (NS_PER_S / 5)

static struct {
	int offered;              /* -1 = nothing */
	const void *offered_by;
	struct open_stream {
		struct stream_out *out;   /* opened, has not begun */
		struct stream *stream;    /* has begun */
		const void *reader;       /* whose it is; NULL: the session's */
	} open[MOST_STREAMS];
	unsigned count;
	uint64_t cpu_at_start, own_at_start; /* of the session */
	struct stream_totals ended; /* of those that ended before the session */
	struct output begins;       /* the new file, until it takes its name */
} streams = {.offered = -1, .begins = OUTPUT_INIT};

void streams_offer(int fd, const void *reader)
{
	if (streams.offered >= 0)
		close(streams.offered);
	streams.offered = fd;
	streams.offered_by = reader;
}

static const struct stream_writer *writer_of(const struct options *o)
{
	return stream_writer_by_name(o->stream_format);
}

static int add(struct stream_out *out, const void *reader, struct error *err)
{
	if (!out)
		return -err->code;
	if (streams.count == MOST_STREAMS) {
		stream_out_close(out);
		return error_set(err, EBUSY, "%d streams of this process are read already; end one of them",
				 MOST_STREAMS);
	}
	streams.open[streams.count++] = (struct open_stream){.out = out, .reader = reader};
	return 0;
}

/* Kindling looks at each write on its own. */
static bool by_records(const struct options *o)
{
	return writer_of(o) == &stream_kindling;
}

static int take_offered(const struct options *o, struct error *err)
{
	int fd = streams.offered;

	streams.offered = -1;
	return add(stream_out_take(fd, by_records(o), err), streams.offered_by, err);
}

int streams_open(const struct options *o, struct error *err)
{
	int rc = 0;

	if (!streams_end())
		return error_set(err, EBUSY, "a thread of the profiler's own ('jstrobe stream') is held, as by a "
				 "debugger");
	/* a FIFO must not have two that write */
	if (o->stream[0])
		stream_closing_hurry(BEFORE_ANEW);
	stream_closing_begin();
	memset(&streams.ended, 0, sizeof(streams.ended));
	streams.begins.mode = o->mode;
	if (o->stream[0])
		rc = add(stream_out_open(o->stream, by_records(o), o->force, &streams.begins, err), NULL, err);
	if (rc == 0 && streams.offered >= 0)
		rc = take_offered(o, err);
	if (rc)
		streams_end();
	return rc;
}

static void describe(const struct options *o, const struct engine_event *events, uint32_t count,
		     struct stream_options *how)
{
	uint32_t e;

	memset(how, 0, sizeof(*how));
	how->writer = writer_of(o);
	snprintf(how->main_class, sizeof(how->main_class), "%.250s", jvm_main_class());
	snprintf(how->jdk, sizeof(how->jdk), "%s", jvm_version());
	how->names_every = o->names_every ? o->names_every : THREAD_NAMES_EVERY;
	how->filter = source_options_format(o);
	how->cpu_at_start = streams.cpu_at_start;
	how->own_at_start = streams.own_at_start;
	for (e = 0; e < count; e++) {
		snprintf(how->events[e].name, sizeof(how->events[e].name), "%s", events[e].name);
		how->events[e].interval = events[e].interval;
		how->events[e].weight_kind = events[e].weight;
	}
}

int streams_begin(const struct options *o, const struct engine_event *events, uint32_t count,
		  struct collector *collector, struct error *err)
{
	const struct source_clocks clocks = engine_clocks();
	struct stream_options how;
	unsigned i;

	streams.cpu_at_start = clocks.cpu;
	streams.own_at_start = clocks.own;
	describe(o, events, count, &how);
	for (i = 0; i < streams.count; i++) {
		struct open_stream *s = &streams.open[i];

		if (s->stream)
			continue;
		s->stream = stream_new(s->out, &how, err);
		s->out = NULL;
		if (!s->stream || stream_begin(s->stream, collector, err))
			return -err->code;
	}
	return 0;
}

static bool end(struct open_stream *s)
{
	struct stream_totals t;

	stream_out_close(s->out);
	s->out = NULL;
	if (s->stream) {
		if (!stream_end(s->stream))
			return false;
		stream_totals(s->stream, &t);
		streams.ended.records += t.records;
		streams.ended.samples += t.samples;
		streams.ended.dropped += t.dropped;
		streams.ended.bytes += t.bytes;
		stream_free(s->stream);
	}
	*s = (struct open_stream){0};
	return true;
}

static bool end_at(unsigned i)
{
	if (!end(&streams.open[i]))
		return false;
	streams.open[i] = streams.open[--streams.count];
	return true;
}

int streams_join(const struct options *o, const struct engine_event *events, uint32_t count,
		 struct collector *collector, struct error *err)
{
	int rc = take_offered(o, err);

	if (rc)
		return rc;
	rc = streams_begin(o, events, count, collector, err);
	if (rc)
		end_at(streams.count - 1);
	return rc;
}

void streams_leave(const void *reader)
{
	unsigned i = streams.count;

	while (i-- > 0)
		/* one that does not end now ends with the session */
		if (streams.open[i].reader == reader && !end_at(i))
			streams.open[i].reader = NULL;
}

int streams_publish(const struct options *o, struct error *err)
{
	int rc = output_publish(&streams.begins, false, err);

	output_drop(&streams.begins);
	return rc ? output_say("stream=", o->stream, err) : 0;
}

bool streams_end(void)
{
	output_drop(&streams.begins);
	while (streams.count && end_at(streams.count - 1))
		;
	return !streams.count;
}

void streams_death(void)
{
	stream_closing_hurry(AT_DEATH);
}

unsigned streams_count(struct stream_totals *t)
{
	uint64_t lost = stream_closing_lost();
	unsigned i, over = 0;

	*t = streams.ended;
	t->samples -= lost;
	t->dropped += lost;
	for (i = 0; i < streams.count; i++) {
		struct stream_totals one = {0};

		if (streams.open[i].stream) {
			stream_totals(streams.open[i].stream, &one);
			over += stream_is_over(streams.open[i].stream);
		}
		t->records += one.records;
		t->samples += one.samples;
		t->dropped += one.dropped;
		t->bytes += one.bytes;
		t->waiting += one.waiting;
	}
	return streams.count - over;
}
