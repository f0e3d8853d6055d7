// SPDX-License-Identifier: GPL-2.0-only
/* Prints the answer in a reply of dartd: see reply.h. */
#include <errno.h>
#include <stdlib.h>

#include <libdart/json.h>

#include "json_indent.h"
#include "message.h"
#include "reply.h"

/* A reply that is being read: its answer goes to @table, or to @text if @table is NULL. */
struct reply {
	struct json_reader reader;
	const struct reply_form *form;
	struct json_members members;	/* of an object of the answer */
	struct table *table;
	struct json_indent text;
	json_t *warning;
	bool has_answer;
	bool has_failed;	/* out of memory */
};

/* Prints an object that was read whole. */
static void print_again(struct reply *reply, const struct json_span *object)
{
	struct json_reader reader;

	json_reader__open(&reader, object->text, object->length);
	json_indent__value(&reply->text, &reader);
}

/* Reads an object whose first token was the last one. */
static bool take_object(struct reply *reply)
{
	const struct reply_form *form = reply->form;
	struct json_span object = { .text = reply->reader.text };

	if (!json_reader__members(&reply->reader, &reply->members))
		return false;
	object.length = reply->reader.at - object.text;
	if (form->keeps && !form->keeps(&reply->members, form->context))
		return true;
	if (!reply->table)
		print_again(reply, &object);
	else if (!table__add(reply->table, &reply->members))
		reply->has_failed = true;
	return true;
}

/* Reads an array of objects. */
static bool take_objects(struct reply *reply)
{
	enum json_token token = json_reader__next(&reply->reader);

	if (token != JSON_TOKEN_ARRAY)
		return false;
	if (!reply->table)
		json_indent__token(&reply->text, &reply->reader, token);
	while ((token = json_reader__next(&reply->reader)) == JSON_TOKEN_OBJECT)
		if (!take_object(reply))
			return false;
	if (!reply->table)
		json_indent__token(&reply->text, &reply->reader, token);
	return token == JSON_TOKEN_ARRAY_END;
}

static bool take_warning(struct reply *reply)
{
	struct json_span warning;

	if (!json_reader__value(&reply->reader, &warning))
		return false;
	json_decref(reply->warning);
	reply->warning = json_span__load(&warning);
	return true;
}

/* Reads the reply; returns false if it is not valid. */
static bool take(struct reply *reply, const char *member)
{
	struct json_reader *reader = &reply->reader;
	struct json_span key, other;
	enum json_token token;
	bool is_valid;

	if (json_reader__next(reader) != JSON_TOKEN_OBJECT)
		return false;
	while ((token = json_reader__next(reader)) == JSON_TOKEN_KEY) {
		key = (struct json_span){ .text = reader->text, .length = reader->length };
		if (json_span__equals(&key, member)) {
			reply->has_answer = true;
			is_valid = reply->table || reply->form->keeps ?
					   take_objects(reply) :
					   json_indent__value(&reply->text, reader);
		} else if (json_span__equals(&key, "warning")) {
			is_valid = take_warning(reply);
		} else {
			is_valid = json_reader__value(reader, &other);
		}
		if (!is_valid)
			return false;
	}
	return token == JSON_TOKEN_OBJECT_END && json_reader__next(reader) == JSON_TOKEN_END;
}

/* A reply without the answer may come from another release of dartd: says which to upgrade. */
static int fail_without_answer(const char *text, size_t length, const char *member)
{
	json_t *reply = dart_json__loadb(text, length, 0, NULL);
	struct dart_error error;

	dart_error__set(&error, EPROTO, "the reply of dartd has no '%s'", member);
	version__explain(reply, &error);
	json_decref(reply);
	return fail(EPROTO, "%s", error.text);
}

int reply__print(const char *text, size_t length, const char *member,
		 const struct reply_form *form)
{
	struct reply reply = { .form = form };
	int status;

	if (form->columns) {
		reply.table = table__new(form->columns);
		reply.has_failed = !reply.table;
	}
	json_reader__open(&reply.reader, text, length);
	if (reply.has_failed)
		status = fail__out_of_memory();
	else if (!take(&reply, member))
		status = fail(EPROTO, "cannot understand dartd: its reply is not valid");
	else if (!reply.has_answer)
		status = fail_without_answer(text, length, member);
	else if (reply.has_failed)
		status = fail__out_of_memory();
	else
		status = reply.table ? table__print(reply.table) : json_indent__print(&reply.text);
	if (!status && reply.warning)
		print_warning(json_string_value(reply.warning) ?: "");
	table__free(reply.table);
	json_indent__clear(&reply.text);
	json_members__clear(&reply.members);
	json_decref(reply.warning);
	return status;
}
