/*
 * report.h - the last step of record, stop and dump: the result becomes
 * visible, and what must be said about it is said.
 */
#ifndef JSTROBE_CLI_REPORT_H
#define JSTROBE_CLI_REPORT_H

#include "cli/result.h"
#include "cli/talk/agent.h"

/*
 * The agent has written the result as O says, with AGENT->answer about it. Keep RESULT (NULL: the
 * agent wrote to the place OWED itself). -ENODATA: patterns met nothing; the result is there all the same.
 */
int report_result(struct agent *agent, const struct options *o, struct result *result,
		  const char *owed, struct error *err);

/* Before a result that O asks for: what it takes of the program, if it takes much. */
void report_pause(const struct options *o);

/* -ENODATA, with what to do, if the patterns of O left nothing of OF samples. */
int report_left(const struct options *o, uint64_t left, uint64_t of, struct error *err);

#endif
