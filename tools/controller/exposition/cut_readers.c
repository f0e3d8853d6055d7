// SPDX-License-Identifier: GPL-2.0-only
/* Counts readers that were cut off, by address, and logs them once an hour. */
#include "cut_readers.h"

#include <stdio.h>
#include <string.h>

#include "tools/controller/base/hourly.h"
#include "tools/controller/http/http_server.h"

#define TEXT(number) #number
#define NUMBER_TEXT(number) TEXT(number)

static const char *const names[CUT_REASONS] = {
	[CUT_FOR_MEMORY] = "memory",
	[CUT_FOR_SILENCE] = "silence",
};

static const char *const sentences[CUT_REASONS] = {
	[CUT_FOR_MEMORY] = "it was the slowest when pages took all memory that they may",
	[CUT_FOR_SILENCE] = "it took nothing for " NUMBER_TEXT(HTTP_IDLE_SECONDS) " s",
};

void cut_readers__init(struct cut_readers *readers, struct output *log)
{
	*readers = (struct cut_readers){ .log = log };
	pthread_mutex_init(&readers->lock, NULL);
}

void cut_readers__clear(struct cut_readers *readers)
{
	pthread_mutex_destroy(&readers->lock);
}

const char *cut_reason__name(enum cut_reason reason)
{
	return names[reason];
}

/* The entry of @address, else a free or expired entry, else the entry of all further addresses. */
static struct cut_address *find(struct cut_readers *readers, const char *address, uint64_t now_ns)
{
	struct cut_address *found = NULL, *entry;
	size_t i;

	for (i = 0; i < CUT_ADDRESSES_MAX; i++) {
		entry = &readers->addresses[i];
		if (!strcmp(entry->text, address))
			return entry;
		if (!found && entry->until_ns <= now_ns)
			found = entry;
	}
	if (!found) {
		snprintf(readers->further.text, sizeof(readers->further.text), "further addresses");
		return &readers->further;
	}
	*found = (struct cut_address){};
	snprintf(found->text, sizeof(found->text), "%s", address);
	return found;
}

static void say(struct output *log, const struct cut_address *entry, enum cut_reason reason)
{
	if (entry->readers == 1)
		output__print(
			log,
			"dart-controller: a reader of a page of metrics at %s was cut off: %s (pages of one agent each, by /sd, are short)",
			entry->text, sentences[reason]);
	else
		output__print(
			log,
			"dart-controller: %llu readers of pages of metrics at %s were cut off within the last hours, the last one because %s (pages of one agent each, by /sd, are short)",
			(unsigned long long)entry->readers, entry->text, sentences[reason]);
}

void cut_readers__add(struct cut_readers *readers, const char *address, enum cut_reason reason,
		      uint64_t now_ns)
{
	struct cut_address *entry;

	if (!readers->log)
		return;
	pthread_mutex_lock(&readers->lock);
	entry = find(readers, *address ? address : "an unknown address", now_ns);
	entry->readers++;
	if (entry->until_ns <= now_ns) {
		say(readers->log, entry, reason);
		entry->readers = 0;
		entry->until_ns = now_ns + HOURLY_NS;
	}
	pthread_mutex_unlock(&readers->lock);
}
