// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes and reads files of epochs, see <dart/epoch.h>. */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "epoch_file.h"

/* Higher levels take more time of the collector's CPU for slots, which are mostly random bytes. */
#define LEVEL 1

static const uint32_t polynomials[DART_EPOCH_POLYNOMIALS] = {
	DART_STORE_SLOT_0,     DART_STORE_SLOT_1,     DART_STORE_SLOT_2, DART_STORE_SLOT_3,
	DART_STORE_SLOT_4,     DART_STORE_SLOT_5,     DART_STORE_SLOT_6, DART_STORE_SLOT_7,
	DART_STORE_CHECKSUM_0, DART_STORE_CHECKSUM_1, DART_STORE_SHARE,
};

_Static_assert(sizeof(struct dart_epoch_header) == 224, "no padding");
_Static_assert(sizeof(struct dart_epoch_frame) == 24, "no padding");

/* ---- names */

void dart_epoch_file__print_name(uint64_t since_ns, uint64_t until_ns,
				 char name[DART_EPOCH_FILE_NAME_MAX])
{
	snprintf(name, DART_EPOCH_FILE_NAME_MAX, "%" PRIu64 "-%" PRIu64 DART_EPOCH_SUFFIX, since_ns,
		 until_ns);
}

int dart_epoch_file__parse_name(const char *name, uint64_t *since_ns, uint64_t *until_ns)
{
	char printed[DART_EPOCH_FILE_NAME_MAX];
	uint64_t since, until;

	if (sscanf(name, "%20" SCNu64 "-%20" SCNu64, &since, &until) != 2 || !since ||
	    until <= since)
		return -EINVAL;
	/* Each epoch has one name. */
	dart_epoch_file__print_name(since, until, printed);
	if (strcmp(name, printed))
		return -EINVAL;
	*since_ns = since;
	*until_ns = until;
	return 0;
}

/* ---- geometry */

/* The header, the addresses and the table of frames, as they lie in a file. */
struct front {
	size_t length; /* bytes */
	struct dart_epoch_header *header;
	__be32 *reporters;
	uint8_t *frames; /* struct dart_epoch_frame, at any alignment */
};

static uint32_t log2_of(uint64_t number)
{
	return __builtin_ctzll(number);
}

/* As many slots as DART_EPOCH_FRAME_MAX bytes hold. */
static uint32_t frame_slots_log2(const struct dart_store_geometry *geometry)
{
	const size_t length = dart_store_geometry__slot_length(geometry);
	uint32_t log2 = 0;

	while (log2 < log2_of(geometry->slots) && (length << (log2 + 1)) <= DART_EPOCH_FRAME_MAX)
		log2++;
	return log2;
}

static uint64_t front_length(uint64_t reporters, uint64_t frames)
{
	return sizeof(struct dart_epoch_header) + reporters * sizeof(__be32) +
	       frames * sizeof(struct dart_epoch_frame);
}

static int front__allocate(struct front *front, uint64_t reporters, uint64_t frames)
{
	front->length = front_length(reporters, frames);
	front->header = calloc(1, front->length);
	if (!front->header)
		return -ENOMEM;
	front->reporters = (__be32 *)(front->header + 1);
	front->frames = (uint8_t *)(front->reporters + reporters);
	return 0;
}

/* Of all bytes of the front, with a checksum of 0; it cannot fail. */
static uint64_t front__checksum(const struct front *front)
{
	const __le64 kept = front->header->checksum;
	uint64_t checksum;

	front->header->checksum = 0;
	checksum = XXH3_64bits(front->header, front->length);
	front->header->checksum = kept;
	return checksum;
}

/* ---- writing */

struct writing {
	int fd;
	uint64_t offset;
	ZSTD_CCtx *compressor;
	void *buffer;
	size_t room; /* bytes of the buffer */
	dart_epoch_pace *pace;
	void *argument;
	struct dart_error *error;
};

static int write_all(const struct writing *writing, const void *bytes, size_t length,
		     uint64_t offset)
{
	const uint8_t *at = bytes;
	ssize_t written;

	while (length) {
		written = pwrite(writing->fd, at, length, offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return dart_error__system(writing->error, written ? errno : ENOSPC,
						  "cannot write the file");
		at += written;
		offset += written;
		length -= written;
	}
	return 0;
}

static int write_frame(struct writing *writing, const void *slots, size_t length, uint8_t *entry)
{
	struct dart_epoch_frame frame = {
		.offset = htole64(writing->offset),
		.checksum = htole64(XXH3_64bits(slots, length)),
	};
	size_t stored;
	int ret;

	stored = ZSTD_compressCCtx(writing->compressor, writing->buffer, writing->room, slots,
				   length, LEVEL);
	if (ZSTD_isError(stored))
		return dart_error__set(writing->error, ENOMEM, "cannot compress slots: %s",
				       ZSTD_getErrorName(stored));
	frame.length = htole32(stored);
	memcpy(entry, &frame, sizeof(frame));
	ret = write_all(writing, writing->buffer, stored, writing->offset);
	if (ret)
		return ret;
	writing->offset += stored;
	ret = writing->pace ? writing->pace(writing->argument, stored) : 0;
	return ret ? dart_error__system(writing->error, -ret, "gave up") : 0;
}

static int write_frames(struct writing *writing, const struct dart_store_geometry *geometry,
			const uint8_t *slots, struct front *front)
{
	const size_t length = dart_store_geometry__slot_length(geometry)
			      << frame_slots_log2(geometry);
	const uint64_t count = geometry->slots >> frame_slots_log2(geometry);
	uint64_t i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = write_frame(writing, slots + i * length, length,
				  front->frames + i * sizeof(struct dart_epoch_frame));
	return ret;
}

static void fill_header(struct front *front, const struct dart_epoch *epoch)
{
	const struct dart_store_geometry *geometry = &epoch->geometry;
	struct dart_epoch_header *header = front->header;
	size_t i;

	*header = (struct dart_epoch_header){
		.skippable = htole32(DART_EPOCH_SKIPPABLE),
		.skipped = htole32(front->length - offsetof(struct dart_epoch_header, magic)),
		.magic = htole64(DART_EPOCH_FILE_MAGIC),
		.version = htole32(DART_EPOCH_FILE_VERSION),
		.slots_log2 = htole32(log2_of(geometry->slots)),
		.value_length = htole32(geometry->value_length),
		.checksum_bits = htole32(geometry->checksum_bits),
		.redundancy = htole32(geometry->redundancy),
		.reporters = htole32(epoch->reporter_count),
		.frame_slots_log2 = htole32(frame_slots_log2(geometry)),
		.frames = htole32(geometry->slots >> frame_slots_log2(geometry)),
		.since_ns = htole64(epoch->since_ns),
		.until_ns = htole64(epoch->until_ns),
	};
	for (i = 0; i < DART_EPOCH_POLYNOMIALS; i++)
		header->polynomials[i] = htole32(polynomials[i]);
	snprintf(header->store, sizeof(header->store), "%s", epoch->store);
	snprintf(header->schema, sizeof(header->schema), "%s", epoch->schema);
	header->checksum = htole64(front__checksum(front));
}

/* Can a header describe the epoch?  A frame holds at least one slot. */
static bool is_possible(const struct dart_epoch *epoch)
{
	return !dart_store_geometry__check(&epoch->geometry) &&
	       !(epoch->geometry.slots & (epoch->geometry.slots - 1)) && epoch->since_ns &&
	       epoch->until_ns > epoch->since_ns &&
	       epoch->reporter_count <= DART_EPOCH_REPORTERS_MAX;
}

int dart_epoch_file__write(int fd, const struct dart_epoch *epoch, const void *slots,
			   dart_epoch_pace *pace, void *argument, struct dart_error *error)
{
	struct writing writing = {
		.fd = fd,
		.pace = pace,
		.argument = argument,
		.room = ZSTD_compressBound(DART_EPOCH_FRAME_MAX),
		.error = error,
	};
	const struct dart_store_geometry *geometry = &epoch->geometry;
	struct front front = { .length = 0 };
	int ret;

	if (!is_possible(epoch))
		return dart_error__set(error, EINVAL, "there can be no such epoch");
	ret = front__allocate(&front, epoch->reporter_count,
			      geometry->slots >> frame_slots_log2(geometry));
	writing.compressor = ZSTD_createCCtx();
	writing.buffer = malloc(writing.room);
	if (ret || !writing.compressor || !writing.buffer) {
		ret = dart_error__no_memory(error);
		goto out;
	}
	if (epoch->reporter_count)
		memcpy(front.reporters, epoch->reporters,
		       epoch->reporter_count * sizeof(*front.reporters));
	writing.offset = front.length;
	/* The header comes last: it has the places of all frames. */
	ret = write_frames(&writing, geometry, slots, &front);
	if (ret)
		goto out;
	fill_header(&front, epoch);
	ret = write_all(&writing, front.header, front.length, 0);
out:
	free(writing.buffer);
	ZSTD_freeCCtx(writing.compressor);
	free(front.header);
	return ret;
}

/* ---- reading */

struct dart_epoch_file {
	struct dart_epoch_source source;
	int fd;	/* that the source reads, unless it is the caller's */
	struct front front;
	struct dart_epoch epoch;
	struct dart_store_hash *hash;
	uint32_t frame_slots_log2;
	size_t frame_length; /* bytes of slots */
	ZSTD_DCtx *decompressor;
	uint8_t *stored; /* a frame as it lies in the file */
};

static int refuse(struct dart_error *error, const char *what)
{
	return dart_error__set(error, EBADMSG, "it is not the whole file of an epoch: %s", what);
}

static int read_fd(void *argument, void *bytes, size_t length, uint64_t offset,
		   struct dart_error *error)
{
	const int fd = *(const int *)argument;
	uint8_t *at = bytes;
	ssize_t got;

	while (length) {
		got = pread(fd, at, length, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return dart_error__system(error, errno, "cannot read the file");
		if (!got)
			return refuse(error, "it is cut off");
		at += got;
		offset += got;
		length -= got;
	}
	return 0;
}

static int file__read(const struct dart_epoch_file *file, void *bytes, size_t length,
		      uint64_t offset, struct dart_error *error)
{
	if (offset > file->source.size || length > file->source.size - offset)
		return refuse(error, "it is cut off");
	return file->source.read(file->source.argument, bytes, length, offset, error);
}

/* Is a text of @size bytes followed by NULs only? */
static bool is_padded(const char *text, size_t size)
{
	size_t i = strnlen(text, size);

	if (i == size)
		return false;
	while (i < size)
		if (text[i++])
			return false;
	return true;
}

/* Takes the numbers of the hostile @header, whose checksum is not known to be right yet. */
static int file__take_header(struct dart_epoch_file *file, const struct dart_epoch_header *header,
			     struct dart_error *error)
{
	struct dart_epoch *epoch = &file->epoch;
	struct dart_store_geometry *geometry = &epoch->geometry;
	const uint32_t slots_log2 = le32toh(header->slots_log2);
	size_t i;

	if (le32toh(header->skippable) != DART_EPOCH_SKIPPABLE ||
	    le64toh(header->magic) != DART_EPOCH_FILE_MAGIC)
		return refuse(error, "it has another format");
	if (le32toh(header->version) != DART_EPOCH_FILE_VERSION)
		return refuse(error, "it has another version of the format");
	if (slots_log2 > DART_STORE_SLOTS_LOG2_MAX)
		return refuse(error, "a store cannot have this geometry");
	*geometry = (struct dart_store_geometry){
		.slots = UINT64_C(1) << slots_log2,
		.value_length = le32toh(header->value_length),
		.checksum_bits = le32toh(header->checksum_bits),
		.redundancy = le32toh(header->redundancy),
	};
	epoch->since_ns = le64toh(header->since_ns);
	epoch->until_ns = le64toh(header->until_ns);
	epoch->reporter_count = le32toh(header->reporters);
	if (!is_possible(epoch))
		return refuse(error, "there can be no such epoch");
	for (i = 0; i < DART_EPOCH_POLYNOMIALS; i++)
		if (le32toh(header->polynomials[i]) != polynomials[i])
			return refuse(error, "it has other polynomials");
	if (header->reserved || !is_padded(header->store, sizeof(header->store)) ||
	    !is_padded(header->schema, sizeof(header->schema)))
		return refuse(error, "its header is damaged");
	memcpy(epoch->store, header->store, sizeof(epoch->store));
	memcpy(epoch->schema, header->schema, sizeof(epoch->schema));

	file->frame_slots_log2 = le32toh(header->frame_slots_log2);
	if (file->frame_slots_log2 > slots_log2)
		return refuse(error, "its frames are longer than the store");
	/* A slot has 5 to 72 bytes, and frame_slots_log2 is at most 32: no overflow. */
	if (dart_store_geometry__slot_length(geometry) << file->frame_slots_log2 >
	    DART_EPOCH_FRAME_MAX)
		return refuse(error, "its frames are too long");
	file->frame_length = dart_store_geometry__slot_length(geometry) << file->frame_slots_log2;
	if (le32toh(header->frames) != geometry->slots >> file->frame_slots_log2)
		return refuse(error, "its frames are not as many as the slots need");
	return 0;
}

/* The table of frames is allocated only if the file is long enough to have it. */
static int file__read_front(struct dart_epoch_file *file, struct dart_error *error)
{
	struct dart_epoch_header header;
	int ret;

	ret = file__read(file, &header, sizeof(header), 0, error) ?:
		      file__take_header(file, &header, error);
	if (ret)
		return ret;
	if (le32toh(header.frames) > file->source.size / sizeof(struct dart_epoch_frame))
		return refuse(error, "it is cut off");
	if (le32toh(header.skipped) > file->source.front_max)
		return dart_error__set(error, EFBIG, "its table of frames has %u bytes, too many",
				       le32toh(header.skipped));
	if (le32toh(header.skipped) !=
	    front_length(file->epoch.reporter_count, le32toh(header.frames)) -
		    offsetof(struct dart_epoch_header, magic))
		return refuse(error, "its header has another length");
	if (front__allocate(&file->front, file->epoch.reporter_count, le32toh(header.frames)))
		return dart_error__no_memory(error);
	ret = file__read(file, file->front.header + 1, file->front.length - sizeof(header),
			 sizeof(header), error);
	if (ret)
		return ret;
	*file->front.header = header;
	if (front__checksum(&file->front) != le64toh(header.checksum))
		return refuse(error, "the checksum of its header is wrong");
	file->epoch.reporters = file->front.reporters;
	return 0;
}

static int file__open(struct dart_epoch_file *file, struct dart_error *error)
{
	int ret = file__read_front(file, error);

	if (ret)
		return ret;
	file->decompressor = ZSTD_createDCtx();
	file->stored = malloc(ZSTD_compressBound(DART_EPOCH_FRAME_MAX));
	if (!file->decompressor || !file->stored ||
	    dart_store_hash__new(&file->epoch.geometry, &file->hash))
		return dart_error__no_memory(error);
	return 0;
}

int dart_epoch_file__open_source(const struct dart_epoch_source *source,
				 struct dart_epoch_file **result, struct dart_error *error)
{
	struct dart_epoch_file *file = calloc(1, sizeof(*file));
	int ret;

	if (!file)
		return dart_error__no_memory(error);
	file->source = *source;
	ret = file__open(file, error);
	if (ret)
		dart_epoch_file__close(file);
	else
		*result = file;
	return ret;
}

int dart_epoch_file__open(int fd, struct dart_epoch_file **result, struct dart_error *error)
{
	struct dart_epoch_file *file = calloc(1, sizeof(*file));
	struct stat status;
	int ret;

	if (!file)
		return dart_error__no_memory(error);
	file->fd = fd;
	file->source = (struct dart_epoch_source){
		.read = read_fd,
		.argument = &file->fd,
		.front_max = UINT64_MAX,
	};
	if (fstat(fd, &status)) {
		ret = dart_error__system(error, errno, "cannot examine the file");
	} else {
		file->source.size = S_ISREG(status.st_mode) ? status.st_size : 0;
		ret = file__open(file, error);
	}
	if (ret)
		dart_epoch_file__close(file);
	else
		*result = file;
	return ret;
}

void dart_epoch_file__close(struct dart_epoch_file *file)
{
	if (!file)
		return;
	dart_store_hash__free(file->hash);
	ZSTD_freeDCtx(file->decompressor);
	free(file->stored);
	free(file->front.header);
	free(file);
}

const struct dart_epoch *dart_epoch_file__epoch(const struct dart_epoch_file *file)
{
	return &file->epoch;
}

const struct dart_store_hash *dart_epoch_file__hash(const struct dart_epoch_file *file)
{
	return file->hash;
}

/* Reads the frame with this number to @slots, which have room for it. */
static int file__read_frame(struct dart_epoch_file *file, uint64_t number, uint8_t *slots,
			    struct dart_error *error)
{
	struct dart_epoch_frame frame;
	uint64_t offset;
	uint32_t length;
	size_t got;
	int ret;

	memcpy(&frame, file->front.frames + number * sizeof(frame), sizeof(frame));
	offset = le64toh(frame.offset);
	length = le32toh(frame.length);
	if (frame.reserved || offset < file->front.length || offset > file->source.size ||
	    length > file->source.size - offset || length > ZSTD_compressBound(DART_EPOCH_FRAME_MAX))
		return refuse(error, "a frame is cut off");
	ret = file__read(file, file->stored, length, offset, error);
	if (ret)
		return ret;
	got = ZSTD_decompressDCtx(file->decompressor, slots, file->frame_length, file->stored,
				  length);
	if (ZSTD_isError(got) || got != file->frame_length ||
	    XXH3_64bits(slots, got) != le64toh(frame.checksum))
		return refuse(error, "a frame is damaged");
	return 0;
}

int dart_epoch_file__query(struct dart_epoch_file *file, const void *key, size_t length,
			   const struct dart_store_rule *rule, struct dart_store_answer *answer,
			   struct dart_error *error)
{
	const struct dart_store_geometry *geometry = &file->epoch.geometry;
	const size_t slot_length = dart_store_geometry__slot_length(geometry);
	uint8_t copies[DART_STORE_REDUNDANCY_MAX][DART_STORE_SLOT_MAX];
	const uint8_t *slots[DART_STORE_REDUNDANCY_MAX];
	struct dart_store_place place;
	uint64_t within;
	uint8_t *frame;
	uint32_t i;
	int ret = 0;

	frame = malloc(file->frame_length);
	if (!frame)
		return dart_error__no_memory(error);
	dart_store_hash__place(file->hash, key, length, &place);
	for (i = 0; !ret && i < geometry->redundancy; i++) {
		ret = file__read_frame(file, place.slots[i] >> file->frame_slots_log2, frame,
				       error);
		if (ret)
			break;
		within = place.slots[i] & ((UINT64_C(1) << file->frame_slots_log2) - 1);
		memcpy(copies[i], frame + within * slot_length, slot_length);
		slots[i] = copies[i];
	}
	free(frame);
	if (!ret)
		dart_store__decide(geometry, &place, slots, rule, answer);
	return ret;
}
