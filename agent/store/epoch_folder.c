// SPDX-License-Identifier: GPL-2.0-only
/* Lists, writes and removes files of epochs, see epoch_folder.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epoch_folder.h"

/* Bytes of the path of a file in a folder, with the NUL. */
#define PATH_SIZE (PATH_MAX + 80)

/* ---- names */

/* Writes the name of the folder of @store, without characters that a folder cannot have. */
static void escape(const char *store, char name[3 * DART_EPOCH_STORE_MAX])
{
	size_t used = 0, i;

	for (i = 0; store[i] && i < DART_EPOCH_STORE_MAX; i++)
		if (store[i] == '/' || store[i] == '%' || (store[i] == '.' && !i))
			used += sprintf(name + used, "%%%02X", (unsigned char)store[i]);
		else
			name[used++] = store[i];
	name[used] = '\0';
}

int epoch_folder__open(struct epoch_folder *folder, const char *state, const char *store,
		       struct dart_error *error)
{
	char name[3 * DART_EPOCH_STORE_MAX];
	int length;

	escape(store, name);
	length = snprintf(folder->path, sizeof(folder->path), "%s/" DART_EPOCH_FOLDER "/%s", state,
			  name);
	if (length < 0 || length >= PATH_MAX - DART_EPOCH_FILE_NAME_MAX)
		return dart_error__set(error, ENAMETOOLONG,
				       "the name of the folder of epochs is too long");
	return 0;
}

/* ---- reading */

static int compare(const void *a, const void *b)
{
	const struct epoch_item *one = a, *other = b;

	return (one->since_ns > other->since_ns) - (one->since_ns < other->since_ns);
}

static int list__add(struct epoch_list *list, const struct epoch_item *item)
{
	struct epoch_item *items;

	/* Powers of two. */
	if (!(list->count & (list->count - 1))) {
		items = reallocarray(list->items, list->count ? 2 * list->count : 1,
				     sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
	}
	list->items[list->count++] = *item;
	return 0;
}

int epoch_folder__list(const struct epoch_folder *folder, struct epoch_list *list,
		       struct dart_error *error)
{
	struct epoch_item item;
	struct dirent *entry;
	struct stat status;
	DIR *directory;
	int ret = 0;

	*list = (struct epoch_list){ .count = 0 };
	directory = opendir(folder->path);
	if (!directory && errno == ENOENT)
		return 0;
	if (!directory)
		return dart_error__system(error, errno, "cannot open %s", folder->path);
	while (!ret && (entry = readdir(directory))) {
		if (dart_epoch_file__parse_name(entry->d_name, &item.since_ns, &item.until_ns) ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(status.st_mode))
			continue;
		item.bytes = status.st_size;
		ret = list__add(list, &item);
	}
	closedir(directory);
	if (ret) {
		free(list->items);
		*list = (struct epoch_list){ .count = 0 };
		return dart_error__no_memory(error);
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare);
	return 0;
}

static void path_of(const struct epoch_folder *folder, const char *prefix,
		    const struct epoch_item *item, char path[PATH_SIZE])
{
	char name[DART_EPOCH_FILE_NAME_MAX];

	dart_epoch_file__print_name(item->since_ns, item->until_ns, name);
	snprintf(path, PATH_SIZE, "%s/%s%s", folder->path, prefix, name);
}

int epoch_folder__read(const struct epoch_folder *folder, const struct epoch_item *item,
		       struct dart_error *error)
{
	char path[PATH_SIZE];
	int fd;

	path_of(folder, "", item, path);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? dart_error__system(error, errno, "cannot open %s", path) : fd;
}

/* ---- writing */

static int sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = fsync(fd) ? -errno : 0;
	close(fd);
	return ret;
}

/* Creates a folder whose name lasts, unless it is there. */
static int make_folder(const char *path)
{
	char parent[PATH_MAX];
	int ret;

	if (mkdir(path, 0700))
		return errno == EEXIST ? 0 : -errno;
	strcpy(parent, path);
	*strrchr(parent, '/') = '\0';
	ret = sync_folder(parent);
	/* Otherwise the next try would find it, and not sync its name. */
	if (ret)
		rmdir(path);
	return ret;
}

static int make_folders(const struct epoch_folder *folder)
{
	char path[PATH_MAX];
	int ret = make_folder(folder->path);

	if (ret != -ENOENT)
		return ret;
	strcpy(path, folder->path);
	*strrchr(path, '/') = '\0';
	return make_folder(path) ?: make_folder(folder->path);
}

int epoch_folder__write(const struct epoch_folder *folder, const struct dart_epoch *epoch,
			const void *slots, dart_epoch_pace *pace, void *argument,
			struct dart_error *error)
{
	static atomic_uint tries;
	const struct epoch_item item = { epoch->since_ns, epoch->until_ns, 0 };
	char prefix[sizeof(DART_EPOCH_UNFINISHED) + 16];
	char unfinished[PATH_SIZE], path[PATH_SIZE];
	int fd, ret;

	ret = make_folders(folder);
	if (ret)
		return dart_error__system(error, -ret, "cannot create %s", folder->path);
	/* A thread that a removed store left may still write the same epoch. */
	snprintf(prefix, sizeof(prefix), DART_EPOCH_UNFINISHED "%u-", atomic_fetch_add(&tries, 1));
	path_of(folder, prefix, &item, unfinished);
	path_of(folder, "", &item, path);
	fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create %s", unfinished);
	ret = dart_epoch_file__write(fd, epoch, slots, pace, argument, error);
	if (!ret && fsync(fd))
		ret = dart_error__system(error, errno, "cannot write %s", unfinished);
	if (close(fd) && !ret)
		ret = dart_error__system(error, errno, "cannot write %s", unfinished);
	if (!ret && rename(unfinished, path))
		ret = dart_error__system(error, errno, "cannot rename %s", unfinished);
	if (ret) {
		unlink(unfinished);
		return ret;
	}
	/* Its name must last, too. */
	ret = sync_folder(folder->path);
	if (ret) {
		unlink(path);
		return dart_error__system(error, -ret, "cannot write %s", folder->path);
	}
	return 0;
}

/* ---- removing */

void epoch_folder__tidy(const struct epoch_folder *folder)
{
	DIR *directory = opendir(folder->path);
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (!strncmp(entry->d_name, DART_EPOCH_UNFINISHED, strlen(DART_EPOCH_UNFINISHED)))
			unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
}

/* A clock that is only slewed steps by less. */
#define STEP_NS INT64_C(1000000000)

uint64_t epoch_clock__now(struct epoch_clock *clock, uint64_t keep_ns, int64_t real_ns,
			  int64_t boot_ns)
{
	const int64_t offset_ns = real_ns - boot_ns;

	if (clock->is_set && offset_ns - clock->trusted_ns >= STEP_NS) {
		if (!clock->step_ns || llabs(offset_ns - clock->stepped_ns) >= STEP_NS) {
			clock->step_ns = boot_ns;
			clock->stepped_ns = offset_ns;
		}
		if (boot_ns - clock->step_ns < (int64_t)keep_ns)
			return boot_ns + clock->trusted_ns;
	}
	*clock = (struct epoch_clock){ .is_set = true, .trusted_ns = offset_ns };
	return real_ns;
}

/* Files that are being removed. */
struct removal {
	const struct epoch_folder *folder;
	uint64_t bytes; /* of the files that are left */
	int count, ret;
	struct dart_error *error;
};

/* A removed item has no bytes. */
static void remove_item(struct removal *removal, struct epoch_item *item)
{
	char path[PATH_SIZE];

	path_of(removal->folder, "", item, path);
	if (unlink(path) && errno != ENOENT) {
		if (!removal->ret)
			removal->ret =
				dart_error__system(removal->error, errno, "cannot remove %s", path);
		return;
	}
	removal->bytes -= item->bytes;
	removal->count++;
	item->bytes = 0;
	item->since_ns = 0;
}

static bool is_old(const struct epoch_folder *folder, const struct epoch_item *item,
		   uint64_t now_ns)
{
	return folder->keep_ns && now_ns > item->until_ns &&
	       now_ns - item->until_ns > folder->keep_ns;
}

int epoch_folder__retain(const struct epoch_folder *folder, uint64_t now_ns,
			 struct dart_error *error)
{
	struct removal removal = { .folder = folder, .error = error };
	struct epoch_list list;
	size_t i;
	int ret;

	ret = epoch_folder__list(folder, &list, error);
	if (ret)
		return ret;
	for (i = 0; i < list.count; i++)
		removal.bytes += list.items[i].bytes;
	/* An epoch with a wrong time does not protect the epochs after it. */
	for (i = 0; i + 1 < list.count; i++)
		if (is_old(folder, &list.items[i], now_ns))
			remove_item(&removal, &list.items[i]);
	for (i = 0; folder->keep_bytes && i + 1 < list.count && removal.bytes > folder->keep_bytes;
	     i++)
		if (list.items[i].since_ns)
			remove_item(&removal, &list.items[i]);
	free(list.items);
	return removal.ret ?: removal.count;
}
