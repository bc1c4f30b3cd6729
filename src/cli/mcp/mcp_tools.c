/*
 * mcp_tools.c - the table of tools: what clients are told of them, and arguments checked against it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp/mcp.h"
#include "common/base/json_writer.h"
#include "profile/readers/input/json_pull.h"

enum param_type { PARAM_TEXT, PARAM_COUNT, PARAM_EITHER };

static const struct {
	struct mcp_tool tool;   /* name NULL: it is a parameter of the last one */
	const char *name;
	enum param_type type;
	uint32_t most;          /* … of a number */
	bool required;
	const char *description;
} rows[] = {
#define TOOL(name, takes, makes, description) {.tool = {#name, mcp_tool_##name, takes, makes, description}},
#define PARAM(name_, type_, most_, required_, description_) \
	{.name = #name_, .type = PARAM_##type_, .most = most_, .required = required_, .description = description_},
#include "cli/mcp/mcp_tools.def"
};

static size_t params_of(size_t tool)
{
	size_t i = tool + 1;

	while (i < ARRAY_LEN(rows) && rows[i].name)
		i++;
	return i - tool - 1;
}

/* ---- tools/list ---- */

static void put_property(struct json_writer *w, size_t i)
{
	json_object(w, rows[i].name);
	if (rows[i].type == PARAM_EITHER) {
		json_array(w, "type");
		json_put_text(w, NULL, "string");
		json_put_text(w, NULL, "integer");
		json_end(w);
	} else {
		json_put_text(w, "type", rows[i].type == PARAM_COUNT ? "integer" : "string");
	}
	if (rows[i].type == PARAM_COUNT)
		json_put_numbers(w, {"minimum", 1}, {"maximum", rows[i].most});
	json_put_text(w, "description", rows[i].description);
	json_end(w);
}

static void put_tool(struct json_writer *w, size_t tool)
{
	size_t last = tool + params_of(tool), i;

	json_object(w, NULL);
	json_put_texts(w, {"name", rows[tool].tool.name}, {"description", rows[tool].tool.description});
	json_object(w, "inputSchema");
	json_put_text(w, "type", "object");
	json_object(w, "properties");
	for (i = tool + 1; i <= last; i++)
		put_property(w, i);
	json_end(w);
	json_array(w, "required");
	for (i = tool + 1; i <= last; i++)
		if (rows[i].required)
			json_put_text(w, NULL, rows[i].name);
	json_end(w);
	json_put_bool(w, "additionalProperties", false);
	json_end(w);
	json_end(w);
}

void mcp_list_tools(struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_LINE);
	size_t i;

	json_object(&w, NULL);
	json_array(&w, "tools");
	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].tool.name)
			put_tool(&w, i);
	json_end(&w);
	json_end(&w);
}

/* ---- tools/call ---- */

static size_t find_tool(const char *name, struct error *err)
{
	struct buffer names = BUFFER_INIT;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (!rows[i].tool.name)
			continue;
		if (name && strcmp(rows[i].tool.name, name) == 0) {
			buffer_free(&names);
			return i;
		}
		buffer_printf(&names, "%s%s", names.length ? ", " : "", rows[i].tool.name);
	}
	buffer_putc(&names, '\0');
	error_set(err, EINVAL, "Invalid params: %s%.80s; the tools are %s",
		  name ? "there is no tool " : "\"name\" must be the name of a tool", name ? name : "",
		  names.failed ? "not known" : names.data);
	buffer_free(&names);
	return SIZE_MAX;
}

static int take_number(struct mcp_arg *arg, const char *value, size_t length)
{
	struct json j;
	size_t digits = 0, i;

	/* 3.0 is an integer in JSON's schemas */
	while (digits < length && value[digits] >= '0' && value[digits] <= '9')
		digits++;
	for (i = digits; i < length; i++)
		if (value[i] != (i == digits ? '.' : '0'))
			return -1;
	if (!digits || length == digits + 1)
		return -1;
	length = digits;
	json_init(&j, value, length);
	arg->number = json_number(&j);
	i = j.error != NULL;
	json_free(&j);
	arg->text = strndup(value, length);
	return i || !arg->text ? -1 : 0;
}

static int take(struct mcp_arg *arg, size_t row, const char *args, size_t n, struct error *err)
{
	size_t length;
	const char *value = rpc_member(args, n, rows[row].name, &length);
	bool bad;

	if (!value || (length == 4 && memcmp(value, "null", 4) == 0)) {
		if (!rows[row].required)
			return 0;
		return error_set(err, EINVAL, "Invalid params: \"%s\" is missing: %s", rows[row].name,
				 rows[row].description);
	}
	if (*value == '"' && rows[row].type != PARAM_COUNT) {
		arg->text = rpc_text(args, n, rows[row].name);
		bad = !arg->text || strchr(arg->text, '\n');
	} else {
		bad = rows[row].type == PARAM_TEXT || take_number(arg, value, length) || arg->number == 0 ||
		      (rows[row].most && arg->number > rows[row].most);
	}
	if (!bad)
		return 0;
	if (rows[row].type == PARAM_COUNT)
		return error_set(err, EINVAL, "Invalid params: \"%s\" must be a whole number from 1 to %u",
				 rows[row].name, rows[row].most);
	return error_set(err, EINVAL, "Invalid params: \"%s\" must be a string of one line%s", rows[row].name,
			 rows[row].type == PARAM_EITHER ? ", or a whole number" : "");
}

/* No argument is there that the tool does not have. */
static int check_names(size_t tool, const char *args, size_t n, struct error *err)
{
	size_t count = params_of(tool), i;
	const char *key;
	struct json j;
	int rc = 0;

	json_init(&j, args, n);
	if (json_open(&j, '{'))
		while (rc == 0 && (key = json_key(&j))) {
			for (i = 1; i <= count && strcmp(rows[tool + i].name, key) != 0; i++)
				;
			if (i > count)
				rc = error_set(err, EINVAL, "Invalid params: %s has no argument \"%.60s\"; see "
					       "tools/list", rows[tool].tool.name, key);
			json_skip(&j);
		}
	json_free(&j);
	return rc;
}

int mcp_read_call(struct mcp_call *c, const char *params, size_t n, struct error *err)
{
	char *name = rpc_text(params, n, "name");
	size_t length = 0, tool = find_tool(name, err), i;
	const char *args = rpc_member(params, n, "arguments", &length);
	int rc = 0;

	free(name);
	memset(c, 0, sizeof(*c));
	if (tool == SIZE_MAX)
		return -EINVAL;
	if (!args || (length == 4 && memcmp(args, "null", 4) == 0)) {
		args = "{}";
		length = 2;
	}
	c->tool = &rows[tool].tool;
	if (*args != '{')
		return error_set(err, EINVAL, "Invalid params: \"arguments\" must be an object");
	rc = check_names(tool, args, length, err);
	for (i = 0; rc == 0 && i < params_of(tool); i++)
		rc = take(&c->args[i], tool + 1 + i, args, length, err);
	return rc;
}

void mcp_free_call(struct mcp_call *c)
{
	size_t i;

	for (i = 0; i < MCP_PARAMS; i++)
		free(c->args[i].text);
}

static const struct mcp_arg *find_arg(const struct mcp_call *c, const char *name)
{
	size_t tool = 0, i;

	while (&rows[tool].tool != c->tool)
		tool++;
	for (i = 0; i < params_of(tool); i++)
		if (strcmp(rows[tool + 1 + i].name, name) == 0)
			return &c->args[i];
	return NULL;
}

const char *mcp_arg(const struct mcp_call *c, const char *name)
{
	const struct mcp_arg *arg = find_arg(c, name);

	return arg ? arg->text : NULL;
}

uint32_t mcp_number(const struct mcp_call *c, const char *name, uint32_t otherwise)
{
	const struct mcp_arg *arg = find_arg(c, name);

	return arg && arg->text ? (uint32_t)arg->number : otherwise;
}
