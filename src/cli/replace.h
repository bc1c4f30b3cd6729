/*
 * replace.h - a result whose name is taken: the file there is replaced only when its owner says so.
 *
 * On a terminal that is asked, before anything is attached to or written; elsewhere it is refused with what to say
 * instead. -EEXIST: refused; -EINTR: the answer was no; both with a sentence.
 */
#ifndef JSTROBE_CLI_REPLACE_H
#define JSTROBE_CLI_REPLACE_H

#include "cli/cli.h"
#include "common/os/output.h"

/* Whether a result of O at PLACE, as output_find found it, would replace what O does not say may go. */
bool replace_is_needed(const struct output *place, const struct options *o);
/* Ask whether FILE, which is there, may go, or refuse. */
int replace_ask(const char *file, const struct options *o, struct error *err);
/* Both: whether a result of O may take PLACE, which the user knows as FILE. */
int replace_check(const struct output *place, const char *file, const struct options *o, struct error *err);
/* The same of the file that -f names, before its command does anything: PLACE is found here. */
int replace_check_first(const struct cli *cli, struct error *err);
/* What the command ends with then. */
int replace_exit_code(int rc);

#endif
