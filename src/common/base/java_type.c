#include "common/base/java_type.h"

#include <string.h>

const char *java_primitive(char letter)
{
	static const char letters[] = "BCDFIJSZ";
	static const char *const words[] = {"byte", "char", "double", "float", "int", "long", "short", "boolean"};
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? words[at - letters] : NULL;
}

struct java_class java_class_of(const char *text)
{
	struct java_class c = {.dimensions = strspn(text, "[")};
	const char *word;

	c.element = text + c.dimensions;
	c.length = strlen(c.element);
	if (!c.dimensions)
		return c;
	word = c.length == 1 ? java_primitive(c.element[0]) : NULL;
	if (word) {
		c.element = word;
		c.length = strlen(word);
	} else if (c.length > 2 && c.element[0] == 'L' && c.element[c.length - 1] == ';') {
		c.element++;
		c.length -= 2;
	}
	return c;
}
