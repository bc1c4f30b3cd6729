#include "common/base/secrets.h"

#include <string.h>

#include "common/base/ascii.h"

bool secrets_is_name(const char *name, size_t n)
{
	static const char *const words[] = {"passw", "passphrase", "pwd", "secret", "token", "credential", "key"};
	size_t i, at, length;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		length = strlen(words[i]);
		for (at = 0; at + length <= n; at++)
			if (ascii_begins(name + at, words[i], length))
				return true;
	}
	return false;
}

/* Where the secret in WORD[0..N) begins: behind "name=", anywhere in "-Da=b&name=secret"; N = nowhere. */
static size_t secret_in(const char *word, size_t n)
{
	size_t at = 0, end;

	while (at < n) {
		end = at + strcspn(word + at, "=&;,?: \t\n");
		if (end < n && (word[end] == '=' || (word[end] == ':' && word[0] == '-')) &&
		    secrets_is_name(word + at, end - at))
			return end + 1;
		at = end + 1;
	}
	return n;
}

void secrets_put(struct buffer *out, const char *text)
{
	bool is_secret = false;

	while (*text) {
		size_t blanks = strspn(text, " \t\n"), n, open;

		buffer_append(out, text, blanks);
		text += blanks;
		n = strcspn(text, " \t\n");
		open = is_secret && text[0] != '-' ? 0 : secret_in(text, n);
		buffer_append(out, text, open);
		if (open < n)
			buffer_puts(out, "***");
		is_secret = n > 1 && open == n && text[0] == '-' && !memchr(text, '=', n) &&
			    secrets_is_name(text, n);
		text += n;
	}
}
