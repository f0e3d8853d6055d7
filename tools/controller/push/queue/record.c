// SPDX-License-Identifier: GPL-2.0-only
/* Messages in a file: see record.h. */
#include "record.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "tools/controller/push/formats/formats.h"

static uint64_t head_sum(const struct record *record)
{
	return XXH3_64bits(record, offsetof(struct record, head_sum));
}

/* All @length bytes: 0; -EIO if there are fewer; or another -errno. */
static int read_all(int fd, void *to, size_t length, uint64_t offset)
{
	ssize_t count;
	size_t done;

	for (done = 0; done < length; done += count) {
		count = pread(fd, (char *)to + done, length - done, offset + done);
		if (count < 0 && errno == EINTR)
			count = 0;
		else if (count <= 0)
			return count ? -errno : -EIO;
	}
	return 0;
}

static int write_all(int fd, const void *from, size_t length, uint64_t offset)
{
	ssize_t count;
	size_t done;

	for (done = 0; done < length; done += count) {
		count = pwrite(fd, (const char *)from + done, length - done, offset + done);
		if (count < 0 && errno == EINTR)
			count = 0;
		else if (count < 0)
			return -errno;
	}
	return 0;
}

static bool is_head(const struct record *record)
{
	return le32toh(record->magic) == RECORD_MAGIC &&
	       le64toh(record->head_sum) == head_sum(record) &&
	       le32toh(record->length) <= MESSAGE_BYTES_MAX && format__numbered(record->format);
}

/*
 * A single wrong byte on a disk must not cost the whole message and the place of the next one.  The
 * sum tells which of the 8,192 possible changes mends the head.
 */
static bool mend(struct record *record)
{
	uint8_t *const bytes = (uint8_t *)record;
	unsigned int i, value;
	uint8_t before;

	for (i = 0; i < sizeof(*record); i++) {
		before = bytes[i];
		for (value = 0; value <= UINT8_MAX; value++) {
			bytes[i] = value;
			if (is_head(record))
				return true;
		}
		bytes[i] = before;
	}
	return false;
}

static int read_body(int fd, uint64_t offset, const struct record *record,
		     struct message **messagep)
{
	struct message *message = malloc(sizeof(*message) + le32toh(record->length));

	if (!message)
		return -ENOMEM;
	*message = (struct message){
		.length = le32toh(record->length),
		.samples = le32toh(record->samples),
		.format = format__numbered(record->format),
		.is_apart = record->is_apart,
		.shards = le16toh(record->shards) ?: MESSAGE_SHARDS_ALL,
	};
	if (read_all(fd, message->body, message->length, offset) ||
	    XXH3_64bits(message->body, message->length) != le64toh(record->body_sum)) {
		free(message);
		return -EBADMSG;
	}
	*messagep = message;
	return 0;
}

/* As record__look(), and sets @record. */
static int read_head(int fd, uint64_t offset, uint64_t end, struct record *record,
		     struct record_extent *extent)
{
	uint64_t length;

	if (end - offset < sizeof(*record) || read_all(fd, record, sizeof(*record), offset) ||
	    (!is_head(record) && !mend(record)))
		return -EIO;
	length = sizeof(*record) + le32toh(record->length);
	extent->samples = le32toh(record->samples);
	extent->length = length < end - offset ? length : end - offset;
	return extent->length < length ? -EBADMSG : 0;
}

int record__look(int fd, uint64_t offset, uint64_t end, struct record_extent *extent)
{
	struct record record;

	return read_head(fd, offset, end, &record, extent);
}

int record__read(int fd, uint64_t offset, uint64_t end, struct message **message,
		 struct record_extent *extent)
{
	struct record record;

	return read_head(fd, offset, end, &record, extent) ?:
		       read_body(fd, offset + sizeof(record), &record, message);
}

/* The offset of a head in @bytes; @length without a head. */
static size_t find_head(const uint8_t *bytes, size_t length)
{
	const uint32_t magic = htole32(RECORD_MAGIC);
	const uint8_t *at = bytes;
	struct record record;

	while ((at = memmem(at, bytes + length - at, &magic, sizeof(magic)))) {
		if ((size_t)(bytes + length - at) < sizeof(record))
			break;
		memcpy(&record, at, sizeof(record));
		if (is_head(&record))
			return at - bytes;
		at++;
	}
	return length;
}

uint64_t record__find(int fd, uint64_t offset, uint64_t end)
{
	uint8_t bytes[16384];
	size_t length, at;

	while (offset < end && end - offset >= sizeof(struct record)) {
		length = end - offset < sizeof(bytes) ? end - offset : sizeof(bytes);
		if (read_all(fd, bytes, length, offset))
			return end;
		at = find_head(bytes, length);
		if (at < length)
			return offset + at;
		/* A head may begin in the last bytes of the piece. */
		offset += length - (sizeof(struct record) - 1);
	}
	return end;
}

uint64_t record__length(const struct message *message)
{
	return sizeof(struct record) + message->length;
}

int record__write(int fd, uint64_t offset, const struct message *message)
{
	struct record record = {
		.magic = htole32(RECORD_MAGIC),
		.length = htole32(message->length),
		.samples = htole32(message->samples),
		.format = message->format->number,
		.is_apart = message->is_apart,
		.shards = htole16(message->shards),
		.body_sum = htole64(XXH3_64bits(message->body, message->length)),
	};

	record.head_sum = htole64(head_sum(&record));
	return write_all(fd, &record, sizeof(record), offset) ?:
		       write_all(fd, message->body, message->length, offset + sizeof(record));
}
