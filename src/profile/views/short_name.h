/*
 * short_name.h - names that fit a column: packages are shortened from the left, and no word is cut in the middle.
 */
#ifndef JSTROBE_VIEWS_SHORT_NAME_H
#define JSTROBE_VIEWS_SHORT_NAME_H

#include "common/base/buffer.h"

/*
 * Append NAME, "com.acme.orders.OrderService.process", in at most COLUMNS if shortening its packages does it:
 * "c.a.orders.OrderService.process", "c.a.o.OrderService.process", "OrderService.process". Names that are still too
 * long, and those of native code, stay whole. Pure.
 */
void short_name(struct buffer *out, const char *name, unsigned columns);
/* NAME without its packages: "OrderService.process". Pure. */
const char *bare_name(const char *name);

#endif
