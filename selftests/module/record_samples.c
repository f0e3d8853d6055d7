// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of objects that end while they are gathered: the region reports it, keeps the
 * last values, and delays nothing.
 */
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <linux/dart_zero_samples.h>

#include "selftests/lib/command.h"
#include "selftests/lib/device.h"
#include "selftests/lib/namespace.h"
#include "selftests/lib/record.h"

static const struct dart_zero_piece whole_link = {
	.width = 8,
	.count = sizeof(struct dart_zero_netdev_link) / 8,
};

static union {
	uint64_t words[RECORD_ROW_WORDS_MAX];
	struct {
		uint64_t time;
		union {
			struct dart_zero_netdev_link link;
			struct dart_zero_filesystem filesystem;
		};
	};
} row;

static int add_link(int region, uint32_t pages, int namespace, uint32_t ifindex,
		    struct dart_zero_record *record)
{
	*record = record_of(pages, DART_ZERO_SOURCE_NETDEV_LINK, &whole_link);
	record->fd = namespace;
	record->ifindex = ifindex;
	return record_add(region, record);
}

static int own_namespace(void)
{
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* A mapping would hold the module. */
static void close_mapped(int region, const char *address)
{
	assert_int_equal(munmap((void *)address, device_info(region).capacity), 0);
	close(region);
}

/* The module reports the record within 20 s, @command has ended by then, and the record stays. */
static void assert_ends(int region, const char *address, const struct dart_zero_record *record,
			const char *command)
{
	const struct timespec three_passes = { .tv_nsec = 30000000 };
	uint64_t sequence;

	device_no_event(region);
	run(command);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_RECORD_GONE), record->id);
	sequence = record_row_whole(address, record, 0, row.words);
	assert_true(sequence);
	nanosleep(&three_passes, NULL);
	assert_int_equal(record_row_whole(address, record, 0, row.words), sequence);
	device_no_event(region);
}

static void test_device_removed(void **state)
{
	int region = device_open(), namespace = own_namespace();
	const char *address = device_map(region);
	struct dart_zero_record record, again;
	uint32_t pages = record_pages_new(region, 1), index;

	run("ip link add gone0 index 4000 mtu 1234 type dummy");
	index = if_nametoindex("gone0");
	assert_int_equal(add_link(region, pages, namespace, index, &record), 0);
	record_row_next(address, &record, 0, row.words);
	assert_int_equal(row.link.mtu, 1234);
	assert_ends(region, address, &record,
		    "ip link del gone0 && ip link add next0 index 4000 mtu 4321 type dummy");
	/* Another device uses its number now. */
	assert_int_equal(row.link.mtu, 1234);
	assert_int_equal(add_link(region, pages, namespace, index, &again), 0);
	run("ip link del next0");
	assert_int_equal(add_link(region, pages, namespace, index, &again), -ENODEV);
	close_mapped(region, address);
	close(namespace);
}

static void test_device_moved(void **state)
{
	int region = device_open(), namespace = own_namespace();
	const char *address = device_map(region);
	struct dart_zero_record record;

	run("ip netns add target && ip link add moved0 type dummy");
	assert_int_equal(add_link(region, record_pages_new(region, 1), namespace,
				  if_nametoindex("moved0"), &record), 0);
	assert_ends(region, address, &record,
		    "ip link set moved0 netns target");
	run("ip netns del target");
	close_mapped(region, address);
	close(namespace);
}

/* The namespace ends, and its devices with it. */
static void test_namespace_deleted(void **state)
{
	int region = device_open(), namespace = namespace_new();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record by_fd, by_inode;
	uint32_t ids;

	assert_int_equal(add_link(region, pages, namespace, 1, &by_fd), 0);
	by_inode = record_of(pages, DART_ZERO_SOURCE_NETDEV_LINK, &whole_link);
	by_inode.netns = namespace_inode(namespace);
	by_inode.ifindex = 1;
	assert_int_equal(record_add(region, &by_inode), 0);
	namespace_send(namespace, 10);
	record_row_next(address, &by_inode, 0, row.words);
	assert_int_equal(row.link.tx_packets, 20); /* and as many refusals */
	close(namespace);
	ids = device_event(region, DART_ZERO_EVENT_RECORD_GONE);
	ids += device_event(region, DART_ZERO_EVENT_RECORD_GONE);
	assert_int_equal(ids, by_fd.id + by_inode.id);
	close_mapped(region, address);
}

#define MOUNT_POINT "/run/sampled"

/* A mount is busy for the moment of a question, as by df, and a debug kernel takes long for it. */
#define UMOUNT(place) \
	"for i in $(seq 100); do umount " place " && exit; done 2>/dev/null; umount " place

static int add_filesystem_of(int region, uint32_t pages, const char *path,
			     dev_t device, struct dart_zero_record *record)
{
	static const struct dart_zero_piece whole = {
		.width = 8,
		.count = sizeof(struct dart_zero_filesystem) / 8,
	};

	*record = record_of(pages, DART_ZERO_SOURCE_FILESYSTEM, &whole);
	record->path = (uintptr_t)path;
	record->device_major = major(device);
	record->device_minor = minor(device);
	return record_add(region, record);
}

/* The file system that is mounted at the path, which may hang. */
static int add_filesystem(int region, uint32_t pages, const char *path,
			  struct dart_zero_record *record)
{
	struct statx status;

	assert_int_equal(statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &status), 0);
	return add_filesystem_of(region, pages, path,
				 makedev(status.stx_dev_major, status.stx_dev_minor), record);
}

/*
 * No such file system is mounted at @path.  ADD says so if the answer comes in the time that it
 * waits, and otherwise the region reports the end of the record.
 */
static void assert_absent(int region, uint32_t pages, const char *path, dev_t device)
{
	struct dart_zero_record record;
	int ret = add_filesystem_of(region, pages, path, device, &record);

	if (ret)
		assert_int_equal(ret, -ENODEV);
	else
		assert_int_equal(device_event(region, DART_ZERO_EVENT_RECORD_GONE), record.id);
}

static void test_unmounted(void **state)
{
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record record, again;
	struct stat directory;
	struct statvfs status;

	run("mkdir -p " MOUNT_POINT "/below");
	assert_int_equal(stat(MOUNT_POINT, &directory), 0);
	assert_absent(region, pages, MOUNT_POINT "/below", directory.st_dev);
	assert_int_equal(stat("/dev/null", &directory), 0);
	assert_absent(region, pages, "/dev/null", directory.st_dev);
	run("mount -t tmpfs -o size=1m,nr_inodes=100 sampled " MOUNT_POINT);
	assert_int_equal(add_filesystem(region, pages, MOUNT_POINT, &record), 0);
	assert_int_equal(statvfs(MOUNT_POINT, &status), 0);
	record_row_next(address, &record, 0, row.words);
	assert_int_equal(row.filesystem.size, 1 << 20);
	assert_int_equal(row.filesystem.free, status.f_bfree * status.f_frsize);
	assert_int_equal(row.filesystem.files, 100);
	assert_int_equal(row.filesystem.files_free, status.f_ffree);
	assert_int_equal(row.filesystem.read_only, 0);
	run("mount -o remount,ro " MOUNT_POINT);
	record_row_next(address, &record, 0, row.words);
	record_row_next(address, &record, 0, row.words);
	assert_int_equal(row.filesystem.read_only, 1);

	assert_ends(region, address, &record, UMOUNT(MOUNT_POINT));

	run("mount -t tmpfs sampled " MOUNT_POINT);
	assert_int_equal(add_filesystem(region, pages, MOUNT_POINT, &again), 0);
	assert_ends(region, address, &again, "mount -t proc hidden " MOUNT_POINT);
	run("umount " MOUNT_POINT " && umount " MOUNT_POINT);
	close_mapped(region, address);
}

/*
 * Makes and enters directories one by one, because the whole path exceeds the limit of the kernel.
 */
static void make_below(const char *path, size_t length)
{
	char name[NAME_MAX + 1] = { };
	int from = open(path, O_PATH | O_CLOEXEC), fd;
	size_t left = length - strlen(path), part;

	while (left) {
		part = left > 201 ? 200 : left - 1;
		/* A path component cannot be empty, so leave room for at least one letter. */
		if (left - part - 1 == 1)
			part--;
		memset(name, 'd', part);
		name[part] = '\0';
		assert_int_equal(mkdirat(from, name, 0755), 0);
		fd = openat(from, name, O_PATH | O_CLOEXEC);
		assert_true(fd >= 0);
		close(from);
		from = fd;
		left -= part + 1;
	}
	assert_int_equal(fchdir(from), 0);
	close(from);
}

static void test_path(void **state)
{
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record record;
	char path[PATH_MAX + 1] = MOUNT_POINT;
	struct stat status;

	run("mkdir -p " MOUNT_POINT " && mount -t tmpfs above " MOUNT_POINT);
	make_below(MOUNT_POINT, PATH_MAX - 1);
	assert_true(getcwd(path, PATH_MAX));
	assert_int_equal(strlen(path), PATH_MAX - 1);
	assert_int_equal(mount("deep", ".", "tmpfs", 0, "size=1m"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(add_filesystem_of(region, pages, path, status.st_dev, &record), 0);
	record_row_next(address, &record, 0, row.words);
	assert_int_equal(row.filesystem.size, 1 << 20);
	/* Another file system at this path, too long a path, and a path that does not exist. */
	assert_absent(region, pages, path, status.st_dev + 1);
	strcat(path, "x");
	assert_int_equal(add_filesystem_of(region, pages, path, status.st_dev,
					   &record), -ENAMETOOLONG);
	assert_absent(region, pages, "none", status.st_dev);
	assert_int_equal(add_filesystem_of(region, pages, (const char *)8, status.st_dev, &record),
			 -EFAULT);
	assert_int_equal(add_filesystem_of(region, pages, NULL, status.st_dev, &record), -EINVAL);
	assert_int_equal(add_filesystem_of(region, pages, "/", makedev(1 << 12, 0), &record),
			 -EINVAL);
	close_mapped(region, address);
	run("umount -l " MOUNT_POINT);
}

/*
 * A server that does not even answer the first question; returns its descriptor.  Called
 * before a region is opened, which a kernel without FUSE would leave open.
 */
static int mount_hung(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[96];

	if (fuse < 0)
		skip();
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	run("mkdir -p " MOUNT_POINT);
	assert_int_equal(mount("hung", MOUNT_POINT, "fuse", 0, options), 0);
	return fuse;
}

/* The questions end when the server does, and release the module. */
static void umount_hung(int fuse)
{
	assert_int_equal(umount2(MOUNT_POINT, MNT_DETACH), 0);
	close(fuse);
}

static void test_hung(void **state)
{
	int fuse = mount_hung(), region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record hung, other;

	assert_int_equal(add_filesystem(region, pages, MOUNT_POINT, &hung), 0);
	assert_int_equal(add_filesystem(region, pages, "/", &other), 0);
	record_row_next(address, &other, 0, row.words);
	record_row_next(address, &other, 0, row.words);
	assert_true(row.filesystem.size >= row.filesystem.free);
	assert_int_equal(record_row(address, &hung, 0, row.words), 0);
	device_no_event(region);

	assert_int_equal(device_remove(region, hung.id), 0);
	assert_int_equal(add_filesystem(region, pages, MOUNT_POINT, &hung), 0);
	close_mapped(region, address);
	umount_hung(fuse);
}

#define DISK "/sys/kernel/config/nullb/sampled"

/* More than the module asks at once. */
static void test_many_hung(void **state)
{
	int fuse = mount_hung(), region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 4);
	struct dart_zero_record record;
	int i;

	run("modprobe null_blk nr_devices=0 && (mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config)");
	run("mkdir " DISK " && cd " DISK " && echo 1 >memory_backed && echo 8 >size && echo 1 >power");
	run("mkfs.ext4 -q /dev/sampled && mkdir -p " MOUNT_POINT ".disk && mount /dev/sampled " MOUNT_POINT ".disk");

	for (i = 0; i < 65; i++)
		assert_int_equal(add_filesystem(region, pages, MOUNT_POINT, &record), 0);
	assert_int_equal(add_filesystem(region, pages, MOUNT_POINT ".disk", &record), 0);
	record_row_next(address, &record, 0, row.words);
	record_row_next(address, &record, 0, row.words);
	assert_in_range(row.filesystem.size, 1 << 22, 1 << 23);

	close_mapped(region, address);
	umount_hung(fuse);
	run(UMOUNT(MOUNT_POINT ".disk"));
	run("rmdir " DISK);
}

static bool module_is_removed(void)
{
	return !system("modprobe -r dart_zero 2>/dev/null");
}

#define REMOVED_S 60

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The module released the sampled objects, and can be unloaded. */
static void test_held(void **state)
{
	int region = device_open(), namespace = own_namespace();
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct dart_zero_record record;
	time_t end;

	run("ip link add held0 type dummy");
	assert_int_equal(add_link(region, record_pages_new(region, 1), namespace,
				  if_nametoindex("held0"), &record), 0);
	close(region);
	run("ip link del held0");
	close(namespace);
	end = seconds() + REMOVED_S;
	while (!module_is_removed() && seconds() < end)
		nanosleep(&pause, NULL);
	assert_int_equal(module_reload(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a record whose device is removed is reported and never shows another one with its number",
		     test_device_removed),
		TEST("a record whose device moves to another namespace is reported",
		     test_device_moved),
		TEST("records whose namespace ends are reported", test_namespace_deleted),
		TEST("a file system is unmounted while it is sampled, and its record is reported",
		     test_unmounted),
		TEST("a file system is found at a path of 4,095 bytes, and not at a longer or another one",
		     test_path),
		TEST("a file system that hangs delays neither others nor the end of the region",
		     test_hung),
		TEST("the file system of a disk is sampled while 65 others hang", test_many_hung),
		TEST("the module can be removed when nothing is sampled and no file system hangs",
		     test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
