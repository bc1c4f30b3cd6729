/*
 * name_java.h - from a Method* to its names, without jmethodIDs.
 *
 * An address is no identity: a Method* is reused after class unloading and after
 * redefinition. A name belongs to the chain Method → ConstMethod → ConstantPool,
 * name and signature index → holder's name; the chain is read before and after the texts
 * are copied, and again later (method_check) to see whether it still holds.
 */
#ifndef JSTROBE_COLLECT_NAMES_NAME_JAVA_H
#define JSTROBE_COLLECT_NAMES_NAME_JAVA_H

#include "common/base/strings.h"
#include "common/hotspot/layout.h"

struct method_chain {
	uintptr_t constant, pool, holder, name_symbol;
	uint32_t name_index, signature_index;
};

struct method_names {
	uint32_t class_name, name, signature; /* numbers in the strings given */
};

/* Read METHOD's chain. False when it does not look like one. Fault-safe. */
bool method_read_chain(const struct layout *l, uintptr_t method, struct method_chain *c);
/* Whether METHOD still has chain C. Fault-safe. */
bool method_check(const struct layout *l, uintptr_t method, const struct method_chain *c);
/* Copy the names behind C into S. False when they cannot be read. Fault-safe. */
bool method_read_names(const struct layout *l, const struct method_chain *c, struct strings *s,
		       struct method_names *n);
/* Whether METHOD can have been run: one that is being made has no entry point yet. Fault-safe. */
bool method_is_linked(const struct layout *l, uintptr_t method);
/* Whether the class behind C is one that is never unloaded: the boot loader's, and not hidden. Fault-safe. */
bool method_is_forever(const struct layout *l, const struct method_chain *c);
/* Source line of BCI in the method with chain C, 0 = unknown. Fault-safe. */
int32_t method_line(const struct layout *l, const struct method_chain *c, uint32_t bci);

#endif
