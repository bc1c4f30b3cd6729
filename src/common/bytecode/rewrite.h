/*
 * rewrite.h - a class file with probes in some of its methods.
 *
 * What is chosen gets probes (see code.h); all else is carried over byte by byte. A class that is damaged
 * is left as it was. Normal code, any thread; nothing is shared between calls.
 */
#ifndef JSTROBE_BYTECODE_REWRITE_H
#define JSTROBE_BYTECODE_REWRITE_H

#include "common/base/buffer.h"
#include "common/bytecode/code.h"

/* What the probes call: static methods of one class that every class loader finds. */
struct rewrite_probes {
	const char *class;
	const char *enter; /* (I)J */
	const char *enter_if; /* (I)J: where the method's number has CODE_GATES */
	const char *leave; /* (J)V */
	const char *leave_if; /* (J)V: what follows an enter_if, which may have given 0 */
	const char *again; /* (JI)V */
	const char *sleep; /* (J)V: instead of Thread.sleep; NULL: that has byte code */
	/* (Ljava/lang/Object;I)J, for static methods whose first argument is an Object; NULL: `enter` is */
	const char *enter_with;
};

/* One method, as the chooser sees it. */
struct rewrite_method {
	const struct class_file *file;
	const struct member *member;
};

struct rewrite {
	const struct rewrite_probes *probes;
	void *data;
	/* Whether method M gets probes, and under which *ID (at most INT32_MAX). */
	bool (*choose)(void *data, const struct rewrite_method *m, uint32_t *id);
	/* A method that was chosen gets none. NULL: no callback. */
	void (*skipped)(void *data, const struct rewrite_method *m, uint32_t id, enum skip why);
};

struct skip_name {
	const char *word; /* "native" */
	const char *text; /* a sentence about the method, without full stop */
};
extern const struct skip_name skip_names[SKIPS];

/*
 * Append to OUT the class BYTES[SIZE] with the probes that R wants. Returns the number of methods that
 * have them; 0: nothing was appended, the class shall stay as it is. SKIP_DAMAGED or SKIP_NO_MEMORY in
 * *WHY (else SKIP_NONE) if no method could be looked at.
 */
unsigned rewrite_class(const uint8_t *bytes, size_t size, const struct rewrite *r, struct buffer *out,
		       enum skip *why);

#endif
