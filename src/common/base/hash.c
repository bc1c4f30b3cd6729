#include "common/base/hash.h"

#include <string.h>

/* One multiplication a word would let bytes be chosen that share a hash with any seed. */
uint64_t hash_seeded(const void *bytes, size_t size)
{
	uint64_t h = seed() ^ size, word;
	const uint8_t *p = bytes;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = hash_mix(h ^ word);
	}
	if (!size)
		return hash_mix(h);
	word = 0;
	memcpy(&word, p, size);
	return hash_mix(h ^ word);
}
