// SPDX-License-Identifier: GPL-2.0-only
/* Counts objects by reason, in constant time for each change. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "coverage.h"

/* States of a place; MISSING + reason is the last of them. */
enum {
	NOT_COUNTED,
	LACKING,
	STAGED,
	SERVED,
	MISSING,
};

static const char *const kind_names[COVERAGE_KINDS] = {
	[COVERAGE_FILESYSTEMS] = "filesystems",
	[COVERAGE_NETDEVS] = "netdevs",
	[COVERAGE_DISKS] = "disks",
	[COVERAGE_CGROUPS] = "cgroups",
	[COVERAGE_NAMESPACES] = "namespaces",
	[COVERAGE_SOURCES] = "sources",
	[COVERAGE_PROBES] = "probes",
	[COVERAGE_MAPS] = "maps",
};

static const char *const reason_names[COVERAGE_REASONS] = {
	[COVERAGE_UNREGISTERED] = "unregistered",
	[COVERAGE_WATCHES] = "watches",
	[COVERAGE_MEMORY] = "memory",
	[COVERAGE_TABLE] = "table",
	[COVERAGE_NAME] = "name",
	[COVERAGE_QUOTA] = "quota",
	[COVERAGE_PERMISSION] = "permission",
	[COVERAGE_INVISIBLE] = "invisible",
	[COVERAGE_UNSUPPORTED] = "unsupported",
	[COVERAGE_OTHER] = "other",
};

void coverage_tally__open(struct coverage_tally *tally)
{
	int reason;

	*tally = (struct coverage_tally){};
	TAILQ_INIT(&tally->staged);
	for (reason = 0; reason < COVERAGE_REASONS; reason++)
		TAILQ_INIT(&tally->missing[reason].places);
}

static uint64_t objects_of(const struct coverage_place *place)
{
	return 1 + place->more;
}

void coverage_tally__forget(struct coverage_tally *tally, struct coverage_place *place)
{
	struct coverage_missing *missing;

	switch (place->state) {
	case NOT_COUNTED:
		return;
	case LACKING:
		tally->lacking -= objects_of(place);
		place->state = NOT_COUNTED;
		return;
	case STAGED:
		TAILQ_REMOVE(&tally->staged, place, link);
		break;
	case SERVED:
		tally->served -= objects_of(place);
		break;
	default:
		missing = &tally->missing[place->state - MISSING];
		TAILQ_REMOVE(&missing->places, place, link);
		missing->count -= objects_of(place);
	}
	tally->present -= objects_of(place);
	place->state = NOT_COUNTED;
}

void coverage_tally__lack(struct coverage_tally *tally, struct coverage_place *place)
{
	coverage_tally__forget(tally, place);
	place->state = LACKING;
	tally->lacking += objects_of(place);
}

void coverage_tally__stage(struct coverage_tally *tally,
			   struct coverage_place *place, const char *name)
{
	coverage_tally__forget(tally, place);
	place->name = name;
	place->state = STAGED;
	tally->present += objects_of(place);
	TAILQ_INSERT_TAIL(&tally->staged, place, link);
}

void coverage_tally__publish(struct coverage_tally *tally)
{
	struct coverage_place *place;

	while ((place = TAILQ_FIRST(&tally->staged))) {
		TAILQ_REMOVE(&tally->staged, place, link);
		place->state = SERVED;
		tally->served += objects_of(place);
	}
}

void coverage_tally__withdraw(struct coverage_tally *tally, enum coverage_reason reason,
			      const struct dart_error *why)
{
	struct coverage_place *place;

	while ((place = TAILQ_FIRST(&tally->staged)))
		coverage_tally__miss(tally, place, reason, place->name, why);
}

void coverage_tally__miss(struct coverage_tally *tally, struct coverage_place *place,
			  enum coverage_reason reason, const char *name,
			  const struct dart_error *why)
{
	struct coverage_missing *missing = &tally->missing[reason];
	uint64_t objects = place ? objects_of(place) : 1;

	if (place) {
		coverage_tally__forget(tally, place);
		place->name = name;
		place->state = MISSING + reason;
		TAILQ_INSERT_TAIL(&missing->places, place, link);
	} else {
		if (!missing->unplaced++)
			snprintf(missing->example, sizeof(missing->example), "%s", name);
	}
	missing->why = *why;
	missing->count += objects;
	tally->present += objects;
}

void coverage_tally__forget_unplaced(struct coverage_tally *tally)
{
	struct coverage_missing *missing;
	int reason;

	for (reason = 0; reason < COVERAGE_REASONS; reason++) {
		missing = &tally->missing[reason];
		tally->present -= missing->unplaced;
		missing->count -= missing->unplaced;
		missing->unplaced = 0;
	}
}

bool coverage_place__is_missing(const struct coverage_place *place)
{
	return place->state >= MISSING;
}

enum coverage_reason coverage_place__reason(const struct coverage_place *place)
{
	return place->state - MISSING;
}

uint64_t coverage_tally__missing(const struct coverage_tally *tally)
{
	uint64_t count = 0;
	int reason;

	for (reason = 0; reason < COVERAGE_REASONS; reason++)
		count += tally->missing[reason].count;
	return count;
}

uint64_t coverage_tally__passing(const struct coverage_tally *tally)
{
	uint64_t count = 0;
	int reason;

	for (reason = 0; reason < COVERAGE_REASONS; reason++)
		if (coverage__can_pass(reason))
			count += tally->missing[reason].count;
	return count;
}

const char *coverage_tally__example(const struct coverage_tally *tally, enum coverage_reason reason)
{
	const struct coverage_missing *missing = &tally->missing[reason];
	const struct coverage_place *first = TAILQ_FIRST(&missing->places);

	if (first)
		return first->name;
	return missing->unplaced ? missing->example : NULL;
}

enum coverage_reason coverage__reason_of(int code)
{
	switch (code) {
	case ENOMEM:
	case ENOBUFS:
		return COVERAGE_MEMORY;
	case ENOSPC:
		return COVERAGE_TABLE;
	case ENAMETOOLONG:
	case EEXIST:
		return COVERAGE_NAME;
	case EDQUOT:
		return COVERAGE_QUOTA;
	case EPERM:
	case EACCES:
		return COVERAGE_PERMISSION;
	case ENXIO:
		return COVERAGE_INVISIBLE;
	case EOPNOTSUPP:
	case ENODATA: /* this object lacks the values */
	case E2BIG: /* more CPUs than the answer of an eBPF program holds */
		return COVERAGE_UNSUPPORTED;
	default:
		return COVERAGE_OTHER;
	}
}

bool coverage__can_pass(enum coverage_reason reason)
{
	switch (reason) {
	case COVERAGE_UNREGISTERED:
	case COVERAGE_INVISIBLE:
	case COVERAGE_UNSUPPORTED:
		return false;
	default:
		return true;
	}
}

const char *coverage__kind_name(enum coverage_kind kind)
{
	return kind_names[kind];
}

const char *coverage__reason_name(enum coverage_reason reason)
{
	return reason_names[reason];
}

void coverage_watch__touch(struct coverage_watch *watch)
{
	if (watch)
		sd_event_source_set_enabled(watch->later, SD_EVENT_ONESHOT);
}

void coverage_watch__recount(struct coverage_watch *watch)
{
	if (watch)
		watch->is_outdated = true;
	coverage_watch__touch(watch);
}

/* Twice as much as now, or @least. */
static unsigned long long raised(const char *limit, unsigned long long least)
{
	unsigned long long now = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/sys/fs/inotify/%s", limit);
	file = fopen(path, "re");
	if (file && fscanf(file, "%llu", &now) != 1)
		now = 0;
	if (file)
		fclose(file);
	return now * 2 > least ? now * 2 : least;
}

static void raise_watches(char remedy[static DART_ERROR_MAX])
{
	snprintf(remedy, DART_ERROR_MAX,
		 "sysctl fs.inotify.max_user_watches=%llu fs.inotify.max_user_instances=%llu",
		 raised("max_user_watches", 1048576), raised("max_user_instances", 1024));
}

static const char *remedy_of(enum coverage_reason reason)
{
	switch (reason) {
	case COVERAGE_UNREGISTERED:
		return "dartctl register host";
	case COVERAGE_MEMORY:
		return "free memory of the host, and look at MemoryMax= of dartd.service";
	case COVERAGE_TABLE:
		return "dartctl unregister what is not needed, or load dart_zero with a larger capacity=";
	case COVERAGE_NAME:
		return "dartctl unregister the entry that has the name, or rename the object";
	case COVERAGE_QUOTA:
		return "raise limits: in /etc/dart/dartd.yaml, and systemctl reload dartd";
	case COVERAGE_PERMISSION:
		return "start dartd with the capabilities of dartd.service; if the kernel is locked down, see kernel_lockdown(7)";
	case COVERAGE_INVISIBLE:
		return "start dartd in the namespaces of the host, see Coverage in dartd(8)";
	case COVERAGE_UNSUPPORTED:
		return "none on this kernel, see Coverage in dartd(8)";
	default:
		return "journalctl -u dartd";
	}
}

size_t coverage__remedy(char remedy[static DART_ERROR_MAX], enum coverage_kind kind,
			enum coverage_reason reason, const char *example, const char *why)
{
	size_t length = strlen(why);
	const char *begin = length && why[length - 1] == ')' ? strrchr(why, '(') : NULL;

	/* Limits of inotify are raised together: one alone may not help. */
	if (reason == COVERAGE_WATCHES) {
		raise_watches(remedy);
		return begin && begin > why ? (size_t)(begin - 1 - why) : length;
	}
	/*
	 * "see kernel_lockdown(7)" ends with a parenthesis that is not a remedy.  A
	 * sentence that is cut off may end in a name that a user has chosen.
	 */
	if (begin && begin > why && begin[-1] == ' ' && length + 1 < DART_ERROR_MAX) {
		snprintf(remedy, DART_ERROR_MAX, "%.*s", (int)(why + length - 1 - (begin + 1)),
			 begin + 1);
		return begin - 1 - why;
	}
	if (reason == COVERAGE_UNREGISTERED && kind == COVERAGE_PROBES)
		snprintf(remedy, DART_ERROR_MAX, "dartctl probe load %s", example);
	/* "7 (counts)" */
	else if (reason == COVERAGE_UNREGISTERED && kind == COVERAGE_MAPS)
		snprintf(remedy, DART_ERROR_MAX, "dartctl register map id %.*s",
			 (int)strcspn(example, " "), example);
	else
		snprintf(remedy, DART_ERROR_MAX, "%s", remedy_of(reason));
	return length;
}
