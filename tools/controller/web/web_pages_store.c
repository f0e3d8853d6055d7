// SPDX-License-Identifier: GPL-2.0-only
/* Answers about stores: see web_pages_store.h. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>

#include "lookup.h"
#include "web_answer.h"
#include "web_pages_store.h"

#define KEY_BYTES_MAX 4096

void web_pages_store__schemas(void *data, const struct http_request *request,
			      struct http_answer *answer)
{
	const struct web_site *site = data;
	struct json_text text = {};

	if (!web_answer__is_allowed(request, answer))
		return;
	json_text__put(&text, "{\"schemas\":");
	key_schemas__print(&site->schemas, &text);
	json_text__put(&text, "}");
	web_answer__send(answer, &text, 0);
}

static bool get_rule(const struct http_request *request, struct dart_store_rule *rule)
{
	const char *text = http_request__argument(request, "policy");
	double consensus = 0;

	*rule = (struct dart_store_rule){ .policy = DART_STORE_PLURALITY };
	if (!web_answer__get_number(request, "consensus", 1, DART_STORE_REDUNDANCY_MAX, &consensus))
		return false;
	if (!text || !strcmp(text, "plurality"))
		return true;
	rule->policy = DART_STORE_MERGE;
	if (!strcmp(text, "merge"))
		return true;
	rule->policy = DART_STORE_UNIQUE;
	if (!strcmp(text, "unique"))
		return true;
	rule->policy = DART_STORE_CONSENSUS;
	rule->consensus = consensus;
	return !strcmp(text, "consensus") && rule->consensus;
}

/*
 * Makes the key from the texts in @json, one for each field.  Returns 0, or -errno with a sentence
 * in @error.
 */
static int make_key(const json_t *json, struct lookup_question *question, struct dart_error *error)
{
	const char *texts[DART_KEY_FIELDS_MAX];
	const struct dart_key_fields *fields = &question->schema->key;
	uint32_t i;

	if (json_array_size(json) != fields->count)
		return dart_error__set(error, EINVAL, "a key of this schema has %u fields",
				       fields->count);
	for (i = 0; i < fields->count; i++) {
		texts[i] = json_string_value(json_array_get(json, i));
		if (!texts[i])
			return dart_error__set(error, EINVAL, "the key has no %s",
					       fields->list[i].name);
	}
	question->key_length = dart_key_schema__key(question->schema, texts, question->key, error);
	return question->key_length < 0 ? question->key_length : 0;
}

static void send_error(struct http_answer *answer, const char *sentence)
{
	struct json_text text = {};

	json_text__put(&text, "{\"error\":");
	json_text__string(&text, sentence);
	json_text__put(&text, "}");
	web_answer__send(answer, &text, 0);
}

/* Only targets can be asked: the page reaches no other hosts. */
static int set_place(struct lookup_question *question, const struct web_target *target,
		     const char *store)
{
	question->store = strdup(store);
	return question->store ?
		       dart_address__parse(target->name, &question->host, &question->port) :
		       -ENOMEM;
}

static void ask(const struct web_site *site, struct lookup_question *question,
		struct http_answer *answer)
{
	answer->stream_data = lookup__new(site->desk, question);
	if (answer->stream_data) {
		answer->stream = &lookup__operations;
		answer->type = "application/json";
	} else {
		answer->status = WEB_STATUS_NO_MEMORY;
	}
}

void web_pages_store__lookup(void *data, const struct http_request *request,
			     struct http_answer *answer)
{
	const char *store, *schema, *key;
	const struct web_site *site = data;
	struct lookup_question question = {};
	struct web_target *target;
	struct dart_error error;
	json_t *json;

	if (!web_answer__is_allowed(request, answer))
		return;
	store = http_request__argument(request, "store");
	schema = http_request__argument(request, "schema");
	key = http_request__argument(request, "key");
	question.schema = schema ? key_schemas__find(&site->schemas, schema) : NULL;
	if (!store || !question.schema || !key || strlen(key) > KEY_BYTES_MAX ||
	    !get_rule(request, &question.rule)) {
		answer->status = WEB_STATUS_BAD;
		return;
	}
	target = web_answer__find_target(site, request, answer);
	if (!target)
		return;
	json = json_loads(key, JSON_REJECT_DUPLICATES, NULL);
	if (make_key(json, &question, &error))
		send_error(answer, error.text);
	else if (set_place(&question, target, store))
		answer->status = WEB_STATUS_NO_MEMORY;
	else
		ask(site, &question, answer);
	lookup_question__clear(&question);
	json_decref(json);
	web_target__put(target);
}
