/*
 * pool.h - constants added to a class's pool.
 *
 * Classes that the file names already, and whatever was added before, are used again.
 */
#ifndef JSTROBE_BYTECODE_POOL_H
#define JSTROBE_BYTECODE_POOL_H

#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "common/bytecode/classfile.h"

struct pool {
	const struct class_file *file;
	struct buffer added;
	unsigned count;       /* one more than the highest number, as in the file */
	struct strings names; /* of what follows */
	struct map texts;     /* number of a text in `names` → its constant, of those added or asked for */
	struct map classes;   /* number of a name in `names` → the constant of its class */
	struct map integers;  /* value → number */
	bool knows_classes;   /* classes of the file are in `classes` */
	bool failed;          /* full, or out of memory; what was returned since is 0 */
};

void pool_init(struct pool *p, const struct class_file *file);
void pool_free(struct pool *p);

/* The number of a constant, added if need be; 0 with P->failed when there is no room. */
uint16_t pool_text(struct pool *p, const char *text, size_t length);
uint16_t pool_class(struct pool *p, const char *name, size_t length);
uint16_t pool_integer(struct pool *p, uint32_t value);
/* Always a new one: call it once for each method. */
uint16_t pool_method(struct pool *p, const char *class, const char *name, const char *type);

#endif
