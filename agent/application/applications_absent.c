// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets the kernel bring pages of processes back that the module finds absent: see applications.h.
 *
 * The module takes no page fault.  So the row of an instance is empty while a page of its values is
 * swapped out, and would stay empty if the program itself never uses the page: the workers of nginx
 * count, but its master has the instance.  An examination that attaches the process reads all
 * values as another process would, with page faults, in a thread that may sleep.
 */
#include <fcntl.h>

#include <libdart/clock.h>

#include "agent/base/loop_timer.h"
#include "applications.h"

/* After a fetch that has not filled the rows, the next one comes ever later. */
#define FETCH_FIRST_US UINT64_C(1000000)
#define FETCH_LAST_US (64 * UINT64_C(1000000))

/* ---- examinations */

static const struct dart_application_layout *choose(struct examination *examination)
{
	struct applications *applications = applications__of_examination(examination);
	const struct dart_application_layout *layout;
	struct dart_error ignored;

	return layouts__find(&applications->layouts, &examination->build_id, &layout, &ignored) ?
		       NULL :
		       layout;
}

static void finish(struct examination *examination)
{
	struct applications *applications = applications__of_examination(examination);
	struct instance *instance = examination->owner;

	if (instance)
		instance->absence.fetches++;
	if (examination->layout)
		layouts__put(&applications->layouts, examination->layout);
}

/* The process goes on as an instance, whose other entries may have values. */
static void hold(struct examination *examination)
{
	const struct instance *instance = examination->owner;
	struct dart_error why;

	examination__explain_hold(examination, &why);
	if (instance)
		application__refuse(application__of_group(instance->group), &why);
}

static const struct examination_handlers handlers = {
	.choose = choose,
	.finish = finish,
	.hold = hold,
};

/* ---- looks at rows */

static void fetch(struct applications *applications, struct instance *instance)
{
	const struct examination_wish wish = {
		.pid = instance->process.pid,
		.pidfd = fcntl(instance->pidfd, F_DUPFD_CLOEXEC, 0),
		.formats = 1u << APPLICATION_FORMAT_ANY,
		.handlers = &handlers,
		.owner = instance,
	};

	if (wish.pidfd >= 0)
		examinations__add(&applications->examinations, &wish);
}

/* Returns true if rows are empty; then *@is_new tells whether one had values at the last look. */
static bool note_empty_rows(const struct instance_rooms *rooms, struct instance *instance,
			    bool *is_new)
{
	struct absence *absence = &instance->absence;
	bool has_empty = false, is_empty;
	uint32_t i;

	*is_new = false;
	for (i = 0; i < instance->entry_count; i++) {
		is_empty = instance__lacks_values(rooms, instance, i);
		has_empty |= is_empty;
		*is_new |= is_empty && !absence->are_empty[i];
		absence->are_empty[i] = is_empty;
	}
	return has_empty;
}

static void look_at(struct applications *applications, struct instance *instance)
{
	struct absence *absence = &instance->absence;
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC) / 1000;
	bool is_new;

	if (!note_empty_rows(&applications->rooms, instance, &is_new))
		return;
	if (is_new)
		absence->due = absence->delay_us = 0;
	if (now < absence->due ||
	    examinations__find(&applications->examinations, instance->process.pid, instance))
		return;
	absence->delay_us = absence->delay_us ? 2 * absence->delay_us : FETCH_FIRST_US;
	if (absence->delay_us > FETCH_LAST_US)
		absence->delay_us = FETCH_LAST_US;
	absence->due = now + absence->delay_us;
	fetch(applications, instance);
}

int applications__on_rows(sd_event_source *source, uint64_t time, void *userdata)
{
	struct applications *applications = userdata;
	struct application *application;
	struct instance *instance;
	bool is_needed = false;

	TAILQ_FOREACH(application, &applications->list, link) {
		TAILQ_FOREACH(instance, &application->instances, link) {
			if (!instance__has_row_of_module(instance))
				continue;
			is_needed = true;
			look_at(applications, instance);
		}
	}
	if (is_needed)
		loop_timer__start(source, LOOK_AT_ROWS_US);
	return 0;
}
