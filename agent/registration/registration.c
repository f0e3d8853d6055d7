// SPDX-License-Identifier: GPL-2.0-only
/* One registration, and its form in the state file and in replies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "registration.h"

static const char *const origins[] = {
	[REGISTRATION_BY_COMMAND] = "command",
	[REGISTRATION_BY_CONFIGURATION] = "configuration",
};

void registration__free(struct registration *registration)
{
	if (!registration)
		return;
	json_decref(registration->request);
	json_decref(registration->kept);
	free(registration->name);
	free(registration->path);
	free(registration->place);
	if (registration->missing && *registration->missing)
		free(registration->missing);
	free(registration);
}

void registration__set_missing(struct registration *registration, const char *sentence)
{
	static char none[] = "";

	if (registration->missing && *registration->missing)
		free(registration->missing);
	registration->missing = sentence && *sentence ? strdup(sentence) : NULL;
	if (sentence && !registration->missing)
		registration->missing = none;
}

struct registration *registration__new(const json_t *request, const char *path, uid_t owner,
				       enum registration_origin origin)
{
	struct registration *registration = calloc(1, sizeof(*registration));

	if (!registration)
		return NULL;
	registration->request = json_deep_copy(request);
	registration->path = path ? strdup(path) : NULL;
	registration->owner = owner;
	registration->origin = origin;
	registration__set_missing(registration, "");
	if (registration->request && !registration->path == !path)
		return registration;
	registration__free(registration);
	return NULL;
}

bool registration__equals(const struct registration *registration,
			  const json_t *request, const char *path)
{
	if (!path != !registration->path || (path && strcmp(path, registration->path)))
		return false;
	return json_equal(registration->request, request);
}

/* Objects that are named by the object that they belong to, and an address. */
static const struct part {
	const char *kind, *whole, *remove;
} parts[] = {
	{ "reporter", "store", "reporter-remove" },
	{ "requester", "table", "requester-remove" },
	{ "appender", "journal", "appender-remove" },
	{ "adder", "ledger", "adder-remove" },
	{ "sketcher", "sketch", "sketcher-remove" },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* @kind ends with a NUL or a space. */
static const struct part *part_of_kind(const char *kind)
{
	size_t length = strcspn(kind, " "), i;

	for (i = 0; i < PARTS; i++)
		if (strlen(parts[i].kind) == length && !strncmp(parts[i].kind, kind, length))
			return &parts[i];
	return NULL;
}

const char *registration__part_of(const char *kind)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		if (!strcmp(parts[i].whole, kind))
			return parts[i].kind;
	return NULL;
}

const char *registration__whole_of(const char *kind)
{
	const struct part *part = part_of_kind(kind);

	return part ? part->whole : NULL;
}

char *registration__name_of(const char *kind, const json_t *result)
{
	const char *name = json_string_value(json_object_get(result, "name"));
	const struct part *part = part_of_kind(kind);
	const char *whole = NULL, *address = NULL;
	char *text = NULL;
	int length = -1;

	if (part) {
		whole = json_string_value(json_object_get(result, part->whole));
		address = json_string_value(json_object_get(result, kind));
	}
	if (whole && address)
		length = asprintf(&text, "%s %s %s", kind, whole, address);
	else if (name)
		length = asprintf(&text, "%s %s", kind, name);
	return length < 0 ? NULL : text;
}

void registration__set_place(struct registration *registration, const char *file, unsigned int line)
{
	free(registration->place);
	if (asprintf(&registration->place, "%s:%u", file, line) < 0)
		registration->place = NULL;
}

json_t *registration__to_json(const struct registration *registration, bool is_for_file)
{
	const char *missing = is_for_file ? NULL : registration->missing;
	char *path = NULL;
	json_t *json;

	/* Users make paths of any bytes, and JSON has only characters. */
	if (registration->path) {
		path = dart_escape__new(registration->path, DART_ESCAPE_NAME);
		if (!path)
			return NULL;
	}
	json = json_pack("{s:s*, s:O, s:s*, s:I, s:s, s:s*, s:O*}", "name", registration->name,
			 "request", registration->request, "path", path, "owner",
			 (json_int_t)registration->owner, "origin", origins[registration->origin],
			 "missing", missing, "kept", is_for_file ? registration->kept : NULL);
	free(path);
	return json;
}

/* By the kind of the object: requests that end it, with its name. */
static const struct {
	const char *kind, *request;
} ends[] = {
	{ "application ", "application-remove" },
	{ "entry ", "unregister" },
	{ "follower ", "unregister" },
	{ "host ", "unregister" },
	{ "probe ", "probe-unload" },
	{ "store ", "store-delete" },
	{ "journal ", "journal-delete" },
	{ "ledger ", "ledger-delete" },
	{ "sketch ", "sketch-delete" },
	{ "table ", "table-delete" },
	{}
};

/* "reporter STORE ADDRESS": neither of these contains a space. */
static json_t *part__to_end(const char *name)
{
	const struct part *part = part_of_kind(name);
	const char *whole, *space;

	if (!part)
		return NULL;
	whole = name + strlen(part->kind);
	whole += *whole == ' ';
	space = strchr(whole, ' ');
	if (!space)
		return NULL;
	return json_pack("{s:s, s:s#, s:s}", "request", part->remove, part->whole, whole,
			 (int)(space - whole), "address", space + 1);
}

json_t *registration__to_end(const struct registration *registration)
{
	const char *name = registration->name;
	size_t i, length;

	for (i = 0; ends[i].kind; i++) {
		length = strlen(ends[i].kind);
		if (!strncmp(name, ends[i].kind, length))
			return json_pack("{s:s, s:s}", "request", ends[i].request, "name",
					 name + length);
	}
	return part__to_end(name);
}

/* Is it the name of an object of a known kind? */
static bool has_known_name(const struct registration *registration)
{
	json_t *end = registration__to_end(registration);

	json_decref(end);
	return end;
}

static int parse_origin(const char *text)
{
	int origin;

	for (origin = 0; origin < 2; origin++)
		if (!strcmp(text, origins[origin]))
			return origin;
	return -1;
}

struct registration *registration__from_json(const json_t *json)
{
	const char *name = NULL, *path = NULL, *origin;
	struct registration *registration;
	json_t *request, *kept = NULL;
	json_int_t owner;

	if (json_unpack((json_t *)json, "{s?s, s:o, s?s, s:I, s:s, s?o !}",
			"name", &name, "request", &request, "path", &path,
			"owner", &owner, "origin", &origin, "kept", &kept) ||
	    parse_origin(origin) < 0 || owner < 0 || owner > (uid_t)-2)
		return NULL;
	registration = registration__new(request, path, owner, parse_origin(origin));
	if (!registration)
		return NULL;
	if (registration->path)
		dart_escape__decode(registration->path);
	registration->kept = json_incref(kept);
	registration->name = name ? strdup(name) : NULL;
	if (!name || (registration->name && has_known_name(registration)))
		return registration;
	registration__free(registration);
	return NULL;
}
