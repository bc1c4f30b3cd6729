/*
 * stream_kindling.c - a live stream as the text records that Kindling's collector picks out of write calls.
 *
 *      kd-tm@TID!NAME!                                             a thread's name
 *      kd-stack@NS!TID!DEPTH!FINISHED!FRAME!FRAME!…                a sample, leaf first; in pieces
 *      kd-jf@NS!END!TID!LOCK!KIND!THREAD!WAITED!OWNER!METHOD.Lclass;…!   a wait
 *
 * Times are ns since 1970. Kindling's probe keeps 1,000 bytes of a write, copies fields into fixed buffers, of names
 * 255 bytes, and splits at each '!', which it cannot escape: so records are cut and '!' inside a name becomes '|'.
 * It takes the thread of kd-txid and kd-span from the thread that writes, which here is never the one that the context
 * belongs to: they are not written. What a sample's thread worked for stands before it in a record that Kindling passes
 * over and others can read:
 *
 *      js-span@NS!TID!TRACE!SPAN!
 */
#include <string.h>

#include "profile/model/context_text.h"
#include "profile/model/frame_name.h"
#include "profile/writers/stream/stream_records.h"

#define RECORD_BYTES 1000
#define NAME_BYTES 255
#define STYLE_KINDLING STYLE_PRINTABLE

/* Append at most MOST bytes of TEXT with nothing in them that Kindling would take for its own. */
static void put_clean(struct buffer *out, const char *text, size_t most)
{
	size_t i;

	for (i = 0; text[i] && i < most; i++) {
		unsigned char c = (unsigned char)text[i];

		buffer_putc(out, c == '!' ? '|' : c < 0x20 || c == 0x7f ? ' ' : (char)c);
	}
}

/* The name of F, NUL-ended, in NAME. */
static const char *name_of(struct buffer *name, const struct profile_frame *f)
{
	name->length = 0;
	frame_name_put(name, f, STYLE_KINDLING);
	buffer_putc(name, '\0');
	return name->failed ? "" : name->data;
}

static void thread(struct buffer *out, const struct stream_thread *t)
{
	if (t->ended || !t->tid)
		return;
	buffer_printf(out, "kd-tm@%d!", t->tid);
	put_clean(out, t->name, NAME_BYTES);
	buffer_puts(out, "!\n");
}

static void put_piece(struct buffer *out, const struct stream_sample *s, uint64_t real_offset, uint32_t first,
		      bool finished, const struct buffer *frames)
{
	buffer_printf(out, "kd-stack@%llu!%d!%u!%d!", (unsigned long long)(s->time + real_offset), s->thread.tid,
		      first, finished);
	buffer_append(out, frames->data, frames->length);
	buffer_putc(out, '\n');
}

/* In as many pieces as it takes; a frame is never divided. */
static void put_stack(struct buffer *out, const struct stream_sample *s, uint64_t real_offset)
{
	const size_t room = RECORD_BYTES - sizeof("kd-stack@18446744073709551615!2147483647!4294967295!1!\n");
	struct buffer piece = BUFFER_INIT, name = BUFFER_INIT;
	uint32_t i, first = 0;

	for (i = 0; i < s->stack->depth; i++) {
		const char *text = name_of(&name, &s->stack->frames[i]);
		size_t n = MIN(strlen(text), room - 1);

		if (piece.length + n + 1 > room) {
			put_piece(out, s, real_offset, first, false, &piece);
			piece.length = 0;
			first = i;
		}
		put_clean(&piece, text, n);
		buffer_putc(&piece, '!');
	}
	put_piece(out, s, real_offset, first, true, &piece);
	if (piece.failed || name.failed)
		out->failed = piece.failed ? piece.failed : name.failed;
	buffer_free(&piece);
	buffer_free(&name);
}

/* "park.Lsun/misc/Unsafe;": Java frames, as many as fit into MOST bytes. */
static void put_java_frames(struct buffer *out, const struct stream_stack *s, size_t most)
{
	size_t left = most;
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &s->frames[i];
		size_t n = f->class_name ? strlen(f->class_name) + strlen(f->name) + strlen(".L;") : 0;

		if (!n)
			continue;
		if (n > left)
			return;
		put_clean(out, f->name, n);
		buffer_puts(out, ".L");
		put_clean(out, f->class_name, n);
		buffer_putc(out, ';');
		left -= n;
	}
}

static void put_wait(struct buffer *out, const struct stream_sample *s, uint64_t real_offset)
{
	static const char *const kinds[LOCK_KINDS] = {
		[LOCK_MONITOR] = "MonitorEnter", [LOCK_WAIT] = "MonitorWait", [LOCK_PARK] = "UnsafePark",
		[LOCK_SLEEP] = "ThreadSleep",
	};
	const char *kind = lock_kind_is_native(s->lock->kind) ? "NativeLock" : kinds[s->lock->kind];
	const struct stream_lock *l = s->lock;
	size_t before = out->length;

	buffer_printf(out, "kd-jf@%llu!%llu!%d!%llx!%s!", (unsigned long long)(s->time + real_offset),
		      (unsigned long long)(s->time + real_offset + l->duration), s->thread.tid,
		      (unsigned long long)l->identity, kind);
	put_clean(out, s->thread.name, NAME_BYTES);
	buffer_printf(out, "!%llu!%d!", (unsigned long long)l->duration, l->owner_tid ? l->owner_tid : -1);
	put_java_frames(out, s->stack, RECORD_BYTES - (out->length - before) - strlen("!\n"));
	buffer_puts(out, "!\n");
}

static void put_trace_context(struct buffer *out, const struct stream_sample *s, uint64_t real_offset)
{
	char trace[TRACE_CONTEXT_TRACE_CHARS], span[TRACE_CONTEXT_SPAN_CHARS];

	trace_context_trace_id(s->trace_context, trace);
	trace_context_span_id(s->trace_context, span);
	buffer_printf(out, "js-span@%llu!%d!%s!%s!\n", (unsigned long long)(s->time + real_offset), s->thread.tid,
		      trace, span);
}

static void sample(struct buffer *out, const struct stream_sample *s, uint64_t real_offset)
{
	if (s->trace_context)
		put_trace_context(out, s, real_offset);
	if (s->lock)
		put_wait(out, s, real_offset);
	else
		put_stack(out, s, real_offset);
}

const struct stream_writer stream_kindling = {.name = "kindling", .thread = thread, .sample = sample};
