#include "profile/readers/others/otlp_schema.h"

#include <stddef.h>

static const struct otlp_field any_value[] = {
	{1, OTLP_TEXT, "stringValue", NULL}, {3, OTLP_LONG, "intValue", NULL}, {0}};
static const struct otlp_field key_value[] = {{1, OTLP_TEXT, "key", NULL}, {2, OTLP_MESSAGE, "value", any_value}, {0}};
static const struct otlp_field resource[] = {{1, OTLP_LIST_OF_MESSAGES, "attributes", key_value}, {0}};
static const struct otlp_field scope[] = {{1, OTLP_TEXT, "name", NULL}, {2, OTLP_TEXT, "version", NULL}, {0}};
static const struct otlp_field value_type[] = {
	{1, OTLP_NUMBER, "typeStrindex", NULL}, {2, OTLP_NUMBER, "unitStrindex", NULL}, {0}};
static const struct otlp_field sample[] = {
	{1, OTLP_NUMBER, "stackIndex", NULL}, {2, OTLP_LIST_OF_NUMBERS, "attributeIndices", NULL},
	{3, OTLP_NUMBER, "linkIndex", NULL},
	{4, OTLP_LIST_OF_LONGS, "values", NULL}, {5, OTLP_LIST_OF_TIMES, "timestampsUnixNano", NULL}, {0},
};
static const struct otlp_field profile[] = {
	{1, OTLP_MESSAGE, "sampleType", value_type}, {2, OTLP_LIST_OF_MESSAGES, "samples", sample},
	{3, OTLP_LONG, "timeUnixNano", NULL}, {4, OTLP_LONG, "durationNano", NULL},
	{5, OTLP_MESSAGE, "periodType", value_type},
	{6, OTLP_LONG, "period", NULL}, {7, OTLP_ID, "profileId", NULL}, {0},
};
static const struct otlp_field scope_profiles[] = {
	{1, OTLP_MESSAGE, "scope", scope}, {2, OTLP_LIST_OF_MESSAGES, "profiles", profile}, {0},
};
static const struct otlp_field resource_profiles[] = {
	{1, OTLP_MESSAGE, "resource", resource}, {2, OTLP_LIST_OF_MESSAGES, "scopeProfiles", scope_profiles}, {0},
};
static const struct otlp_field mapping[] = {
	{2, OTLP_LONG, "memoryLimit", NULL}, {4, OTLP_NUMBER, "filenameStrindex", NULL}, {0}};
static const struct otlp_field line[] = {{1, OTLP_NUMBER, "functionIndex", NULL}, {2, OTLP_LONG, "line", NULL}, {0}};
static const struct otlp_field location[] = {
	{1, OTLP_NUMBER, "mappingIndex", NULL}, {2, OTLP_LONG, "address", NULL},
	{3, OTLP_LIST_OF_MESSAGES, "lines", line},
	{4, OTLP_LIST_OF_NUMBERS, "attributeIndices", NULL}, {0},
};
static const struct otlp_field function[] = {
	{1, OTLP_NUMBER, "nameStrindex", NULL}, {2, OTLP_NUMBER, "systemNameStrindex", NULL},
	{3, OTLP_NUMBER, "filenameStrindex", NULL}, {0}};
static const struct otlp_field link[] = {{1, OTLP_ID, "traceId", NULL}, {2, OTLP_ID, "spanId", NULL}, {0}};
static const struct otlp_field attribute[] = {
	{1, OTLP_NUMBER, "keyStrindex", NULL}, {2, OTLP_MESSAGE, "value", any_value}, {0}};
static const struct otlp_field stack[] = {{1, OTLP_LIST_OF_NUMBERS, "locationIndices", NULL}, {0}};
static const struct otlp_field dictionary[] = {
	{1, OTLP_LIST_OF_MESSAGES, "mappingTable", mapping}, {2, OTLP_LIST_OF_MESSAGES, "locationTable", location},
	{3, OTLP_LIST_OF_MESSAGES, "functionTable", function}, {4, OTLP_LIST_OF_MESSAGES, "linkTable", link},
	{5, OTLP_LIST_OF_TEXTS, "stringTable", NULL}, {6, OTLP_LIST_OF_MESSAGES, "attributeTable", attribute},
	{7, OTLP_LIST_OF_MESSAGES, "stackTable", stack}, {0},
};
const struct otlp_field otlp_data[] = {
	{1, OTLP_LIST_OF_MESSAGES, "resourceProfiles", resource_profiles},
	{2, OTLP_MESSAGE, "dictionary", dictionary}, {0},
};
