// SPDX-License-Identifier: GPL-2.0-only
/* Messages in a file: see record.h. */
#include "record.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

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
		count = pread(fd, (char *)to + done, length - done,
			      offset + done);
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
		count = pwrite(fd, (const char *)from + done, length - done,
			       offset + done);
		if (count < 0 && errno == EINTR)
			count = 0;
		else if (count < 0)
			return -errno;
	}
	return 0;
}

/* 0; -EIO if no head begins there; or another -errno. */
static int read_head(int fd, uint64_t offset, struct record *record)
{
	int ret = read_all(fd, record, sizeof(*record), offset);

	if (ret)
		return ret;
	if (le32toh(record->magic) != RECORD_MAGIC ||
	    le64toh(record->head_sum) != head_sum(record) ||
	    le32toh(record->length) > MESSAGE_BYTES_MAX ||
	    !message_format__is_known(le32toh(record->format)))
		return -EIO;
	return 0;
}

int record__read(int fd, uint64_t offset, struct message **messagep)
{
	struct message *message;
	struct record record;
	int ret;

	ret = read_head(fd, offset, &record);
	if (ret)
		return ret;
	message = malloc(sizeof(*message) + le32toh(record.length));
	if (!message)
		return -ENOMEM;
	message->next = NULL;
	message->made_ns = 0;
	message->length = le32toh(record.length);
	message->samples = le32toh(record.samples);
	message->format = le32toh(record.format);
	ret = read_all(fd, message->body, message->length,
		       offset + sizeof(record));
	if (!ret && XXH3_64bits(message->body, message->length) !=
			    le64toh(record.body_sum))
		ret = -EIO;
	if (ret) {
		free(message);
		return ret;
	}
	*messagep = message;
	return 0;
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
		.format = htole32(message->format),
		.body_sum = htole64(XXH3_64bits(message->body,
						message->length)),
	};

	record.head_sum = htole64(head_sum(&record));
	return write_all(fd, &record, sizeof(record), offset) ?:
		       write_all(fd, message->body, message->length,
				 offset + sizeof(record));
}
