// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of a spool.  The bits of the first byte tell the meaning of the others:
 *
 *   1  the file "position" comes first, 16 bytes without their checksum
 *   2  the segment is a list of heads, 7 bytes, and bodies, to which this harness adds magic
 *      number and checksums, which would otherwise stop the parser early; otherwise it is
 *      the segment's file
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <xxhash.h>

#include "fuzz.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/formats/pieces.h"
#include "tools/controller/push/queue/record.h"
#include "tools/controller/push/queue/spool.h"

#define BOUND (64ULL << 20)
#define POSITION_BYTES 16

struct short_head {
	uint8_t format;
	uint8_t length[2];
	uint8_t samples[4];
};

static char directory[] = "/dev/shm/fuzz-spool-XXXXXX";

static void path_of(const char *name, char path[64])
{
	snprintf(path, 64, "%s/%s", directory, name);
}

static void write_file(const char *name, const void *data, size_t size)
{
	char path[64];
	int fd;

	path_of(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void remove_files(void)
{
	static const char *const names[] = {
		"lock",
		"position",
		"0000000000000001.segment",
	};
	char path[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(names[i], path);
		unlink(path);
	}
	require(!rmdir(directory));
}

static void write_position(const uint8_t *data)
{
	uint64_t position[3];

	memcpy(position, data, POSITION_BYTES);
	position[2] = htole64(XXH3_64bits(position, POSITION_BYTES));
	write_file("position", position, sizeof(position));
}

/* Returns the length of the files made from @data. */
static size_t make_segment(const uint8_t *data, size_t size, uint8_t *to)
{
	uint8_t *const begin = to;
	struct short_head head;
	struct record record;
	size_t length;

	while (size > sizeof(head)) {
		memcpy(&head, data, sizeof(head));
		data += sizeof(head);
		size -= sizeof(head);
		length = head.length[0] | head.length[1] << 8;
		if (length > size)
			length = size;
		record = (struct record){
			.magic = htole32(RECORD_MAGIC),
			.length = htole32(length),
			.format = head.format,
			.body_sum = htole64(XXH3_64bits(data, length)),
		};
		memcpy(&record.samples, head.samples, sizeof(head.samples));
		record.head_sum = htole64(XXH3_64bits(&record, offsetof(struct record, head_sum)));
		memcpy(to, &record, sizeof(record));
		memcpy(to + sizeof(record), data, length);
		to += sizeof(record) + length;
		data += length;
		size -= length;
	}
	return to - begin;
}

static void write_segment(const uint8_t *data, size_t size, bool is_list)
{
	const size_t room = size * (1 + sizeof(struct record) / sizeof(struct short_head));
	uint8_t *segment;

	if (!is_list) {
		write_file("0000000000000001.segment", data, size);
		return;
	}
	segment = malloc(room + 1);
	require(segment);
	size = make_segment(data, size, segment);
	require(size <= room);
	write_file("0000000000000001.segment", segment, size);
	free(segment);
}

static void split(const struct message *message)
{
	struct message *first, *second;
	struct pieces pieces;

	if (!pieces__open(message, &pieces) && !pieces__split(&pieces, &first, &second)) {
		free(first);
		free(second);
	}
	pieces__clear(&pieces);
}

static void take(struct message *message)
{
	struct message *converted;

	require(message->length <= MESSAGE_BYTES_MAX);
	require(message->format && message->format == format__numbered(message->format->number));
	if (message->format->older && !message__convert(message, &converted)) {
		require(converted->samples == message->samples);
		free(converted);
	}
	split(message);
	free(message);
}

/* Reads the messages of the files first, then our own message; returns their number. */
static size_t read_all(bool adds)
{
	struct message *own = message__new(&format_influx, 7, "own", 3);
	struct message *message;
	struct dart_error error;
	struct spool *spool;
	size_t count = 0;
	bool is_own = false;
	int ret;

	require(own);
	if (spool__open(directory, BOUND, false, &spool, &error)) {
		require_sentence(&error);
		require(false);
	}
	if (adds) {
		/* No number follows the last one. */
		ret = spool__add(spool, own);
		require(!ret || ret == -EOVERFLOW);
		adds = !ret;
	}
	for (;;) {
		require(!spool__read(spool, &message));
		if (!message)
			break;
		count++;
		is_own = message->length == 3 && message->samples == 7 &&
			 !memcmp(message->body, "own", 3);
		spool__advance(spool, message);
		take(message);
	}
	require(is_own == adds);
	require(!spool__samples(spool));
	spool__close(spool);
	free(own);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bits;

	if (!size)
		return 0;
	bits = *data++;
	size--;
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	require(mkdtemp(directory));
	if (bits & 1 && size >= POSITION_BYTES) {
		write_position(data);
		data += POSITION_BYTES;
		size -= POSITION_BYTES;
	}
	write_segment(data, size, bits & 2);
	require(read_all(true) <= 1 + size);
	require(!read_all(false));
	remove_files();
	return 0;
}
