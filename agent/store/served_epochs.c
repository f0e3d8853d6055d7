// SPDX-License-Identifier: GPL-2.0-only
/* Serves the bytes of epochs, see <dart/rpc.h>. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/rpc/epochs.h>

#include "served_epochs.h"

static int find(const struct stores *stores, const char *name, struct store **store,
		struct dart_error *error)
{
	*store = (struct store *)remote_objects__find(&stores->objects, name);
	if (!*store)
		return dart_error__set(error, ENOENT, "there is no store '%s'", name);
	if (!(*store)->rotation)
		return dart_error__set(error, ENOENT, "store '%s' has no epochs", name);
	return 0;
}

static int has_gone(struct dart_error *error)
{
	return dart_error__set(error, ESTALE,
			       "the epoch is no longer there: ask for the list again");
}

/* ---- the list */

/* An answer that is being written. */
struct listing {
	void *bytes;
	struct dart_rpc_epochs_values values;
};

/* Returns 1 if there is no more room. */
static int add(void *argument, const struct epoch_item *item, int bank)
{
	struct listing *listing = argument;
	const struct dart_rpc_epoch_values epoch = {
		.since_ns = item->since_ns,
		.until_ns = item->until_ns,
		.length = item->bytes,
		.place = bank < 0 ? DART_RPC_EPOCH_FILE : DART_RPC_EPOCH_MEMORY,
	};

	if (listing->values.count == DART_RPC_EPOCHS_MAX) {
		listing->values.more_ns = item->since_ns;
		return 1;
	}
	dart_rpc_epochs__put_epoch(listing->bytes, listing->values.count++, &epoch);
	return 0;
}

static ssize_t list(void *subject, const char *name, uint64_t since_ns, uint64_t until_ns,
		    void *bytes, struct dart_error *error)
{
	struct listing listing = { .bytes = bytes };
	const struct dart_store_geometry *geometry;
	struct store *store;
	int ret;

	ret = find(subject, name, &store, error);
	if (ret)
		return ret;
	geometry = &store->geometry;
	listing.values = (struct dart_rpc_epochs_values){
		.slots_log2 = __builtin_ctzll(geometry->slots),
		.value_length = geometry->value_length,
		.checksum_bits = geometry->checksum_bits,
		.redundancy = geometry->redundancy,
	};
	ret = rotation__select(store->rotation, since_ns, until_ns, add, &listing, error);
	return ret ?: (ssize_t)dart_rpc_epochs__put(bytes, &listing.values);
}

/* ---- bytes */

/* The slots of an epoch in memory, or NULL. */
static const uint8_t *slots_of(const struct rotation *rotation, uint64_t since_ns)
{
	uint32_t bank;

	for (bank = 0; since_ns && bank < DART_EPOCH_BANKS; bank++)
		if (rotation->memory.state->banks[bank].since_ns == since_ns)
			return epoch_memory__slots(&rotation->memory, bank);
	return NULL;
}

static int check_end(const struct dart_rpc_epoch_bytes *wanted, uint64_t length,
		     struct dart_error *error)
{
	if (wanted->offset <= length && wanted->length <= length - wanted->offset)
		return 0;
	return dart_error__set(error, ENOENT, "the epoch has only %llu bytes",
			       (unsigned long long)length);
}

static int open_file(struct rotation *rotation, const struct dart_rpc_epoch_bytes *wanted, int *fd,
		     struct dart_error *error)
{
	struct stat status;
	int ret = rotation__read(rotation, wanted->since_ns, error);

	if (ret < 0)
		return ret == -ENOENT ? has_gone(error) : ret;
	*fd = ret;
	if (fstat(*fd, &status))
		ret = dart_error__system(error, errno, "cannot examine the file");
	else
		ret = check_end(wanted, status.st_size, error);
	if (ret) {
		close(*fd);
		*fd = -1;
	}
	return ret;
}

static int open_epoch(void *subject, const struct dart_rpc_epoch_bytes *wanted, int *fd,
		      struct dart_error *error)
{
	struct store *store;
	int ret;

	*fd = -1;
	ret = find(subject, wanted->store, &store, error);
	if (ret)
		return ret;
	if (wanted->place == DART_RPC_EPOCH_FILE)
		return open_file(store->rotation, wanted, fd, error);
	if (!slots_of(store->rotation, wanted->since_ns))
		return has_gone(error);
	return check_end(wanted, store->rotation->memory.length, error);
}

/* At most a message at a time: a slow disk delays the other work of dartd by one read. */
static int read_file(int fd, uint8_t *to, size_t size, uint64_t offset, struct dart_error *error)
{
	ssize_t got;

	while (size) {
		got = pread(fd, to, size, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return dart_error__system(error, errno, "cannot read the file");
		if (!got)
			return has_gone(error);
		to += got;
		offset += got;
		size -= got;
	}
	return 0;
}

static int read_epoch(void *subject, const struct dart_rpc_epoch_bytes *wanted, int fd,
		      uint32_t offset, void *bytes, size_t size, struct dart_error *error)
{
	const uint8_t *slots;
	struct store *store;
	int ret;

	if (fd >= 0)
		return read_file(fd, bytes, size, wanted->offset + offset, error);
	/* The store may have been deleted, and created anew, since the part before. */
	ret = find(subject, wanted->store, &store, error);
	if (ret)
		return ret;
	slots = slots_of(store->rotation, wanted->since_ns);
	if (!slots)
		return has_gone(error);
	ret = check_end(wanted, store->rotation->memory.length, error);
	if (ret)
		return ret;
	memcpy(bytes, slots + wanted->offset + offset, size);
	/* A thread that clears a bank first forgets its epoch. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return slots_of(store->rotation, wanted->since_ns) == slots ? 0 : has_gone(error);
}

struct epoch_service served_epochs__service(struct stores *stores,
					    const struct dart_prefixes *readers)
{
	return (struct epoch_service){
		.subject = stores,
		.readers = readers,
		.list = list,
		.open = open_epoch,
		.read = read_epoch,
	};
}
