/*
 * mcp.h - `jstrobe mcp`: the Model Context Protocol for language models that ask what a Java program does. Inner header
 * of the folder.
 *
 * Messages are JSON-RPC 2.0, one a line, on stdin and stdout. Each call of a tool runs in a child process of ours: the
 * server never waits for one, a call can be ended, and what a damaged file does to its reader is that child's own end.
 */
#ifndef JSTROBE_CLI_MCP_H
#define JSTROBE_CLI_MCP_H

#include <limits.h>
#include <sys/types.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/vector.h"

#define MCP_LINE_MOST (1u << 20) /* bytes of a message that comes in */
#define MCP_ANSWER_MOST 4096     /* bytes of the text of an answer */
#define MCP_PARAMS 6
#define MCP_HANDLE 12

/* ---- mcp_rpc.c: messages ---- */

enum rpc_error {
	RPC_NOT_JSON = -32700,
	RPC_NO_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_WRONG_PARAMS = -32602,
};

struct rpc_message {
	char *id;          /* as JSON, whole and safe to send back; NULL: none */
	char *method;      /* NULL: it is an answer to us */
	const char *params; /* the object, within the line; NULL: there is none */
	size_t params_length;
};

/* Take LINE apart. 0; 1: it is nothing to answer; or the code to answer with, and why in ERR. Free M in all cases. */
int rpc_read(struct rpc_message *m, const char *line, size_t n, struct error *err);
void rpc_free(struct rpc_message *m);
/* The member KEY of OBJECT[0..N) as JSON, if it is a string or a number; NULL: it is not there. The caller frees it. */
char *rpc_scalar(const char *object, size_t n, const char *key);
/* Where the member KEY of OBJECT[0..N) stands, with *LENGTH bytes; NULL: it is not there. */
const char *rpc_member(const char *object, size_t n, const char *key, size_t *length);
/* The text of the string KEY; NULL: it is no string, or there is a NUL in it. The caller frees it. */
char *rpc_text(const char *object, size_t n, const char *key);
/* An answer, a line: RESULT is JSON; an error; the text of a tool's result. ID NULL: null. */
void rpc_put_result(struct buffer *out, const char *id, const char *result);
void rpc_put_error(struct buffer *out, const char *id, int code, const char *text);
void rpc_put_content(struct buffer *out, const char *id, const char *text, bool is_error);

/* ---- mcp_tools.c: the tools, and what they are asked ---- */

struct mcp_arg {
	char *text;      /* NULL: not given */
	uint64_t number; /* of those that are numbers */
};

/* A call, as the child that carries it out has it. */
struct mcp_call {
	const struct mcp_tool *tool;
	struct mcp_arg args[MCP_PARAMS]; /* in the order of the tool's parameters */
	char handle[MCP_HANDLE];   /* the new one that it makes; "" = none */
	char file[PATH_MAX];       /* … and its file */
	char files[2][PATH_MAX];   /* of the handles that it was given */
	char names[2][MCP_HANDLE]; /* these */
};

struct mcp_tool {
	const char *name;
	/* Append the answer to OUT. 0, or -1 where OUT says what failed, why, and what to do. */
	int (*run)(struct mcp_call *c, struct buffer *out);
	const char *takes;   /* handles: "" none, "h" the first argument, "hh" the first two */
	const char *makes;   /* "r", "f": the first letter of the handle that it makes; "" none */
	const char *description;
};

/* Append what tools/list answers. */
void mcp_list_tools(struct buffer *out);
/* The call that PARAMS asks for. 0, or -EINVAL: no such tool, or arguments of a wrong type. */
int mcp_read_call(struct mcp_call *c, const char *params, size_t n, struct error *err);
void mcp_free_call(struct mcp_call *c);
/* The argument NAME of C; NULL: not given. */
const char *mcp_arg(const struct mcp_call *c, const char *name);
/* The number NAME of C; not given: OTHERWISE. */
uint32_t mcp_number(const struct mcp_call *c, const char *name, uint32_t otherwise);

#define TOOL(name, takes, makes, description) int mcp_tool_##name(struct mcp_call *c, struct buffer *out);
#define PARAM(name, type, most, required, description)
#include "cli/mcp/mcp_tools.def"

/* ---- mcp_run.c: commands of ours, in a process of their own ---- */

/* From now on SIGTERM goes to the command that runs, which ends in order. */
void mcp_pass_on(void);
/* Append what the file that a handle stands for says: findings and so on, with what can be asked of it. */
int mcp_say_findings(struct mcp_call *c, const char *handle, const char *file, struct buffer *out);
/* TEXT, of which at most MOST bytes are left: whole lines, and then how many were left out and what HINT says. */
void mcp_fit(struct buffer *text, size_t most, const char *hint);

/* ---- mcp_jobs.c: calls that run ---- */

struct mcp_job {
	pid_t pid;         /* 0: this one is free */
	int fd;            /* its answer comes from there */
	struct buffer answer;
	char *id, *progress; /* as JSON; progress NULL: it is not asked for */
	struct mcp_call call;
	uint64_t began, said; /* ns, monotonic; of the last word on its progress */
	bool cancelled;
};

/* A name for a file. */
struct mcp_handle {
	char name[MCP_HANDLE], file[PATH_MAX];
	bool ours; /* it lies in our folder */
};

struct mcp_server {
	int in, out, signals;
	struct buffer line;   /* what has come of the next one */
	bool too_long;        /* … and it is passed over */
	bool ended;           /* nothing more comes, or is to come */
	struct mcp_job jobs[8];
	VECTOR(struct mcp_handle) handles;
	uint32_t made;        /* handles so far */
	char folder[PATH_MAX - 64]; /* "" = not made yet */
};

/* Begin CALL, which the job owns then. False: ERR says why not. */
bool mcp_begin(struct mcp_server *s, const struct mcp_call *call, const char *id, char *progress, struct error *err);
/* Read what J has to say; true when it has ended: its answer is in OUT then, nothing if it was cancelled. */
bool mcp_advance(struct mcp_server *s, struct mcp_job *j, struct buffer *out);
/* End the call with that id. */
void mcp_cancel(struct mcp_server *s, const char *id);
/* End all calls (ALL), or those that only the client could end. */
void mcp_cancel_all(struct mcp_server *s, bool all);
/* Wait for what was ended, and remove what we have made. */
void mcp_tidy(struct mcp_server *s);

#endif
