/*
 * What is different in the words after `jstrobe convert`: events are those of a file, so that any name
 * may be one; and jfrconv's letters are understood, where they are not those of a recording.
 */
#include <errno.h>
#include <string.h>

#include "common/options/option_table.h"

static const struct {
	const char *option, *family;
} words[] = {
	{"cpu", "cpu"}, {"cpu-time", "cputime"}, {"wall", "wall"}, {"alloc", "alloc"},
	{"live", "live"}, {"lock", "lock"}, {"nativemem", "nativemem"}, {"nativemap", "nativemap"},
	{"nativelock", "nativelock"},
	{"trace", "trace"},
};

static const struct {
	char letter;
	const char *option;
} letters[] = {{'s', "state"}, {'i', "inverted"}, {'r', "reverse"}};

static const char *family_of(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (option_is(words[i].option, name, n))
			return words[i].family;
	return NULL;
}

bool option_is_family(const char *name, size_t n)
{
	return family_of(name, n) != NULL;
}

int option_add_families(const char *list, struct options *o, struct error *err)
{
	const char *family = family_of(list, strlen(list));
	size_t used = strlen(o->families);

	if (family)
		list = family;
	if (!*list || used + 1 + strlen(list) >= sizeof(o->families))
		return error_set(err, EINVAL, "--event: the events are none, or longer than %zu letters "
				 "together", sizeof(o->families) - 1);
	if (used)
		o->families[used++] = ',';
	strcpy(o->families + used, list);
	return 0;
}

char option_letter(const struct option *p, bool files)
{
	bool others = false;
	size_t i;

	for (i = 0; files && i < ARRAY_LEN(letters); i++) {
		if (p->name && strcmp(letters[i].option, p->name) == 0)
			return letters[i].letter;
		others |= letters[i].letter == p->letter;
	}
	return others ? 0 : p->letter;
}

const struct option *option_by_letter(const struct options *o, char letter)
{
	const char *name = NULL;
	const struct option *p;
	size_t i;

	for (i = 0; o->converting && i < ARRAY_LEN(letters); i++)
		if (letters[i].letter == letter)
			name = letters[i].option;
	for (p = option_table; p->kind; p++)
		if (name ? p->name && strcmp(p->name, name) == 0 : p->letter == letter)
			return p;
	return NULL;
}
