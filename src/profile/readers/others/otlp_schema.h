/*
 * otlp_schema.h - the messages of OTLP's profiles (opentelemetry-proto 1.11, profiles/v1development), as far as they
 * are read or written: what each field is called in JSON. Constant data.
 */
#ifndef JSTROBE_READERS_OTLP_SCHEMA_H
#define JSTROBE_READERS_OTLP_SCHEMA_H

/* LONG: a text in JSON; TIMES: such ones, of 8 bytes each in messages; ID: hexadecimal in JSON. */
enum otlp_what { OTLP_END, OTLP_NUMBER, OTLP_LONG, OTLP_LIST_OF_NUMBERS, OTLP_LIST_OF_LONGS, OTLP_LIST_OF_TIMES,
		 OTLP_TEXT, OTLP_LIST_OF_TEXTS, OTLP_ID, OTLP_MESSAGE, OTLP_LIST_OF_MESSAGES };

struct otlp_field {
	unsigned number;
	enum otlp_what what;
	const char *name;
	const struct otlp_field *of; /* of a message; ends with OTLP_END */
};

/* ProfilesData. */
extern const struct otlp_field otlp_data[];

#endif
