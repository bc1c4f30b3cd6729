/*
 * secrets.h - what must not get into a file: values behind names like password, secret, token.
 */
#ifndef JSTROBE_BASE_SECRETS_H
#define JSTROBE_BASE_SECRETS_H

#include "common/base/buffer.h"

/* Whether NAME[0..N) speaks of a password, passphrase, secret, token, credential or key, in any case. */
bool secrets_is_name(const char *name, size_t n);
/*
 * Append TEXT, a command line or a part of one, with *** in place of each secret: of what follows "name=" or
 * "name:", and of the word behind "-name" or "--name".
 */
void secrets_put(struct buffer *out, const char *text);

#endif
