// SPDX-License-Identifier: GPL-2.0-only
/* Carries requests out again: after a restart, and when the configuration changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "agent/socket/dispatch.h"
#include "object.h"
#include "registrations.h"

/* Hands a request to its handler; sets *@keeps to the kind of object it keeps. */
static int replay(struct registrations *registrations, struct request *request, const char **keeps)
{
	const struct request_type *type = NULL;
	int reply_fd = -1, ret;

	request->reply_fd = &reply_fd;
	ret = dispatch__members(registrations->tables, request, &type);
	if (reply_fd >= 0)
		close(reply_fd);
	*keeps = ret ? NULL : type->keeps;
	return ret;
}

/* A file is not trusted to have only requests that register something. */
static int check(const struct registrations *registrations, const struct registration *registration,
		 struct dart_error *error)
{
	const char *name = json_string_value(json_object_get(registration->request, "request"));
	const struct request_type *type = dispatch__find(registrations->tables, name, NULL);

	if (type && type->keeps)
		return 0;
	return dart_error__set(error, EINVAL, "its request registers nothing");
}

static int try(struct registrations *registrations,
	       struct registration *registration, struct dart_error *error)
{
	struct request request = {
		.members = json_deep_copy(registration->request),
		.uid = registration->owner,
		.path = registration->path,
		.kept = json_incref(registration->kept),
	};
	const char *keeps;
	char *name;
	int ret;

	ret = check(registrations, registration, error) ?:
		      object__open(registration, registrations->file.is_same_boot, &request.fd,
				   error);
	if (!ret) {
		ret = replay(registrations, &request, &keeps);
		if (ret)
			*error = request.error;
	}
	name = ret ? NULL : registration__name_of(keeps, request.result);
	if (name) {
		free(registration->name);
		registration->name = name;
		json_decref(registration->kept);
		registration->kept = json_incref(request.kept);
		registrations->is_dirty = true;
	}
	json_decref(request.members);
	json_decref(request.result);
	json_decref(request.kept);
	if (request.fd >= 0)
		close(request.fd);
	return ret;
}

/* Says once why it is missing. */
static void miss(struct registration *registration, const struct dart_error *error)
{
	const char *name = json_string_value(json_object_get(registration->request, "request"));

	/*
	 * The sentence of the last failure stays, so that the next one is told only if it differs.
	 */
	if (registration->code == EINPROGRESS) {
		if (!*registration->missing)
			registration__set_missing(registration, error->text);
		return;
	}
	if (strcmp(registration->missing, error->text)) {
		if (registration->place)
			log__warning("%s: not registered: %s", registration->place, error->text);
		else
			log__warning("cannot restore %s: %s",
				     registration->name ?:
					     name	?:
							  "something",
				     error->text);
	}
	registration__set_missing(registration, error->text);
}

/* Carries out the request; afterwards the registration is there or missing. */
static void registrations__carry_out(struct registrations *registrations,
				     struct registration *registration)
{
	struct dart_error error;

	registration->code = -try(registrations, registration, &error);
	if (registration->code)
		miss(registration, &error);
	else
		registration__set_missing(registration, NULL);
	coverage_watch__recount(registrations->coverage);
}

/* Ends the object of the registration, which is freed. */
static void registrations__end(struct registrations *registrations,
			       struct registration *registration)
{
	struct request request = {
		.members = registration__to_end(registration),
		.fd = -1,
	};
	const char *keeps;
	int ret;

	ret = replay(registrations, &request, &keeps);
	if (ret && !(ret == -ENOENT && registration->missing))
		log__error("cannot end %s: %s", registration->name, request.error.text);
	json_decref(request.members);
	json_decref(request.result);
	registrations__drop(registrations, registration);
}

/* ---- the configuration */

/* Moves the registrations of the configuration to @wanted, in its order. */
static void registrations__compare(struct registrations *registrations,
				   const struct dart_configuration *configuration,
				   struct registration_list *wanted)
{
	const struct dart_configuration_item *item;
	struct registration *registration;
	size_t i;

	for (i = 0; i < configuration->item_count; i++) {
		item = &configuration->items[i];
		TAILQ_FOREACH(registration, &registrations->list, link)
			if (registration__equals(registration, item->request, item->path))
				break;
		if (registration) {
			TAILQ_REMOVE(&registrations->list, registration, link);
			registration->origin = REGISTRATION_BY_CONFIGURATION;
		} else {
			registration = registration__new(item->request, item->path, 0,
							 REGISTRATION_BY_CONFIGURATION);
		}
		if (!registration) {
			log__error("out of memory: the configuration is incomplete");
			return;
		}
		registration->is_wanted = true;
		registration__set_place(registration, item->file, item->line);
		TAILQ_INSERT_TAIL(wanted, registration, link);
	}
}

static void registrations__end_unwanted(struct registrations *registrations)
{
	struct registration *registration, *next;

	for (registration = TAILQ_FIRST(&registrations->list); registration; registration = next) {
		next = TAILQ_NEXT(registration, link);
		if (registration->is_wanted ||
		    registration->origin != REGISTRATION_BY_CONFIGURATION)
			continue;
		/* A missing store, table, journal, ledger or sketch may still have memory. */
		if (registration->name)
			registrations__end(registrations, registration);
		else
			registrations__drop(registrations, registration);
		/* The end of a store may have ended the next registration. */
		next = TAILQ_FIRST(&registrations->list);
	}
}

/* The registrations could not be published, so none of these entries is there. */
static void registrations__failed(struct registrations *registrations,
				  int code, const struct dart_error *error)
{
	struct registration *registration;

	log__error("cannot publish what was registered: %s", error->text);
	TAILQ_FOREACH(registration, &registrations->list, link)
		if (registration->name && !strncmp(registration->name, "entry ", 6) &&
		    !inventory__find(&registrations->registry->inventory, registration->name + 6)) {
			registration->code = code;
			registration__set_missing(registration, error->text);
		}
}

#define UNDER_WAY_US (20 * UINT64_C(1000))
#define RETRY_MIN_US (1 * UINT64_C(1000000))
#define RETRY_MAX_US (60 * UINT64_C(1000000))

static bool is_one_of(const struct registration *registration, const char *const *requests)
{
	const char *request = json_string_value(json_object_get(registration->request, "request"));

	for (; request && *requests; requests++)
		if (!strcmp(request, *requests))
			return true;
	return false;
}

/* Does it need the RDMA device?  Existing memory outlasts that. */
static bool needs_device(const struct registration *registration)
{
	static const char *const requests[] = { "store-create",	  "table-create",
						"journal-create", "ledger-create",
						"sketch-create",  "reporter-add",
						"requester-add",  "appender-add",
						"adder-add",	  "sketcher-add",
						NULL };

	return is_one_of(registration, requests);
}

/* Can the object appear later without an event that reports it? */
static bool may_appear(const struct registrations *registrations,
		       const struct registration *registration)
{
	/* A feature that the kernel lacks does not appear later. */
	static const char *const probes[] = { "probe-load", NULL };

	return registration->missing && !is_one_of(registration, probes) &&
	       !(registrations->lacks_device && needs_device(registration));
}

/* Is work under way for a registration? */
static bool registrations__is_under_way(const struct registrations *registrations)
{
	const struct registration *registration;

	TAILQ_FOREACH(registration, &registrations->list, link)
		if (registration->missing && registration->code == EINPROGRESS)
			return true;
	return false;
}

static void registrations__schedule(struct registrations *registrations)
{
	const struct registration *registration;

	if (registrations__is_under_way(registrations)) {
		loop_timer__start(registrations->retry, UNDER_WAY_US);
		return;
	}
	TAILQ_FOREACH(registration, &registrations->list, link)
		if (may_appear(registrations, registration))
			break;
	if (registration)
		loop_timer__start(registrations->retry, registrations->retry_us);
	else
		sd_event_source_set_enabled(registrations->retry, SD_EVENT_OFF);
}

void registrations__retry_soon(struct registrations *registrations)
{
	registrations->retry_us = RETRY_MIN_US;
	registrations__schedule(registrations);
}

static void registrations__begin(struct registrations *registrations)
{
	registrations->is_replaying = true;
	registry__begin(registrations->registry);
}

static void registrations__end_batch(struct registrations *registrations)
{
	struct dart_error error;
	int ret;

	ret = registry__end(registrations->registry, &error);
	if (ret)
		registrations__failed(registrations, -ret, &error);
	registrations->is_replaying = false;
	registrations__save_or_log(registrations);
	registrations__schedule(registrations);
}

int registrations__on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct registrations *registrations = userdata;
	const bool is_under_way = registrations__is_under_way(registrations);
	struct registration *registration;

	if (!is_under_way)
		registrations->retry_us *= 2;
	if (registrations->retry_us > RETRY_MAX_US)
		registrations->retry_us = RETRY_MAX_US;
	registrations__begin(registrations);
	TAILQ_FOREACH(registration, &registrations->list, link)
		if (may_appear(registrations, registration) &&
		    (!is_under_way || registration->code == EINPROGRESS))
			registrations__carry_out(registrations, registration);
	registrations__end_batch(registrations);
	return 0;
}

/* In a batch: carries out missing registrations, and ends the batch. */
static void registrations__publish(struct registrations *registrations)
{
	struct registration *registration;

	TAILQ_FOREACH(registration, &registrations->list, link) {
		if (registration->missing)
			registrations__carry_out(registrations, registration);
		registration->is_wanted = false;
	}
	registrations->retry_us = RETRY_MIN_US;
	registrations__end_batch(registrations);
}

void registrations__restore(struct registrations *registrations)
{
	registrations__begin(registrations);
	registrations__publish(registrations);
}

void registrations__configure(struct registrations *registrations,
			      const struct dart_configuration *configuration)
{
	struct registration_list wanted = TAILQ_HEAD_INITIALIZER(wanted);

	registrations__begin(registrations);
	registrations__compare(registrations, configuration, &wanted);
	TAILQ_CONCAT(&wanted, &registrations->list, link);
	TAILQ_CONCAT(&registrations->list, &wanted, link);
	registrations__end_unwanted(registrations);
	registrations__publish(registrations);
}

void registrations__lose_device(struct registrations *registrations)
{
	static const char *const peers[] = { "reporter-add", "requester-add", "appender-add",
					     "adder-add", NULL };
	struct registration *registration;

	registrations->lacks_device = true;
	TAILQ_FOREACH(registration, &registrations->list, link)
		if (!registration->missing && is_one_of(registration, peers))
			registration__set_missing(registration, "the RDMA device is gone");
	registrations__schedule(registrations);
}

void registrations__regain_device(struct registrations *registrations)
{
	registrations->lacks_device = false;
	registrations__restore(registrations);
}
