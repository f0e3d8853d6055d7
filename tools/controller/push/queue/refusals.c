// SPDX-License-Identifier: GPL-2.0-only
/* Counts refused samples, and sets series and hosts apart: see refusals.h. */
#include "refusals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Slots that a series may take. */
#define PLACES 8U

void refusals__open(struct refusals *refusals)
{
	pthread_mutex_init(&refusals->lock, NULL);
}

void refusals__close(struct refusals *refusals)
{
	size_t i;

	for (i = 0; i < refusals->count; i++)
		free(refusals->hosts[i].name);
	free(refusals->hosts);
	pthread_mutex_destroy(&refusals->lock);
}

void refusal_reason__name(enum refusal_reason reason, long status, char name[REFUSAL_NAME_MAX])
{
	static const char *const names[] = {
		[REFUSAL_OUT_OF_BOUNDS] = "out_of_bounds",
		[REFUSAL_TOO_OLD] = "too_old",
		[REFUSAL_OUT_OF_ORDER] = "out_of_order",
		[REFUSAL_DUPLICATE] = "duplicate",
		[REFUSAL_LIMIT] = "limit",
		[REFUSAL_CONFLICT] = "conflict",
		[REFUSAL_VERSION] = "not_taken_as_2_0",
		[REFUSAL_PARTLY] = "partial_success",
		[REFUSAL_DAMAGED] = "damaged",
	};

	if (reason == REFUSAL_STATUS)
		snprintf(name, REFUSAL_NAME_MAX, "status_%03ld", status % 1000);
	else
		snprintf(name, REFUSAL_NAME_MAX, "%s", names[reason]);
}

/* The words of Prometheus, Mimir, Thanos, VictoriaMetrics and InfluxDB. */
static enum refusal_reason reason_of_text(const char *text)
{
	static const struct {
		const char *words;
		enum refusal_reason reason;
	} known[] = {
		{ "out of bounds", REFUSAL_OUT_OF_BOUNDS },
		{ "too far in", REFUSAL_OUT_OF_BOUNDS },
		{ "too-far-in", REFUSAL_OUT_OF_BOUNDS },
		{ "too old", REFUSAL_TOO_OLD },
		{ "too-old", REFUSAL_TOO_OLD },
		{ "beyond retention", REFUSAL_TOO_OLD },
		{ "out of order", REFUSAL_OUT_OF_ORDER },
		{ "out-of-order", REFUSAL_OUT_OF_ORDER },
		{ "duplicate", REFUSAL_DUPLICATE },
		{ "conflict", REFUSAL_CONFLICT },
		{ "limit", REFUSAL_LIMIT },
		{ "exceed", REFUSAL_LIMIT },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcasestr(text, known[i].words))
			return known[i].reason;
	}
	return REFUSAL_STATUS;
}

enum refusal_reason refusal_reason__of(const struct answer *answer)
{
	enum refusal_reason reason;

	if (!answer->status)
		return REFUSAL_DAMAGED;
	if (answer->status / 100 == 2) {
		reason = answer->rejected ? reason_of_text(answer->text) : REFUSAL_VERSION;
		return reason == REFUSAL_STATUS ? REFUSAL_PARTLY : reason;
	}
	return answer->status == 400 || answer->status == 422 ? reason_of_text(answer->text) :
								REFUSAL_STATUS;
}

/* Reading is enough for the thread, which alone changes it. */
static struct refusal_host *find(const struct refusals *refusals, const char *name, long status)
{
	const uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), status);
	size_t i;

	for (i = 0; i < refusals->count; i++) {
		if (refusals->hosts[i].hash == hash)
			return refusals->hosts + i;
	}
	return NULL;
}

static struct refusal_host *add(struct refusals *refusals, const char *name, long status)
{
	const size_t room = refusals->room ? 2 * refusals->room : 16;
	struct refusal_host *hosts = refusals->hosts;
	char *copy = strdup(name);

	if (copy && refusals->count == refusals->room) {
		hosts = reallocarray(hosts, room, sizeof(*hosts));
		if (hosts) {
			refusals->hosts = hosts;
			refusals->room = room;
		}
	}
	if (!copy || !hosts) {
		free(copy);
		return NULL;
	}
	hosts += refusals->count++;
	*hosts = (struct refusal_host){
		.hash = XXH3_64bits_withSeed(name, strlen(name), status),
		.name = copy,
		.status = status,
	};
	return hosts;
}

/* The entry of the host, or else "" for others; NULL if out of memory.  With the lock. */
static struct refusal_host *find_or_add(struct refusals *refusals, const char *name, long status)
{
	struct refusal_host *host = find(refusals, name, status);

	if (!host && refusals->count < REFUSAL_HOSTS_MAX)
		host = add(refusals, name, status);
	if (!host)
		host = find(refusals, "", status) ?: add(refusals, "", status);
	return host;
}

static void count(struct refusals *refusals, const char *name, enum refusal_reason reason,
		  long status, uint64_t samples)
{
	struct refusal_host *host;

	refusals->samples[reason] += samples;
	pthread_mutex_lock(&refusals->lock);
	host = find_or_add(refusals, name, reason == REFUSAL_STATUS ? status : 0);
	if (host)
		host->samples[reason] += samples;
	pthread_mutex_unlock(&refusals->lock);
}

const char *refusals__count_message(struct refusals *refusals, const struct message *message,
				    const struct pieces *pieces, const struct answer *answer,
				    uint64_t taken)
{
	const enum refusal_reason reason = refusal_reason__of(answer);
	const struct pieces_host *host = NULL;
	uint64_t refused = message->samples - taken;
	size_t i;

	for (i = 0; pieces && !taken && i < pieces->host_count; i++) {
		host = pieces->hosts + i;
		count(refusals, host->name, reason, answer->status, host->samples);
		refused -= host->samples < refused ? host->samples : refused;
	}
	/* Receivers do not say which samples they took. */
	if (refused)
		count(refusals, "", reason, answer->status, refused);
	return host ? host->name : "";
}

bool refusals__is_to_say(struct refusals *refusals, enum refusal_reason reason, uint64_t now_ns)
{
	uint64_t *told_ns = refusals->told_ns + reason;

	if (*told_ns && now_ns < *told_ns + REFUSAL_TOLD_NS)
		return false;
	*told_ns = now_ns;
	return true;
}

static void set_host_apart(struct refusals *refusals, const char *name, uint64_t now_ns)
{
	struct refusal_host *host;

	pthread_mutex_lock(&refusals->lock);
	host = find_or_add(refusals, name, 0);
	pthread_mutex_unlock(&refusals->lock);
	/* The entry of hosts that are counted together does not stand for one host. */
	if (!host || strcmp(host->name, name))
		return;
	if (++host->in_row < REFUSAL_SERIES_IN_ROW || host->apart_ns)
		return;
	host->apart_ns = now_ns + REFUSAL_APART_NS;
	refusals->hosts_apart++;
}

void refusals__set_apart(struct refusals *refusals, const char *host, uint64_t series,
			 uint64_t now_ns)
{
	struct refusal_series *slot;
	unsigned int i;

	refusals->apart_until_ns = now_ns + REFUSAL_APART_NS;
	set_host_apart(refusals, host, now_ns);
	/* If all places are taken by others, it is searched for again. */
	for (i = 0; i < PLACES; i++) {
		slot = refusals->series + ((series + i) & (REFUSAL_SERIES_MAX - 1));
		if (slot->apart_ns > now_ns && slot->hash != series)
			continue;
		*slot = (struct refusal_series){
			.hash = series,
			.apart_ns = now_ns + REFUSAL_APART_NS,
		};
		return;
	}
}

static void end_apart(struct refusals *refusals, struct refusal_host *host)
{
	refusals->hosts_apart -= !!host->apart_ns;
	host->apart_ns = 0;
	host->in_row = 0;
}

/* Series of the host were taken. */
static void take_host(struct refusals *refusals, const char *name)
{
	struct refusal_host *host = refusals->count ? find(refusals, name, 0) : NULL;

	if (host)
		end_apart(refusals, host);
}

static void take_series(struct refusals *refusals, uint64_t hash)
{
	struct refusal_series *slot;
	unsigned int i;

	for (i = 0; i < PLACES; i++) {
		slot = refusals->series + ((hash + i) & (REFUSAL_SERIES_MAX - 1));
		if (slot->hash == hash)
			slot->apart_ns = 0;
	}
}

void refusals__take(struct refusals *refusals, const struct message *message)
{
	struct pieces pieces;
	size_t i;

	if (!message->is_apart && !message->is_piece)
		return;
	if (!pieces__open(message, &pieces)) {
		for (i = 0; i < pieces.host_count; i++)
			take_host(refusals, pieces.hosts[i].name);
		for (i = 0; i < pieces.count; i++)
			take_series(refusals, pieces.series[i].hash);
	}
	pieces__clear(&pieces);
}

bool refusals__is_host_apart(struct refusals *refusals, const char *name, uint64_t now_ns)
{
	struct refusal_host *host = refusals->hosts_apart ? find(refusals, name, 0) : NULL;

	if (!host || !host->apart_ns)
		return false;
	if (now_ns < host->apart_ns)
		return true;
	end_apart(refusals, host);
	return false;
}

bool refusals__is_to_split(struct refusals *refusals, const struct message *message,
			   const struct pieces *pieces, uint64_t now_ns)
{
	if (message->is_apart || !pieces__are_several(pieces))
		return false;
	return pieces->host_count > 1 ||
	       !refusals__is_host_apart(refusals, pieces->hosts->name, now_ns);
}

bool refusals__are_any_apart(const struct refusals *refusals, uint64_t now_ns)
{
	return now_ns < refusals->apart_until_ns;
}

bool refusals__is_series_apart(const struct refusals *refusals, uint64_t hash, uint64_t now_ns)
{
	const struct refusal_series *slot;
	unsigned int i;

	for (i = 0; i < PLACES; i++) {
		slot = refusals->series + ((hash + i) & (REFUSAL_SERIES_MAX - 1));
		if (slot->hash == hash && now_ns < slot->apart_ns)
			return true;
	}
	return false;
}

void refusals__each(struct refusals *refusals,
		    void (*call)(void *data, const char *host, const char *reason,
				 uint64_t samples),
		    void *data)
{
	const struct refusal_host *host;
	char name[REFUSAL_NAME_MAX];
	size_t i, reason;

	pthread_mutex_lock(&refusals->lock);
	for (i = 0; i < refusals->count; i++) {
		host = refusals->hosts + i;
		for (reason = 0; reason < REFUSAL_COUNT; reason++) {
			if (!host->samples[reason])
				continue;
			refusal_reason__name(reason, host->status, name);
			call(data, host->name, name, host->samples[reason]);
		}
	}
	pthread_mutex_unlock(&refusals->lock);
}
