// SPDX-License-Identifier: GPL-2.0-only
/* Checks the targets and tables of a recording as if they came from an agent. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "played.h"
#include "tools/controller/settings/labels.h"

/* Names are printed unescaped. */
static bool is_name(const struct record_text *text)
{
	return dart_escape__is_plain(text->bytes, text->length) &&
	       !memchr(text->bytes, ' ', text->length);
}

static int check_labels(const json_t *labels, struct shared_text **text, struct dart_error *error)
{
	json_t *checked = json_object();
	const json_t *value;
	const char *name;
	int err = checked ? 0 : -ENOMEM;

	json_object_foreach((json_t *)labels, name, value) {
		if (!err && !json_is_string(value))
			err = -EBADMSG;
		if (!err)
			err = labels__add(checked, name, json_string_value(value), error);
	}
	if (!err)
		err = labels__text(checked, NULL, text, error);
	json_decref(checked);
	return err;
}

static int take_labels(const struct record_text *recorded, struct shared_text **text,
		       struct dart_error *error)
{
	json_t *labels;
	int err;

	*text = NULL;
	if (!recorded->length)
		return 0;
	labels = json_loadb(recorded->bytes, recorded->length, JSON_REJECT_DUPLICATES, NULL);
	err = json_is_object(labels) ? check_labels(labels, text, error) : -EBADMSG;
	json_decref(labels);
	if (err && err != -ENOMEM)
		err = dart_error__set(error, EBADMSG, "an agent has labels that are none");
	return err;
}

int played__make_settings(const struct recorded_target *recorded, struct target_settings *settings,
			  struct dart_error *error)
{
	int err;

	*settings = (struct target_settings){
		.interval_ns = recorded->interval_ns,
		.transport = SETTINGS_TRANSPORT_READ,
		.class = SETTINGS_CLASS_DEFAULT,
	};
	if (!is_name(&recorded->name))
		return dart_error__set(error, EBADMSG, "an agent has a name that is none");
	dart_error__set(error, 0, "out of memory");
	err = take_labels(&recorded->labels, &settings->labels, error);
	if (err)
		return err;
	settings->name = strndup(recorded->name.bytes, recorded->name.length);
	settings->host = strndup(recorded->name.bytes, recorded->name.length);
	if (settings->name && settings->host)
		return 0;
	played__clear_settings(settings);
	return dart_error__no_memory(error);
}

void played__clear_settings(struct target_settings *settings)
{
	free(settings->name);
	free(settings->host);
	shared_text__release(settings->labels);
	*settings = (struct target_settings){};
}

/*
 * Adds copies of @names to @settings, which the caller clears. Returns 0, or -errno with a sentence
 * in @error.
 */
static int take_names(const struct record_text *names, struct settings *settings,
		      struct dart_error *error)
{
	const char *name = names->bytes;
	int err;

	for (; name < names->bytes + names->length; name += strlen(name) + 1) {
		err = settings__add_entry(settings, name);
		if (err == -ENOMEM)
			return dart_error__no_memory(error);
		if (err)
			return dart_error__set(error, EBADMSG,
					       "a table has a name of an entry that is none");
	}
	return 0;
}

/* Does this program plan the READs that were recorded? */
static bool is_same_plan(const struct scraper *scraper, const struct recorded_table *recorded)
{
	const struct dart_read *read = scraper->reads;
	const struct record_read *other = recorded->reads;
	uint32_t i;

	if (scraper->read_count != recorded->read_count ||
	    scraper__landing_size(scraper) != recorded->landing_length)
		return false;
	for (i = 0; i < scraper->read_count; i++, read++, other++) {
		if (read->address != le64toh(other->address) ||
		    read->landing != le64toh(other->landing) ||
		    read->length != le32toh(other->length))
			return false;
	}
	return true;
}

static int make_scraper(const struct recorded_table *recorded, const struct settings *settings,
			const struct scraper_use *use, struct scraper **scraper,
			struct dart_error *error)
{
	const struct record_read *header = &recorded->reads[recorded->read_count - 1];
	const struct dart_endpoint_accept accept = {
		.address = le64toh(header->address),
		.rkey = le32toh(header->rkey),
	};
	struct dart_error reason;
	struct dart_table *table;
	int err;

	err = dart_table__decode(recorded->bytes, recorded->length, &table, NULL, &reason);
	if (err == -ENOMEM)
		return dart_error__no_memory(error);
	if (err)
		return dart_error__set(error, EBADMSG, "table refused: %s", reason.text);
	err = scraper__new(table, settings, use, &accept, scraper, error);
	if (err)
		return err;
	if (is_same_plan(*scraper, recorded))
		return 0;
	scraper__free(*scraper);
	return dart_error__set(
		error, EBADMSG,
		"a table was READ in another way than this dart-controller does: replay it with the one that recorded it");
}

uint64_t played__ring_size(const struct recorded_table *recorded)
{
	/* Slots, samples and their sums; the decoded table takes four times its length. */
	return 8ULL * recorded->landing_length + 4ULL * recorded->length +
	       recorded->read_count * sizeof(struct dart_read);
}

int played__make_ring(const struct recorded_table *recorded, const struct scraper_use *use,
		      struct ring **ring, struct dart_error *error)
{
	struct settings settings = {};
	struct scraper *scraper;
	int err;

	err = take_names(&recorded->names, &settings, error) ?:
		      make_scraper(recorded, &settings, use, &scraper, error);
	settings__clear(&settings);
	if (err)
		return err;
	*ring = ring__new(scraper);
	return *ring ? 0 : dart_error__no_memory(error);
}
