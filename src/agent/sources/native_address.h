/*
 * native_address.h - where a native function or variable lies. Inner header of the sources room.
 * Normal code; may read symbol tables (tens of ms) and take the loader's lock.
 */
#ifndef JSTROBE_SOURCES_NATIVE_ADDRESS_H
#define JSTROBE_SOURCES_NATIVE_ADDRESS_H

#include "common/base/error.h"

/*
 * Address of SYMBOL, as callers are bound to it; "Class::method" stands for a C++ name, "name*"
 * for any that begins so. -ENOENT.
 */
int native_address(const char *symbol, uintptr_t *address, struct error *err);
/* The same as a place in the file it was mapped from. */
int native_place(const char *symbol, char *path, size_t size, uint64_t *offset, struct error *err);

#endif
