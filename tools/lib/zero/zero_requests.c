// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes requests about objects, see <dart/registration.h>. */
#include <stdio.h>
#include <stdlib.h>

#include <dart/registration.h>

#include "zero_internal.h"

/* Writes @text as a string of JSON; other characters than printable ASCII become "?". */
static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text < ' ' || *text > '~' ? '?' : *text, out);
	}
	fputc('"', out);
}

static void write_schema(FILE *out, const struct dart_zero_type *type)
{
	static const char *const kinds[] = {
		[DART_ZERO_KIND_COUNTER] = "counter",
		[DART_ZERO_KIND_GAUGE] = "gauge",
		[DART_ZERO_KIND_SEQUENCE] = "sequence",
		[DART_ZERO_KIND_TEXT] = "text",
	};
	const struct dart_zero_field *field;
	uint32_t i;

	fputs("{\"name\":", out);
	write_string(out, type->name);
	fprintf(out, ",\"length\":%u,\"fields\":[", type->length);
	for (i = 0; i < type->field_count; i++) {
		field = &type->fields[i];
		fputs(i ? ",{\"name\":" : "{\"name\":", out);
		write_string(out, field->name);
		fprintf(out,
			",\"offset\":%u,\"width\":%u,\"count\":%u,\"kind\":\"%s\",\"signed\":%s",
			field->offset, field->width, field->count, kinds[field->kind],
			field->is_signed ? "true" : "false");
		fputs(",\"unit\":", out);
		write_string(out, field->unit);
		fputc('}', out);
	}
	fputs("]}", out);
}

/* The name of the entry, which the caller frees; NULL if out of memory. */
static char *name_of(const struct dart_zero *zero, const struct dart_zero_object *object)
{
	const char *suffix = object->is_renamed ? zero->other_suffix : zero->suffix;
	char *name;

	return asprintf(&name, "%s%s%s", zero->prefix, object->name, suffix ? suffix : "") < 0 ?
		       NULL :
		       name;
}

/* True if a short form can contain @name, which dartd checks. */
static bool is_word(const char *name)
{
	for (; *name > ' ' && *name <= '~'; name++)
		;
	return !*name;
}

/* The short form, for an object like the one before it. */
static void write_short(struct dart_zero_question *question, const struct dart_zero_object *object,
			const char *name)
{
	const int length = asprintf(&question->text, "%c%u %s\n", DART_REGISTRATION_SHORT,
				    object->offset, name);

	question->length = length;
	if (length < 0)
		question->text = NULL;
}

struct dart_zero_question dart_zero__ask_for(const struct dart_zero *zero,
					     const struct dart_zero_object *object,
					     const struct dart_zero_type *last)
{
	char *name = name_of(zero, object);
	struct dart_zero_question question = {
		.is_short = name && object->state == ZERO_WAITING && is_word(name) &&
			    object->type == last,
	};
	FILE *out = name && !question.is_short ? open_memstream(&question.text, &question.length) :
						 NULL;

	if (question.is_short)
		write_short(&question, object, name);
	if (out) {
		fprintf(out, "{\"request\":\"%s\",\"name\":",
			object->state == ZERO_LEAVING ? "unregister-slice" : "new-slice");
		write_string(out, name);
		if (object->state != ZERO_LEAVING) {
			fprintf(out, ",\"offset\":%u,\"schema\":", object->offset);
			write_schema(out, object->type);
			if (zero->is_exact)
				fputs(",\"exposure\":\"exact\"", out);
		}
		fputs("}\n", out);
		if (fclose(out)) {
			free(question.text);
			question.text = NULL;
		}
	}
	free(name);
	return question;
}
