/*
 * frame_name.h - how a frame is spelled, in one place for all writers.
 *
 * The spelling is async-profiler's, so that files can be compared and scripts
 * keep working: "java/util/HashMap.put" in collapsed stacks and the page,
 * "java.util.HashMap.put" in text; kernel symbols end in "_[k]"; a thread is
 * "[name tid=123]". A new way of spelling is a bit here and a line in
 * frame_name_put(); which bits the user can ask for is said in format_style().
 */
#ifndef JSTROBE_MODEL_FRAME_NAME_H
#define JSTROBE_MODEL_FRAME_NAME_H

#include "common/base/buffer.h"
#include "profile/model/format_options.h"
#include "profile/model/profile.h"

enum frame_style {
	STYLE_DOTS = 1 << 0,         /* java.util.HashMap.put */
	STYLE_LINES = 1 << 1,        /* Class.method:123 */
	STYLE_KERNEL = 1 << 2,       /* kernel symbols end in _[k] */
	STYLE_PRINTABLE = 1 << 3,    /* control characters become blanks: no terminal tricks */
	STYLE_NO_SEMICOLON = 1 << 4, /* ';' becomes ',' ('|' in signatures): it separates frames */
	STYLE_SIMPLE = 1 << 5,       /* HashMap.put */
	STYLE_NORM = 1 << 6,         /* hidden classes without their address */
	STYLE_SIGNATURES = 1 << 7,   /* HashMap.put(Ljava/lang/Object;)V; arguments of C++ */
	STYLE_ANNOTATE = 1 << 8,     /* Java methods end in _[0], _[1], _[j] or _[i] */
	STYLE_LIBRARY = 1 << 9,      /* libc.so.6`write */
	STYLE_GET_NAME = 1 << 10,    /* hidden classes as Class.getName() has them: with a slash */
	STYLE_ANY_TYPE = 1 << 11,    /* what is spelled alike has one name, whatever it stands for */

	/* what the writers use */
	STYLE_COLLAPSED = STYLE_KERNEL | STYLE_PRINTABLE | STYLE_NO_SEMICOLON,
	STYLE_TEXT = STYLE_DOTS | STYLE_KERNEL | STYLE_PRINTABLE,
	STYLE_JSON = STYLE_DOTS | STYLE_GET_NAME,
	STYLE_PAGE = 0,
};

/* What a name stands for; coarser than enum frame_kind: a method may run in several kinds. */
enum frame_type {
	TYPE_JAVA,
	TYPE_NATIVE,
	TYPE_JVM, /* native, in libjvm.so or in code that the JVM made: stubs */
	TYPE_KERNEL,
	TYPE_OTHER, /* marker or thread */
	FRAME_TYPES
};

extern const char *const frame_type_names[FRAME_TYPES]; /* "java", ... */

enum frame_type frame_type(const struct profile_frame *frame);
/* Whether FRAME is a method of Java: a class alone, without a method, is that of a lock. */
static inline bool frame_is_method(const struct profile_frame *frame)
{
	return frame->class_name && frame->name && *frame->name;
}

/*
 * Keys for tables of classes, and of methods whatever their lines and kinds: FRAME is a method. Users can bear that two
 * share one.
 */
uint64_t frame_class_hash(const struct profile_frame *frame);
uint64_t frame_method_hash(const struct profile_frame *frame);
/* Whether the class so called (slashes) is the JDK's, not the program's. */
bool class_is_of_jdk(const char *class_name);
/* Append FRAME's name in STYLE (bits of enum frame_style). */
void frame_name_put(struct buffer *out, const struct profile_frame *frame, unsigned style);
/*
 * Call FN for each frame of P with its name in STYLE, in their order; it returns false to end that. 0, or
 * -ENOMEM: not all names could be spelled.
 */
int frame_name_each(const struct profile *p, unsigned style,
		    bool (*fn)(uint32_t frame, const char *name, void *arg), void *arg);
/* Append the name of a thread's root frame. */
void frame_name_thread(struct buffer *out, const struct profile_thread *thread, unsigned style);

/* BASE with what the user asked for on top. */
static inline unsigned format_style(unsigned base, const struct format_options *o)
{
	return base | (o->lines ? STYLE_LINES : 0) | (o->simple ? STYLE_SIMPLE : 0) |
	       (o->dot ? STYLE_DOTS : 0) | (o->norm ? STYLE_NORM : 0) |
	       (o->sig ? STYLE_SIGNATURES : 0) | (o->ann ? STYLE_ANNOTATE : 0) |
	       (o->lib ? STYLE_LIBRARY : 0);
}

#endif
