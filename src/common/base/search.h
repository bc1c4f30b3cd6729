/*
 * search.h - binary search. Any context.
 */
#ifndef JSTROBE_BASE_SEARCH_H
#define JSTROBE_BASE_SEARCH_H

#include <stddef.h>

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
