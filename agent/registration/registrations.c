// SPDX-License-Identifier: GPL-2.0-only
/* Records requests that succeed, and follows the changes of their objects. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "object.h"
#include "registrations.h"

/* Changes are saved after this time while more requests follow. */
#define SAVING_US 1000000

/* Sets @registration to a new one of a request that succeeded. */
static int record(struct registrations *registrations, const struct request_type *type,
		  const struct request *request, const char *name, struct registration **result)
{
	struct registration *registration;
	json_t *members;
	char *path;

	path = request->path	? strdup(request->path) :
	       request->fd >= 0 ? object__path(request->fd) :
				  NULL;
	members = json_pack("{s:s}", "request", type->name);
	if (!members || json_object_update(members, request->members)) {
		registration = NULL;
	} else {
		registration = registration__new(members, path, request->uid,
						 REGISTRATION_BY_COMMAND);
	}
	json_decref(members);
	free(path);
	if (!registration)
		return -ENOMEM;
	registration->name = strdup(name);
	registration->kept = json_incref(request->kept);
	registration__set_missing(registration, NULL);
	TAILQ_INSERT_TAIL(&registrations->list, registration, link);
	registrations->is_dirty = true;
	*result = registration;
	return 0;
}

static int registrations__add(struct registrations *registrations, const struct request_type *type,
			      const struct request *request)
{
	struct registration *registration;
	char *name = registration__name_of(type->keeps, request->result);
	int ret = -ENOMEM;

	if (name) {
		/* One that was missing is back, perhaps as another object. */
		registration = registrations__find(registrations, name);
		if (registration)
			registrations__drop(registrations, registration);
		ret = record(registrations, type, request, name, &registration);
	}
	free(name);
	return ret;
}

/* Finds the registration of the object that a request ends; NULL if no object has that name. */
static struct registration *registrations__find_ended(const struct registrations *registrations,
						      const struct request_type *type,
						      const struct request *request)
{
	const char *const kinds[] = { type->ends, "follower", "host" };
	int i, count = strcmp(type->ends, "entry") ? 1 : 3;
	struct registration *registration = NULL;
	const char *whole;
	json_t *named;
	char *name;

	/* A reporter is named by its store and address, most others by a text. */
	whole = registration__whole_of(type->ends);
	if (whole)
		named = json_pack("{s:O*, s:O*}", whole, json_object_get(request->members, whole),
				  type->ends, json_object_get(request->members, "address"));
	else
		named = json_pack("{s:s*}", "name", request->text);
	for (i = 0; i < count && !registration; i++) {
		name = registration__name_of(kinds[i], named);
		if (name)
			registration = registrations__find(registrations, name);
		free(name);
	}
	json_decref(named);
	return registration;
}

/* Changes tell of the other ends, but not of the store of a reporter, or the like. */
static void registrations__remove(struct registrations *registrations,
				  const struct request_type *type, const struct request *request)
{
	struct registration *registration = registrations__find_ended(registrations, type, request);

	if (registration && (registration->missing || registration__whole_of(type->ends)))
		registrations__drop(registrations, registration);
}

static struct registrations *of_recorder(struct request_recorder *recorder)
{
	return (struct registrations *)((char *)recorder -
					offsetof(struct registrations, recorder));
}

static int on_success(struct request_recorder *recorder,
		      const struct request_type *type, struct request *request)
{
	struct registrations *registrations = of_recorder(recorder);
	struct dart_error error;
	int ret = 0;

	if (type->keeps)
		ret = registrations__add(registrations, type, request);
	else
		registrations__remove(registrations, type, request);
	if (ret)
		dart_error__no_memory(&error);
	else if (registrations->is_dirty && request->has_more)
		registrations__save_within(registrations, SAVING_US);
	else if (registrations->is_dirty)
		ret = registrations__save(registrations, &error);
	if (!ret)
		return 0;
	return dart_error__set(&request->error, -ret,
			       "this was done, but a restart of dartd will undo it: %s",
			       error.text);
}

static bool on_absence(struct request_recorder *recorder,
		       const struct request_type *type, struct request *request)
{
	struct registrations *registrations = of_recorder(recorder);
	struct registration *registration = registrations__find_ended(registrations, type, request);

	if (!registration || !registration->missing ||
	    (request->uid && request->uid != registration->owner))
		return false;
	request->result = registration__to_json(registration, false);
	registrations__drop(registrations, registration);
	return true;
}

/* A deleted store takes its reporters with it, and a table its requesters. */
static void registrations__remove_parts(struct registrations *registrations,
					const char *kind, const char *name)
{
	const char *part = registration__part_of(kind);
	struct registration *registration, *next;
	char *prefix = NULL;

	if (!part || asprintf(&prefix, "%s %s ", part, name) < 0)
		return;
	for (registration = TAILQ_FIRST(&registrations->list); registration; registration = next) {
		next = TAILQ_NEXT(registration, link);
		if (!registration->name || strncmp(registration->name, prefix, strlen(prefix)))
			continue;
		if (registrations->is_replaying && registration->is_wanted)
			registration__set_missing(registration, "what it belongs to was deleted");
		else
			registrations__drop(registrations, registration);
	}
	free(prefix);
}

static void on_change(struct change_subscriber *subscriber, const char *event,
		      const char *object, const char *name)
{
	struct registrations *registrations =
		(struct registrations *)((char *)subscriber -
					 offsetof(struct registrations, subscriber));
	bool has_ended = !strcmp(event, "ended");
	struct registration *registration;
	char *full_name;

	if (!has_ended && strcmp(event, "removed") && strcmp(event, "unloaded"))
		return;
	if (asprintf(&full_name, "%s %s", object, name) < 0)
		return;
	registration = registrations__find(registrations, full_name);
	free(full_name);
	if (registration)
		registrations__remove_parts(registrations, object, name);
	/* The replay of requests knows the changes that they make. */
	if (!registration || registration->missing || registrations->is_replaying)
		return;
	if (has_ended && registration->origin == REGISTRATION_BY_CONFIGURATION) {
		registration__set_missing(registration, "it no longer exists");
		registrations__retry_soon(registrations);
	} else {
		registrations__drop(registrations, registration);
	}
	/* Changes that no request asked for are saved together. */
	registrations__save_within(registrations, 0);
}

/* ---- the whole */

static int registrations__load(struct registrations *registrations, struct dart_error *error)
{
	struct registration *registration;
	json_t *list, *json;
	size_t i;

	list = state_file__load(&registrations->file, error);
	if (!list)
		return -ENOMEM;
	if (*error->text)
		log__error("%s", error->text);
	json_array_foreach(list, i, json) {
		registration = registration__from_json(json);
		if (registration)
			TAILQ_INSERT_TAIL(&registrations->list, registration, link);
		else
			log__error("registration %zu of the state file is not valid", i + 1);
	}
	json_decref(list);
	return 0;
}

static int on_saving(sd_event_source *source, uint64_t time, void *userdata)
{
	registrations__save_or_log(userdata);
	return 0;
}

static void registrations__close_events(struct registrations *registrations)
{
	sd_event_source_disable_unref(registrations->retry);
	sd_event_source_disable_unref(registrations->saving);
}

static int registrations__open_events(struct registrations *registrations,
				      sd_event *loop, struct dart_error *error)
{
	int ret;

	ret = sd_event_add_time_relative(loop, &registrations->saving, CLOCK_MONOTONIC, 0, 1,
					 on_saving, registrations);
	if (ret >= 0)
		ret = sd_event_add_time_relative(loop, &registrations->retry, CLOCK_MONOTONIC, 0, 0,
						 registrations__on_retry, registrations);
	if (ret < 0) {
		registrations__close_events(registrations);
		return dart_error__system(error, -ret, "cannot defer work to the event loop");
	}
	sd_event_source_set_enabled(registrations->saving, SD_EVENT_OFF);
	sd_event_source_set_enabled(registrations->retry, SD_EVENT_OFF);
	return 0;
}

int registrations__open(struct registrations *registrations, sd_event *loop, const char *directory,
			const struct request_table *tables, struct changes *changes,
			struct registry *registry, struct dart_error *error)
{
	int ret;

	*registrations = (struct registrations){
		.recorder = { .succeeded = on_success, .forget = on_absence },
		.subscriber.notice = on_change,
		.changes = changes,
		.tables = tables,
		.registry = registry,
	};
	TAILQ_INIT(&registrations->list);
	ret = registrations__open_events(registrations, loop, error);
	if (ret)
		return ret;
	ret = state_file__open(&registrations->file, directory, error);
	if (ret == -EBUSY) {
		registrations__close_events(registrations);
		return ret;
	}
	if (ret)
		log__warning("what is registered will not be restored after a restart: %s",
			     error->text);
	ret = registrations__load(registrations, error);
	if (ret) {
		registrations__close_events(registrations);
		state_file__close(&registrations->file);
		return ret;
	}
	changes__subscribe(changes, &registrations->subscriber);
	return 0;
}

int registrations__add_first(struct registrations *registrations,
			     json_t *request, struct dart_error *error)
{
	struct registration *registration = NULL;

	if (!registrations->file.is_new) {
		json_decref(request);
		return 0;
	}
	if (request)
		registration = registration__new(request, NULL, 0, REGISTRATION_BY_COMMAND);
	json_decref(request);
	if (!registration)
		return dart_error__no_memory(error);
	TAILQ_INSERT_TAIL(&registrations->list, registration, link);
	return 0;
}

void registrations__close(struct registrations *registrations)
{
	struct registration *registration;

	registrations__save_or_log(registrations);
	changes__unsubscribe(registrations->changes, &registrations->subscriber);
	while ((registration = TAILQ_FIRST(&registrations->list))) {
		TAILQ_REMOVE(&registrations->list, registration, link);
		registration__free(registration);
	}
	registrations__close_events(registrations);
	state_file__close(&registrations->file);
}

static int list_registrations(struct request *request)
{
	const struct registrations *registrations = request->subject;
	const struct registration *registration;

	request->result = json_array();
	TAILQ_FOREACH(registration, &registrations->list, link)
		reply__append(&request->result, registration__to_json(registration, false));
	return 0;
}

static int save_registrations(struct request *request)
{
	struct registrations *registrations = request->subject;
	struct dart_error error;
	int ret;

	if (registrations->is_dirty) {
		ret = registrations__save(registrations, &error);
		if (ret)
			return dart_error__set(&request->error, -ret,
					       "a restart of dartd will undo the last changes: %s",
					       error.text);
	}
	request->result = json_true();
	return 0;
}

const struct request_type registrations_requests[] = {
	{ "registration-save", "saved", save_registrations, .member = "" },
	{ "registration-list", "registrations", list_registrations,
	  .member = "" },
	{}
};
