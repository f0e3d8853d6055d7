// SPDX-License-Identifier: GPL-2.0-only
/* dartctl query: prints the outcome. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "answer.h"
#include "tools/dartctl/cli/command.h"

/* Exit statuses of outcomes without a value. */
#define EXIT_EMPTY	3
#define EXIT_AMBIGUOUS	4

/* Escapes texts as JSON does, so that they cannot steer the terminal. */
static int print_scalar(const json_t *value)
{
	char *text = dart_json__dumps(value, JSON_ENCODE_ANY);
	size_t length = text ? strlen(text) : 0;

	if (!text)
		return -1;
	if (json_is_string(value) && !dart_json__digits(value))
		printf("%.*s", (int)length - 2, text + 1);
	else
		fputs(text, stdout);
	free(text);
	return 0;
}

static int print_field(const struct dart_key_field *field, const json_t *value)
{
	json_t *element;
	int ret = 0;
	size_t i;

	printf("%s:", field->name);
	if (json_is_array(value)) {
		json_array_foreach(value, i, element) {
			putchar(' ');
			if (!ret)
				ret = print_scalar(element);
		}
	} else {
		putchar(' ');
		ret = print_scalar(value);
	}
	printf("%s%s\n", field->unit ? " " : "", field->unit ? field->unit : "");
	return ret;
}

static int print_value(const struct answer *answer)
{
	const struct dart_key_fields *fields = &answer->schema->value;
	json_t *value;
	uint32_t i;
	int ret;

	value = dart_key_schema__value(answer->schema, answer->found.value);
	ret = value ? 0 : -1;
	for (i = 0; i < fields->count && !ret; i++)
		ret = print_field(&fields->list[i], json_object_get(value, fields->list[i].name));
	json_decref(value);
	return ret ? fail__out_of_memory() : EXIT_SUCCESS;
}

static void explain(const struct answer *answer)
{
	if (answer->found.outcome == DART_STORE_AMBIGUOUS)
		fail(ENODATA, "ambiguous: the slots of this key have different values");
	else if (!answer->found.matches)
		fail(ENODATA, "empty: none of the %u slots of this key has its checksum",
		     answer->geometry.redundancy);
	else
		fail(ENODATA, "empty: no value is in %u slots of this key", answer->rule.consensus);
}

static int print_as_json(const struct answer *answer)
{
	static const char *const outcomes[] = {
		[DART_STORE_FOUND] = "found",
		[DART_STORE_EMPTY] = "empty",
		[DART_STORE_AMBIGUOUS] = "ambiguous",
	};
	const struct dart_store_answer *found = &answer->found;
	json_t *value = NULL;

	if (found->outcome == DART_STORE_FOUND) {
		value = dart_key_schema__value(answer->schema, found->value);
		if (!value)
			return fail__out_of_memory();
	}
	return print_json(json_pack("{s:s, s:i, s:i, s:i, s:i, s:s?, s:o?}", "outcome",
				    outcomes[found->outcome], "matches", (int)found->matches,
				    "agreeing", (int)found->agreeing, "redundancy",
				    (int)answer->geometry.redundancy, "share", (int)answer->share,
				    "collector", answer->collector, "value", value),
			  0);
}

int answer__print(const struct answer *answer, bool as_json)
{
	const enum dart_store_outcome outcome = answer->found.outcome;
	int status = EXIT_SUCCESS;

	if (as_json)
		status = print_as_json(answer);
	else if (outcome == DART_STORE_FOUND)
		status = print_value(answer);
	else
		explain(answer);
	if (status || outcome == DART_STORE_FOUND)
		return status;
	return outcome == DART_STORE_EMPTY ? EXIT_EMPTY : EXIT_AMBIGUOUS;
}
