/*
 * base.h - the small words every room uses.
 *
 * Nothing here allocates or calls the system; it may be included from the
 * signal zone.
 */
#ifndef JSTROBE_BASE_BASE_H
#define JSTROBE_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSTROBE_VERSION "0.1.0"

#define WORD ((int)sizeof(uintptr_t)) /* bytes of a pointer, of a register, and of a slot on the stack */

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define CONTAINER_OF(p, type, field) ((type *)((char *)(p) - offsetof(type, field)))

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

/* Binary search. Any context. */

/*
 * How many of COUNT items in order come first: IS_FIRST says it of item I, an expression that is true up to some item
 * and false from it on.
 *
 *	at = SEARCH(count, i, items[i].end <= address);   // the first one that ends behind ADDRESS
 */
#define SEARCH(count, i, is_first)                                \
	({                                                        \
		size_t search_from = 0, search_to = (count), i;   \
								  \
		while (search_from < search_to) {                 \
			i = (search_from + search_to) / 2;        \
			if (is_first)                             \
				search_from = i + 1;              \
			else                                      \
				search_to = i;                    \
		}                                                 \
		search_from;                                      \
	})

#endif
