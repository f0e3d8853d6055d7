// SPDX-License-Identifier: GPL-2.0-only
/* Findings of a doctor, as lines or as JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "findings.h"

static const char *member(const json_t *finding, const char *name)
{
	return json_string_value(json_object_get(finding, name));
}

static void print_line(const json_t *finding)
{
	const char *result = member(finding, "result");
	const char *advice = member(finding, "advice");
	const char *command = member(finding, "command");

	printf("%-5s %s: %s", strcmp(result, "fail") ? result : "FAIL",
	       member(finding, "check"), member(finding, "found"));
	if (advice)
		printf("; %s", advice);
	if (command)
		printf("; do: %s", command);
	putchar('\n');
	fflush(stdout);
}

/* The advice of the last finding is complete. */
static void findings__finish_last(struct findings *findings)
{
	json_t *last = findings->last;

	findings->last = NULL;
	if (!last)
		return;
	if (!findings->as_json)
		print_line(last);
	else if (json_array_append(findings->list, last))
		findings->out_of_memory = true;
	json_decref(last);
}

void findings__open(struct findings *findings, bool as_json)
{
	*findings = (struct findings){
		.as_json = as_json,
		.list = json_array(),
	};
}

int findings__close(struct findings *findings)
{
	findings__finish_last(findings);
	if (findings->as_json && !findings->out_of_memory &&
	    !json_dumpf(findings->list, stdout, JSON_INDENT(2)))
		putchar('\n');
	else if (findings->as_json)
		findings->out_of_memory = true;
	json_decref(findings->list);
	if (findings->out_of_memory)
		fputs("doctor: out of memory\n", stderr);
	return findings->has_failed || findings->out_of_memory ? EXIT_FAILURE : EXIT_SUCCESS;
}

__attribute__((format(printf, 3, 0))) static void
set_text(struct findings *findings, const char *name, const char *format, va_list arguments)
{
	char sentence[1024], text[1024];

	vsnprintf(sentence, sizeof(sentence), format, arguments);
	dart_escape__text(sentence, sizeof(sentence), DART_ESCAPE_SENTENCE, text, sizeof(text));
	if (json_object_set_new(findings->last, name, json_string(text)))
		findings->out_of_memory = true;
}

__attribute__((format(printf, 4, 0))) static void
begin(struct findings *findings, const char *check, const char *result,
      const char *format, va_list arguments)
{
	findings__finish_last(findings);
	findings->last = json_pack("{s:s, s:s}", "check", check, "result", result);
	set_text(findings, "found", format, arguments);
}

void findings__ok(struct findings *findings, const char *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	begin(findings, check, "ok", format, arguments);
	va_end(arguments);
}

void findings__warn(struct findings *findings, const char *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	begin(findings, check, "warn", format, arguments);
	va_end(arguments);
}

void findings__fail(struct findings *findings, const char *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	begin(findings, check, findings->is_lenient ? "warn" : "fail", format, arguments);
	va_end(arguments);
	findings->has_failed = findings->has_failed || !findings->is_lenient;
}

void findings__advise(struct findings *findings, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_text(findings, "advice", format, arguments);
	va_end(arguments);
}

void findings__command(struct findings *findings, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_text(findings, "command", format, arguments);
	va_end(arguments);
}
