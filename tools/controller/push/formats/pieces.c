// SPDX-License-Identifier: GPL-2.0-only
/* The series of messages: see pieces.h. */
#include "pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void *grow(void *list, size_t *room, size_t size)
{
	const size_t more = *room ? 2 * *room : 64;
	void *grown = reallocarray(list, more, size);

	if (grown)
		*room = more;
	return grown;
}

static uint64_t add_label(uint64_t hash, const void *name, size_t name_length, const void *value,
			  size_t value_length)
{
	hash = XXH3_64bits_withSeed(name, name_length, hash);
	return XXH3_64bits_withSeed(value, value_length, hash);
}

uint64_t pieces__hash(const struct merged_labels *labels)
{
	const struct metric_label *label;
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < labels->count; i++) {
		label = labels->labels + i;
		hash = add_label(hash, label->name, strlen(label->name), label->value,
				 strlen(label->value));
	}
	return hash;
}

void found_series__take_label(struct found_series *found, const void *name, size_t name_length,
			      const void *value, size_t value_length)
{
	found->hash = add_label(found->hash, name, name_length, value, value_length);
	if (name_length != strlen(PIECES_HOST_LABEL) ||
	    memcmp(name, PIECES_HOST_LABEL, name_length))
		return;
	found->host = value;
	found->host_length = value_length;
}

/* The index of the host, most likely that of the previous series; or -ENOMEM. */
static int find_host(struct pieces *pieces, const struct found_series *found, uint32_t *index)
{
	const size_t length = found->host_length;
	const uint64_t hash = XXH3_64bits(found->host, length);
	struct pieces_host *host;
	size_t i;

	for (i = pieces->host_count; i > 0; i--) {
		if (pieces->hosts[i - 1].hash == hash) {
			*index = i - 1;
			return 0;
		}
	}
	if (pieces->host_count == pieces->host_room) {
		host = grow(pieces->hosts, &pieces->host_room, sizeof(*host));
		if (!host)
			return -ENOMEM;
		pieces->hosts = host;
	}
	host = pieces->hosts + pieces->host_count;
	*host = (struct pieces_host){ .hash = hash };
	if (length)
		memcpy(host->name, found->host,
		       length < sizeof(host->name) ? length : sizeof(host->name) - 1);
	*index = pieces->host_count++;
	return 0;
}

int pieces__add(struct pieces *pieces, const struct found_series *found, const uint8_t *begin,
		const uint8_t *end)
{
	struct pieces_series *series;
	uint32_t host;
	int ret = find_host(pieces, found, &host);

	if (ret)
		return ret;
	if (pieces->count == pieces->room) {
		series = grow(pieces->series, &pieces->room, sizeof(*series));
		if (!series)
			return -ENOMEM;
		pieces->series = series;
	}
	pieces->series[pieces->count++] = (struct pieces_series){
		.begin = begin - pieces->bytes.data,
		.end = end - pieces->bytes.data,
		.samples = found->samples,
		.host = host,
		.hash = found->hash,
	};
	pieces->hosts[host].samples += found->samples;
	pieces->hosts[host].series++;
	return 0;
}

int pieces__open(const struct message *message, struct pieces *pieces)
{
	const struct format *format = message->format;

	*pieces = (struct pieces){ .format = format };
	return format->compression->unpack(message->body, message->length, &pieces->bytes) ?:
		       format->read(pieces);
}

void pieces__clear(struct pieces *pieces)
{
	bytes__free(&pieces->bytes);
	bytes__free(&pieces->common);
	free(pieces->series);
	free(pieces->hosts);
	*pieces = (struct pieces){};
}

/* The series of the first half, or of the second. */
static int make_half(const struct pieces *pieces, bool is_second, struct message **message)
{
	const struct pieces_series *series;
	struct bytes bytes = {};
	uint32_t samples = 0;
	bool is_of_second;
	size_t i;
	int ret = -ENOMEM;

	bytes__put(&bytes, pieces->common.data, pieces->common.length);
	for (i = 0; i < pieces->count; i++) {
		series = pieces->series + i;
		is_of_second = pieces->host_count > 1 ? series->host >= pieces->host_count / 2 :
							i % 2;
		if (is_of_second != is_second)
			continue;
		bytes__put(&bytes, pieces->bytes.data + series->begin, series->end - series->begin);
		samples += series->samples;
	}
	if (!bytes.has_failed)
		ret = message__pack(pieces->format, samples, bytes.data, bytes.length, message);
	bytes__free(&bytes);
	return ret;
}

int pieces__split(const struct pieces *pieces, struct message **first, struct message **second)
{
	int ret;

	if (!pieces__are_several(pieces))
		return -EINVAL;
	ret = make_half(pieces, false, first);
	if (ret)
		return ret;
	ret = make_half(pieces, true, second);
	if (ret)
		free(*first);
	return ret;
}
