/*
 * foreign_frame.h - a frame as files of other profilers have it: a name, and more or less beside it. Inner header of
 * the readers room.
 */
#ifndef JSTROBE_READERS_FOREIGN_FRAME_H
#define JSTROBE_READERS_FOREIGN_FRAME_H

#include "profile/readers/read_aggregate.h"

/* What the file says of the code. */
enum foreign_code {
	FOREIGN_UNKNOWN,
	FOREIGN_JAVA,
	FOREIGN_NATIVE,
	FOREIGN_KERNEL,
	FOREIGN_OURS,   /* we wrote it, and it is not of Java: a function of the kernel or the JVM, or a marker */
	FOREIGN_OBJECT, /* no code: the class of an object, the name of a file */
};

/* A text that need not end with NUL. */
struct foreign_text {
	const char *bytes;
	size_t length;
};

struct foreign_frame {
	struct foreign_text name, source, library; /* function, its source file, the image that has it; "": unknown */
	uint64_t line;          /* 0 = not known, or not wanted */
	enum foreign_code code;
	bool inlined;
	bool mapped;            /* LIBRARY is known to be an image of machine code */
};

/* The number of frame F in TO; LISTS_FAILED: out of memory, or refused. */
uint32_t foreign_frame(struct read_aggregate *to, const struct foreign_frame *f);
/* Whether NAME, dots between its parts, is a class and no method of one: "java.lang.String", "byte[]". */
bool foreign_frame_is_class(const struct foreign_text *name);
/* The name of the image PATH, without its folders, in TO's strings. */
uint32_t foreign_frame_library(struct read_aggregate *to, const struct foreign_text *path);

#endif
