// SPDX-License-Identifier: GPL-2.0-only
/* Finds, counts and drops registrations, and saves their list. */
#include <string.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "registrations.h"

/* Until the next attempt to write the file: a full disk may have room by then. */
#define AGAIN_US (60 * UINT64_C(1000000))

struct registration *
registrations__find(const struct registrations *registrations, const char *name)
{
	struct registration *registration;

	TAILQ_FOREACH(registration, &registrations->list, link)
		if (registration->name && !strcmp(registration->name, name))
			return registration;
	return NULL;
}

void registrations__drop(struct registrations *registrations, struct registration *registration)
{
	TAILQ_REMOVE(&registrations->list, registration, link);
	if (registration->missing)
		coverage_watch__recount(registrations->coverage);
	registration__free(registration);
	registrations->is_dirty = true;
}

size_t registrations__count(const struct registrations *registrations, size_t *missing)
{
	const struct registration *registration;
	size_t count = 0;

	*missing = 0;
	TAILQ_FOREACH(registration, &registrations->list, link) {
		count++;
		*missing += !!registration->missing;
	}
	return count;
}

void registrations__each_missing(const struct registrations *registrations,
				 void (*take)(void *userdata,
					      const struct registration *registration),
				 void *userdata)
{
	const struct registration *registration;

	TAILQ_FOREACH(registration, &registrations->list, link)
		if (registration->missing)
			take(userdata, registration);
}

int registrations__save(struct registrations *registrations, struct dart_error *error)
{
	const struct registration *registration;
	json_t *list = json_array();
	int ret;

	sd_event_source_set_enabled(registrations->saving, SD_EVENT_OFF);
	TAILQ_FOREACH(registration, &registrations->list, link)
		reply__append(&list, registration__to_json(registration, true));
	ret = state_file__save(&registrations->file, list, error);
	if (ret && registrations->file.directory >= 0)
		loop_timer__start(registrations->saving, AGAIN_US);
	if (!ret)
		registrations->is_dirty = false;
	registrations->has_failed = ret;
	return ret;
}

void registrations__save_or_log(struct registrations *registrations)
{
	const bool had_failed = registrations->has_failed;
	struct dart_error error;

	if (!registrations->is_dirty || registrations->file.directory < 0)
		return;
	if (registrations__save(registrations, &error) && !had_failed)
		log__error("a restart would not restore the last changes: %s", error.text);
	else if (!registrations->has_failed && had_failed)
		log__info("a restart would restore the last changes again");
}

void registrations__save_within(struct registrations *registrations, uint64_t us)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(registrations->saving, &enabled);
	if (us && enabled != SD_EVENT_OFF && !registrations->has_failed)
		return;
	loop_timer__start(registrations->saving, us);
}
