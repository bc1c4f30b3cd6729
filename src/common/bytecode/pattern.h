/*
 * pattern.h - which methods a user means.
 *
 *      com.acme.Order              all methods of a class (nested classes have $ in their names)
 *      com.acme.Order.total        methods of that name
 *      com.acme.Order::total       the same; with (II)J or (int,int) only the one of that signature
 *      com.acme.*                  classes right in a package; * stands for anything but a dot
 *      com.acme.**                 and in all packages below; ** stands for anything
 *      *.total, *.<init>, *.*, *   a * alone before the first dot is any class, in whatever package
 *      @Transactional              methods, and all methods of classes, with such an annotation
 *
 * Names may be written with slashes. Plain data after patterns_add; any thread may match.
 */
#ifndef JSTROBE_BYTECODE_PATTERN_H
#define JSTROBE_BYTECODE_PATTERN_H

#include "common/base/error.h"
#include "common/base/vector.h"
#include "common/bytecode/classfile.h"

struct pattern {
	char *name;      /* a glob over class or class.method; of an annotation its name */
	char *signature; /* "(II)J", "(int,int)"; NULL = any */
	bool method;     /* written with :: - the name always ends in a method's */
	bool annotation;
	bool exclude;
	unsigned hits;   /* methods matched so far, for a warning; changed by one thread at a time */
};

struct patterns {
	VECTOR(struct pattern) list;
	bool annotations; /* some ask for one */
};

/* Add the patterns of TEXT, apart by ; or blanks. -EINVAL for one that makes no sense. */
int patterns_add(struct patterns *p, const char *text, bool exclude, struct error *err);
void patterns_free(struct patterns *p);

/* Whether a method of class NAME ("com/acme/Order") could match; with ANNOTATIONS true if only these can tell. */
bool patterns_touch(const struct patterns *p, const struct text *class_name, bool annotations);
/*
 * Whether the constant pool of a class, its first entry at POOL and COUNT as in the class file, has the name of an
 * annotation that is asked for; without it no method can match by one. True for what cannot be read.
 */
bool patterns_in_pool(const struct patterns *p, const uint8_t *pool, size_t size, unsigned count);
/* Whether method M of C is meant: by a pattern, and by no exclusion. Counts hits. */
bool patterns_match(struct patterns *p, const struct class_file *c, const struct member *m);

#endif
