#include "agent/collect/names/name_java.h"

#include <string.h>

#include "agent/zone/load.h"

#define NAME_MAX_BYTES 8192

bool method_read_chain(const struct layout *l, uintptr_t method, struct method_chain *c)
{
	return load_word(method + (uintptr_t)l->method_const, &c->constant) && c->constant &&
	       load_word(c->constant + (uintptr_t)l->const_pool, &c->pool) && c->pool &&
	       load_word(c->pool + (uintptr_t)l->pool_holder, &c->holder) && c->holder &&
	       load_word(c->holder + (uintptr_t)l->klass_name, &c->name_symbol) && c->name_symbol &&
	       load_u16(c->constant + (uintptr_t)l->const_name, &c->name_index) && c->name_index &&
	       load_u16(c->constant + (uintptr_t)l->const_signature, &c->signature_index);
}

bool method_check(const struct layout *l, uintptr_t method, const struct method_chain *c)
{
	struct method_chain now;

	return method_read_chain(l, method, &now) && now.constant == c->constant && now.pool == c->pool &&
	       now.holder == c->holder && now.name_symbol == c->name_symbol &&
	       now.name_index == c->name_index && now.signature_index == c->signature_index;
}

/* Copy the Symbol at SYMBOL into S. */
static bool read_symbol(const struct layout *l, uintptr_t symbol, struct strings *s, uint32_t *number)
{
	char text[NAME_MAX_BYTES];
	uint32_t length;

	if (l->symbol_length >= 0) {
		if (!load_u16(symbol + (uintptr_t)l->symbol_length, &length))
			return false;
	} else {
		/* Some builds of 12..14 keep length and reference count in one word. */
		if (l->symbol_length_refcount < 0 ||
		    !load_u32(symbol + (uintptr_t)l->symbol_length_refcount, &length))
			return false;
		length >>= 16;
	}
	length = MIN(length, (uint32_t)sizeof(text));
	if (!load_bytes(text, symbol + (uintptr_t)l->symbol_body, length))
		return false;
	*number = strings_add(s, text, length);
	return *number || length == 0;
}

bool method_is_linked(const struct layout *l, uintptr_t method)
{
	uintptr_t entry;

	return l->method_entry < 0 || (load_word(method + (uintptr_t)l->method_entry, &entry) && entry);
}

bool method_is_forever(const struct layout *l, const struct method_chain *c)
{
	uintptr_t data, loader;
	uint32_t own;

	return l->klass_loader_data >= 0 && l->loader_data_loader >= 0 && l->loader_data_own_class >= 0 &&
	       load_word(c->holder + (uintptr_t)l->klass_loader_data, &data) && data &&
	       /* A handle or, in old JDKs, an object: none is the boot loader either way. */
	       load_word(data + (uintptr_t)l->loader_data_loader, &loader) && !loader &&
	       load_u8(data + (uintptr_t)l->loader_data_own_class, &own) && !own;
}

static bool pool_symbol(const struct layout *l, const struct method_chain *c, uint32_t index,
			uintptr_t *symbol)
{
	return load_word(c->pool + (uintptr_t)l->pool_size + index * sizeof(uintptr_t), symbol) && *symbol;
}

bool method_read_names(const struct layout *l, const struct method_chain *c, struct strings *s,
		       struct method_names *n)
{
	uintptr_t name, signature;

	return pool_symbol(l, c, c->name_index, &name) &&
	       pool_symbol(l, c, c->signature_index, &signature) &&
	       read_symbol(l, c->name_symbol, s, &n->class_name) &&
	       read_symbol(l, name, s, &n->name) && read_symbol(l, signature, s, &n->signature);
}

/* A signed UNSIGNED5 number of the line table (see agent/walk/decode.c for the encoding). */
static bool read_signed(uintptr_t *at, bool biased, int32_t *value)
{
	uint32_t sum = 0, byte, i;

	for (i = 0; i < 5; i++) {
		if (!load_u8((*at)++, &byte))
			return false;
		sum += (byte - biased) << (6 * i);
		if (byte < 192)
			break;
	}
	*value = (int32_t)(sum >> 1) ^ -(int32_t)(sum & 1);
	return true;
}

/*
 * The compressed line table follows the byte code: a byte is bci_delta << 3 | line_delta,
 * 0xff means two signed numbers follow, 0 ends it (constMethod.hpp, CompressedLineNumberReadStream).
 */
int32_t method_line(const struct layout *l, const struct method_chain *c, uint32_t bci)
{
	int32_t at_bci = 0, at_line = 0, line = 0, delta;
	uint32_t flags, size, byte, i;
	uintptr_t p;

	if (l->const_flags < 0 || !load_u16(c->constant + (uintptr_t)l->const_flags, &flags) || !(flags & 1) ||
	    !load_u16(c->constant + (uintptr_t)l->const_code_size, &size))
		return 0;
	p = c->constant + (uintptr_t)l->const_size + size;
	for (i = 0; i < 65536; i++) {
		if (!load_u8(p++, &byte) || byte == 0)
			break;
		if (byte == 0xff) {
			if (!read_signed(&p, l->scope_bytes_biased, &delta))
				break;
			at_bci += delta;
			if (!read_signed(&p, l->scope_bytes_biased, &delta))
				break;
			at_line += delta;
		} else {
			at_bci += (int32_t)(byte >> 3);
			at_line += (int32_t)(byte & 7);
		}
		if ((uint32_t)at_bci > bci)
			break;
		line = at_line;
	}
	return line;
}
