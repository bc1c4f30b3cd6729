/*
 * perfetto_writer.h - a trace of Perfetto that is being written: its packets, processes, threads and tracks. Inner
 * header of the exports room. Normal code, one thread at a time.
 */
#ifndef JSTROBE_EXPORTS_PERFETTO_WRITER_H
#define JSTROBE_EXPORTS_PERFETTO_WRITER_H

#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "common/base/wide.h"
#include "common/base/vector.h"
#include "profile/model/format_options.h"
#include "profile/model/profile.h"
#include "profile/model/profile_marks.h"
#include "profile/readers/lists.h"

/* Field numbers of trace_packet.proto, and of what stands in packets here. */
enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT, PACKET_INTERNED, PACKET_FLAGS,
       PACKET_DEFAULTS = 59, PACKET_TRACK = 60, PACKET_FIRST = 87, PACKET_ATTRIBUTES = 126, PACKET_SAMPLE = 135 };

/* Packets are of a sequence each: what has no samples of the first one, each event's samples of one of their own. */
#define PERFETTO_TRACKS 1u
#define PERFETTO_SAMPLES 2u /* of the first event */

struct perfetto_task {
	uint64_t uuid;          /* of its track */
	uint32_t pid, tid;      /* tid 0: a process */
};

struct perfetto {
	struct buffer *out, packet, message, inner, innermost, text;
	struct strings names;
	struct lists tasks;     /* pid, id, number of the name + 1 (0: a process): as they are known */
	struct lists ids;       /* pid, id: as the file has them */
	VECTOR(struct perfetto_task) of_task;
	uint64_t uuids;         /* the last one */
	bool no_times;          /* of some event it is not known when its samples were taken */
	bool failed;            /* out of memory */
};

/* End the packet in W->packet, which is one of sequence SEQUENCE, at TIME: ns since 1970. */
void perfetto_end_packet_at(struct perfetto *w, uint32_t sequence, uint64_t time);
/*
 * The first packet of SEQUENCE, with DEFAULTS (the fields of TracePacketDefaults beside the clock) or NULL.
 */
void perfetto_begin_sequence(struct perfetto *w, uint32_t sequence, struct buffer *defaults);
/* Field FIELD of TO is TEXT, as valid UTF-8. */
void perfetto_text(struct perfetto *w, struct buffer *to, unsigned field, const char *text);
/* Of P; its first mention writes its descriptor. No thread (an index that P does not have): its process. */
struct perfetto_task perfetto_thread(struct perfetto *w, const struct profile *p, uint32_t thread);
struct perfetto_task perfetto_thread_called(struct perfetto *w, const struct profile *p, uint32_t tid,
					    const char *name);
/* A new track called NAME below PARENT: its number. */
uint64_t perfetto_track(struct perfetto *w, uint64_t parent, const char *name);

/* The samples of P, the event number I, and what threads did by them. */
void perfetto_put_samples(struct perfetto *w, const struct profile *p, uint32_t i,
			  const struct format_options *options);
/* Pauses, spans and events that P has beside its samples. */
void perfetto_put_marks(struct perfetto *w, const struct profile *p);
/* How many of which kind the profile knows by their number alone, so that they are not in the file; nothing: none. */
void perfetto_say_left_out(struct buffer *line, const struct profile_marks *marks);

/* Slices of track TRACK, each begin before its end; and a moment. CATEGORY: what they are. */
void perfetto_begin_slice(struct perfetto *w, uint64_t track, uint64_t time, const char *category, const char *name);
void perfetto_end_slice(struct perfetto *w, uint64_t track, uint64_t time);
void perfetto_put_moment(struct perfetto *w, uint64_t track, uint64_t time, const char *category, const char *name);
/* Into W->message, before a slice begins: something that it is shown with. */
void perfetto_annotate(struct perfetto *w, const char *name, const char *value);

#endif
