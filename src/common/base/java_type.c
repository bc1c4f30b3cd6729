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
	const char *word, *end;

	c.element = text + c.dimensions;
	c.length = strlen(c.element);
	c.behind = c.element + c.length;
	if (!c.dimensions)
		return c;
	/* a class may have blanks in its name, but nothing behind its semicolon */
	end = c.element[0] == 'L' ? strchr(c.element, ';') : c.element;
	if (end && *end && end[1] == ' ') {
		c.behind = end + 1;
		c.length = (size_t)(c.behind - c.element);
	}
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
