/*
 * got.h - functions replaced in other images' global offset tables. Normal code.
 */
#ifndef JSTROBE_HOOKS_GOT_H
#define JSTROBE_HOOKS_GOT_H

#include "common/base/base.h"

/*
 * Every GOT slot of SYMBOL that holds one of the COUNT OLDS, or is bound lazily, holds NEW afterwards (got.c); slots of
 * this library and its copies excepted. False: an image is still being loaded, try again.
 */
bool got_patch(const char *symbol, void *const *olds, size_t count, void *new);
/* The same of many functions in one pass; LAZY: slots bound lazily, too. */
struct got_function {
	const char *symbol;
	void *const *olds;
	size_t count;
	void *new;
};
bool got_patch_functions(const struct got_function *functions, size_t count, bool lazy);
/* The same of one function: how many slots have ours now and had not before. */
size_t got_replace(const struct got_function *function);
/* How many images have a definition of SYMBOL: with more than one, what a lazy slot will be bound to is not known. */
unsigned got_definers(const char *symbol);
/* Grows with each image that is loaded or unloaded. */
uint64_t got_image_changes(void);
/* Undo got_patch in all images that are still there; slots that another tool has taken since stay. */
bool got_restore(const char *symbol, void *new, void *old);

#endif
