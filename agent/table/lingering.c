// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the entries that linger no longer: see lingering.h. */
#include <errno.h>
#include <stddef.h>

#include <libdart/clock.h>

#include "agent/base/lease.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "lingering.h"

/* Entries that are due within this time leave in one change of the table. */
#define SLACK_US 500000
/* Slices that end within this time are copied in one change of the table. */
#define GATHERING_US 100000

int lingering__open(struct lingering *lingering, sd_event *loop, const struct audience *audience,
		    struct table_counts *counts, sd_event_time_handler_t on_due,
		    sd_event_time_handler_t on_gathering, void *owner)
{
	int ret;

	*lingering = (struct lingering){
		.names = ENTRY_INDEX_OF_NAMES,
		.audience = audience,
		.counts = counts,
	};
	TAILQ_INIT(&lingering->entries);
	ret = loop_timer__add(loop, &lingering->timer, CLOCK_BOOTTIME, on_due, owner);
	if (ret < 0)
		return ret;
	return loop_timer__add(loop, &lingering->gathering, CLOCK_BOOTTIME, on_gathering, owner);
}

void lingering__close(struct lingering *lingering)
{
	sd_event_source_disable_unref(lingering->timer);
	sd_event_source_disable_unref(lingering->gathering);
}

uint32_t lingering__duration_ms(const struct lingering *lingering)
{
	const uint32_t slowest_ms = audience__slowest_ms(lingering->audience);

	if (slowest_ms > LINGERING_MAX_MS / 2)
		return LINGERING_MAX_MS;
	return 2 * slowest_ms > LEASE_MS ? 2 * slowest_ms : LEASE_MS;
}

static uint64_t now_us(void)
{
	return dart_clock__ns(CLOCK_BOOTTIME) / 1000;
}

/*
 * The timer fires some time after the first entry is due, so that others are as well.  Entries that
 * end meanwhile do not defer it.
 */
static void lingering__set_timer(struct lingering *lingering)
{
	const struct entry *first = TAILQ_FIRST(&lingering->entries);

	if (!first) {
		sd_event_source_set_enabled(lingering->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(lingering->timer,
				 first->ended_us + lingering__duration_ms(lingering) * 1000ULL +
					 SLACK_US);
	sd_event_source_set_enabled(lingering->timer, SD_EVENT_ONESHOT);
}

/* One timer for all slices that end meanwhile. */
static void lingering__gather_later(const struct lingering *lingering)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(lingering->gathering, &enabled);
	if (enabled == SD_EVENT_OFF)
		loop_timer__start(lingering->gathering, GATHERING_US);
}

int lingering__add(struct lingering *lingering, struct entry *entry, uint64_t bytes)
{
	if (bytes > LINGERING_BYTES_MAX / LINGERING_USER_SHARE)
		return -EFBIG;
	if (entry_index__add(&lingering->names, &entry->name))
		return -ENOMEM;
	entry->ended_us = now_us();
	entry->lingering_bytes = bytes;
	TAILQ_INSERT_TAIL(&lingering->entries, entry, link);
	lingering->bytes += bytes;
	lingering->memory_regions += entry->memory_region_count;
	if (entry->quota_user)
		entry->quota_user->lingering++;
	count__add(&lingering->counts->lingering, 1);
	lingering__set_timer(lingering);
	if (entry->kind == DART_CONTROL_ENTRY_SLICE)
		lingering__gather_later(lingering);
	return 0;
}

int lingering__replace(struct lingering *lingering, struct entry *former, struct entry *entry,
		       uint64_t bytes)
{
	entry_index__remove(&lingering->names, &former->name);
	if (entry_index__add(&lingering->names, &entry->name)) {
		/* Removing has freed the memory that adding needs. */
		entry_index__add(&lingering->names, &former->name);
		return -ENOMEM;
	}
	entry->ended_us = former->ended_us;
	entry->lingering_bytes = bytes;
	TAILQ_INSERT_BEFORE(former, entry, link);
	TAILQ_REMOVE(&lingering->entries, former, link);
	lingering->bytes += bytes - former->lingering_bytes;
	lingering->memory_regions += entry->memory_region_count;
	lingering->memory_regions -= former->memory_region_count;
	return 0;
}

void lingering__remove(struct lingering *lingering, struct entry *entry)
{
	entry_index__remove(&lingering->names, &entry->name);
	TAILQ_REMOVE(&lingering->entries, entry, link);
	lingering->bytes -= entry->lingering_bytes;
	lingering->memory_regions -= entry->memory_region_count;
	if (entry->quota_user)
		entry->quota_user->lingering--;
	count__add(&lingering->counts->lingering, -1);
}

struct entry *lingering__find(const struct lingering *lingering, const char *name)
{
	const char *found = entry_index__find(&lingering->names, &name);

	return found ? (struct entry *)(found - offsetof(struct entry, name)) : NULL;
}

void lingering__cut_short(struct lingering *lingering, const char *why)
{
	count__add(&lingering->counts->cut_short, 1);
	log__peer_warning(
		"an entry that ended leaves the table early, perhaps before all controllers read its final values: %s",
		why);
}

static struct entry *lingering__first_of(const struct lingering *lingering,
					 const struct quota_user *user)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &lingering->entries, link)
		if (entry->quota_user == user)
			break;
	return entry;
}

struct entry *lingering__surplus(struct lingering *lingering, const struct quota_user *user,
				 uint32_t user_most)
{
	if (user && user->lingering > user_most / LINGERING_USER_SHARE) {
		lingering__cut_short(lingering, "a user has too many of them");
		return lingering__first_of(lingering, user);
	}
	if (lingering->counts->lingering > LINGERING_ENTRIES_MAX ||
	    lingering->bytes > LINGERING_BYTES_MAX ||
	    lingering->memory_regions > LINGERING_REGIONS_MAX) {
		lingering__cut_short(lingering, "there are too many, or they have too much memory");
		return TAILQ_FIRST(&lingering->entries);
	}
	return NULL;
}

struct entry *lingering__due(struct lingering *lingering)
{
	struct entry *first = TAILQ_FIRST(&lingering->entries);

	if (first && now_us() >= first->ended_us + lingering__duration_ms(lingering) * 1000ULL)
		return first;
	lingering__set_timer(lingering);
	return NULL;
}
