// SPDX-License-Identifier: GPL-2.0-only
/* dartctl query: prints the outcome. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "answer.h"
#include "epochs.h"
#include "instant.h"
#include "tools/dartctl/cli/command.h"

/* Exit statuses of outcomes without a value. */
#define EXIT_EMPTY	3
#define EXIT_AMBIGUOUS	4

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
	if (answer->found.outcome == DART_STORE_AMBIGUOUS &&
	    answer->rule.policy == DART_STORE_MERGE)
		fail(ENODATA, "ambiguous: the slots of this key contradict each other at a hop");
	else if (answer->found.outcome == DART_STORE_AMBIGUOUS)
		fail(ENODATA, "ambiguous: the slots of this key have different values");
	else if (!answer->found.matches)
		fail(ENODATA, "empty: none of the %u slots of this key has its checksum",
		     answer->geometry.redundancy);
	else
		fail(ENODATA, "empty: no value is in %u slots of this key", answer->rule.consensus);
}

static const char *const outcomes[] = {
	[DART_STORE_FOUND] = "found",
	[DART_STORE_EMPTY] = "empty",
	[DART_STORE_AMBIGUOUS] = "ambiguous",
};

/* NULL if out of memory. */
static json_t *answer_to_json(const struct answer *answer)
{
	const struct dart_store_answer *found = &answer->found;
	json_t *value = NULL;

	if (found->outcome == DART_STORE_FOUND) {
		value = dart_key_schema__value(answer->schema, found->value);
		if (!value)
			return NULL;
	}
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:s?, s:o?}", "outcome",
			 outcomes[found->outcome], "matches", (int)found->matches, "agreeing",
			 (int)found->agreeing, "redundancy", (int)answer->geometry.redundancy,
			 "share", (int)answer->share, "collector", answer->collector, "value",
			 value);
}

static int status_of(enum dart_store_outcome outcome)
{
	return outcome == DART_STORE_FOUND ? EXIT_SUCCESS :
	       outcome == DART_STORE_EMPTY ? EXIT_EMPTY :
					     EXIT_AMBIGUOUS;
}

int answer__print(const struct answer *answer, bool as_json)
{
	const enum dart_store_outcome outcome = answer->found.outcome;
	int status = EXIT_SUCCESS;

	if (as_json)
		status = print_json(answer_to_json(answer), 0);
	else if (outcome == DART_STORE_FOUND)
		status = print_value(answer);
	else
		explain(answer);
	return status ?: status_of(outcome);
}

/* ---- epochs */

static void print_times(const struct epoch_answer *epoch, char text[2 * INSTANT_MAX])
{
	char since[INSTANT_MAX], until[INSTANT_MAX] = "now";

	instant__print(epoch->since_ns, since);
	if (epoch->until_ns)
		instant__print(epoch->until_ns, until);
	snprintf(text, 2 * INSTANT_MAX, "%s to %s", since, until);
}

static int status_of_epoch(const struct epoch_answer *epoch)
{
	return epoch->outcome == EPOCH_ANSWERED ? status_of(epoch->found.outcome) : EXIT_UNKNOWN;
}

/* @answer: with the answer of @epoch */
static json_t *epoch_to_json(const struct answer *answer, const struct epoch_answer *epoch)
{
	json_t *json, *until = epoch->until_ns ? json_integer(epoch->until_ns) : json_null();

	if (epoch->outcome == EPOCH_ANSWERED)
		json = answer_to_json(answer);
	else
		json = json_pack("{s:s, s:s*, s:s*}", "outcome",
				 epoch->outcome == EPOCH_DAMAGED ? "damaged" : "missing", "reason",
				 epoch->reason, "collector", answer->collector);
	json_object_set_new(json, "since_ns", json_integer(epoch->since_ns));
	json_object_set_new(json, "until_ns", until);
	return json;
}

static int print_epoch(const struct answer *answer, const struct epoch_answer *epoch, bool is_one)
{
	char times[2 * INSTANT_MAX];

	print_times(epoch, times);
	if (epoch->outcome == EPOCH_MISSING && is_one)
		return fail(ENODATA, "missing: no epoch of this time is kept");
	if (epoch->outcome == EPOCH_DAMAGED && is_one)
		return fail(EBADMSG, "damaged: the epoch %s: %s", times, epoch->reason ?: "?");
	if (is_one)
		return answer__print(answer, false);
	printf("%s ", times);
	if (epoch->outcome == EPOCH_MISSING)
		fputs("missing", stdout);
	else if (epoch->outcome == EPOCH_DAMAGED)
		fputs("damaged: ", stdout);
	else
		fputs(outcomes[epoch->found.outcome], stdout);
	if (epoch->outcome == EPOCH_DAMAGED)
		print_foreign(stdout, epoch->reason ?: "?");
	putchar('\n');
	if (epoch->outcome == EPOCH_ANSWERED && epoch->found.outcome == DART_STORE_FOUND)
		return print_value(answer);
	return EXIT_SUCCESS;
}

/* A value is better than none, and none is better than not to know. */
static int better(int one, int other)
{
	static const int order[] = { EXIT_SUCCESS, EXIT_AMBIGUOUS, EXIT_UNKNOWN, EXIT_EMPTY };
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (one == order[i] || other == order[i])
			return order[i];
	return one;
}

int answer__print_epochs(const struct answer *answer, const struct epoch_answers *epochs,
			 bool is_one, bool as_json)
{
	struct answer one = *answer;
	json_t *list = json_array();
	int status = EXIT_EMPTY;
	size_t i;

	for (i = 0; i < epochs->count; i++) {
		const struct epoch_answer *epoch = &epochs->list[i];

		one.found = epoch->found;
		one.collector = epoch->collector ?: answer->collector;
		one.geometry.redundancy = epoch->redundancy;
		if (as_json)
			json_array_append_new(list, epoch_to_json(&one, epoch));
		else
			print_epoch(&one, epoch, is_one);
		status = better(status, status_of_epoch(epoch));
	}
	if (as_json && print_json(is_one ? json_incref(json_array_get(list, 0)) : json_incref(list),
				  0))
		status = EXIT_FAILURE;
	json_decref(list);
	return status;
}
