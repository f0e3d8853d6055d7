// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the memory of another process: equal to its words while it runs and while it is
 * stopped, empty while a location is not in memory, and ended with the process.  A process cannot make
 * the worker wait, nor show anything but its own memory.
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "selftests/lib/capability.h"
#include "selftests/lib/device.h"
#include "selftests/lib/held_file.h"
#include "selftests/lib/record.h"

/* Memory at the same address in the test and in its child, which the two share. */
struct common {
	uint64_t words[64];
	uint64_t *pointer;
	struct common *next;
	bool is_ready;
};

static struct common *common;
static uint64_t row[RECORD_ROW_WORDS_MAX];
/* Behind the time of gathering. */
static const uint64_t *const values = row + 1;

struct watched {
	pid_t pid;
	int region;
	const char *address;
	uint32_t pages;
	struct dart_zero_record record;
	struct dart_zero_record cost;
};

static const struct dart_zero_piece cost_pieces = {
	.width = 8,
	.count = sizeof(struct dart_zero_gathering) / 8,
};

static void __attribute__((noreturn)) wait_for_signals(void)
{
	for (;;)
		pause();
}

/*
 * A child that runs @function, which does not return.  It has mapped @words and the common memory,
 * because after fork() a process maps a page of shared memory only when it first uses it.
 */
static pid_t start_with(void (*function)(void), uint64_t *words)
{
	pid_t pid;

	common->is_ready = false;
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		while (!__atomic_load_n(&common->is_ready, __ATOMIC_ACQUIRE))
			sched_yield();
		return pid;
	}
	__atomic_fetch_add(words, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&common->is_ready, true, __ATOMIC_RELEASE);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	function();
	_exit(1);
}

static pid_t start(void (*function)(void))
{
	return start_with(function, common->words);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct dart_zero_record record_of_locations(pid_t pid, uint32_t pages,
						   const struct dart_zero_location *locations,
						   uint32_t location_count,
						   const struct dart_zero_piece *piece)
{
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_PROCESS_MEMORY, piece);

	record.pid = pid;
	record.locations = (uintptr_t)locations;
	record.location_count = location_count;
	return record;
}

/* Gathers @locations of the process @pid, in whole words. */
static struct watched watch(pid_t pid, const struct dart_zero_location *locations,
			    uint32_t location_count)
{
	struct dart_zero_piece piece = { .width = 8 };
	struct watched watched = { .pid = pid, .region = device_open() };

	for (uint32_t i = 0; i < location_count; i++)
		piece.count += locations[i].length / 8;
	watched.address = device_map(watched.region);
	watched.pages = record_pages_new(watched.region, 16);
	watched.record = record_of_locations(pid, watched.pages, locations, location_count, &piece);
	assert_int_equal(record_add(watched.region, &watched.record), 0);
	watched.cost = record_of(watched.pages, DART_ZERO_SOURCE_GATHERING, &cost_pieces);
	assert_int_equal(record_add(watched.region, &watched.cost), 0);
	return watched;
}

static void stop_watching(struct watched *watched)
{
	assert_int_equal(munmap((void *)watched->address, device_info(watched->region).capacity),
			 0);
	close(watched->region);
}

/* Gathered after this call. */
static struct dart_zero_gathering next_cost(const struct watched *watched)
{
	static uint64_t cost[RECORD_ROW_WORDS_MAX];

	record_row_next(watched->address, &watched->cost, 0, cost);
	return *(struct dart_zero_gathering *)(cost + 1);
}

/* The location cannot be read: the row becomes empty, which is counted. */
static void assert_unreadable(const struct watched *watched)
{
	const uint64_t before = next_cost(watched).unreadable;

	assert_true(next_cost(watched).unreadable > before);
	assert_int_equal(record_row_whole(watched->address, &watched->record, 0, row), 0);
	device_no_event(watched->region);
}

static void assert_readable(const struct watched *watched, uint64_t value)
{
	const uint64_t before = next_cost(watched).unreadable;

	record_row_next(watched->address, &watched->record, 0, row);
	assert_int_equal(values[0], value);
	assert_int_equal(next_cost(watched).unreadable, before);
}

static struct dart_zero_location location_at(const void *address, uint32_t words)
{
	return (struct dart_zero_location){ .address = (uintptr_t)address, .length = words * 8 };
}

static void test_values(void **state)
{
	const struct dart_zero_location locations[] = {
		location_at(common->words + 8, 2),
		{ .address = (uintptr_t)&common->pointer,
		  .steps = { 16 },
		  .step_count = 1,
		  .length = 8 },
		{ .address = (uintptr_t)&common->next,
		  .steps = { offsetof(struct common, pointer), -8 },
		  .step_count = 2,
		  .length = 8 },
	};
	pid_t pid = start(wait_for_signals);
	struct watched watched;

	common->words[8] = 11;
	common->words[9] = 12;
	common->words[21] = 13;
	common->words[30] = 14;
	common->pointer = common->words + 28;
	common->next = common;
	/* The first values are there when the call returns. */
	watched = watch(pid, locations, 3);
	assert_true(record_row_whole(watched.address, &watched.record, 0, row));
	assert_int_equal(values[0], 11);
	assert_int_equal(values[1], 12);
	assert_int_equal(values[2], 14);
	assert_int_equal(values[3], common->words[27]);

	kill(pid, SIGSTOP);
	common->words[8] = 15;
	common->pointer = common->words + 22;
	record_row_next(watched.address, &watched.record, 0, row);
	assert_int_equal(values[0], 15);
	assert_int_equal(values[3], 13);

	common->next = NULL;
	record_row_next(watched.address, &watched.record, 0, row);
	assert_int_equal(values[3], 0);
	end(pid);
	stop_watching(&watched);
}

/* Changes all bits of 64 words again and again. */
static void change(void)
{
	for (;;)
		for (int i = 0; i < 64; i++)
			__atomic_store_n(&common->words[i], ~common->words[i], __ATOMIC_RELAXED);
}

static void test_whole_words(void **state)
{
	const struct dart_zero_location location = location_at(common->words, 64);
	struct watched watched;

	memset(common->words, 0, sizeof(common->words));
	watched = watch(start(change), &location, 1);
	for (int i = 0; i < 50; i++) {
		record_row_next(watched.address, &watched.record, 0, row);
		for (int j = 0; j < 64; j++)
			assert_true(!values[j] || values[j] == UINT64_MAX);
	}
	end(watched.pid);
	stop_watching(&watched);
}

/* Its last values stay, and its memory is free although the record exists. */
static void test_end(void **state)
{
	const int memory = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct dart_zero_location location;
	uint64_t sequence, *words;
	struct watched watched;
	pid_t pid;

	assert_int_equal(ftruncate(memory, PAGE), 0);
	words = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	assert_true(words != MAP_FAILED);
	location = location_at(words, 1);
	pid = start_with(wait_for_signals, words);
	*words = 21;
	watched = watch(pid, &location, 1);
	assert_int_equal(munmap(words, PAGE), 0);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_readable(&watched, 21);

	end(pid);
	assert_int_equal(device_event(watched.region, DART_ZERO_EVENT_RECORD_GONE),
			 watched.record.id);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
	sequence = record_row_whole(watched.address, &watched.record, 0, row);
	assert_int_equal(values[0], 21);
	next_cost(&watched);
	assert_int_equal(record_row_whole(watched.address, &watched.record, 0, row), sequence);
	stop_watching(&watched);
	close(memory);
}

static void become_sleep(void)
{
	while (!__atomic_load_n(common->words, __ATOMIC_ACQUIRE))
		sched_yield();
	execlp("sleep", "sleep", "600", NULL);
}

static void test_exec(void **state)
{
	const struct dart_zero_location location = location_at(common->words, 1);
	struct watched watched;

	common->words[0] = 0;
	watched = watch(start(become_sleep), &location, 1);
	__atomic_store_n(common->words, 1, __ATOMIC_RELEASE);
	assert_int_equal(device_event(watched.region, DART_ZERO_EVENT_RECORD_GONE),
			 watched.record.id);
	end(watched.pid);
	stop_watching(&watched);
}

static void test_pointers(void **state)
{
	static const uint64_t nowhere[] = {
		0x0000000000001000, /* not mapped */
		0x0000000000000001, /* not a multiple of 8 */
		0xffffffff81000000, /* of the kernel, which exists */
		0xffff888000000000, /* of the kernel */
		0x00ffffffffffffff & ~7ULL, /* of no process */
		0x8000000000000000, /* of nobody */
		0xfffffffffffffff8, /* with its end beyond all memory */
		0x00007ffffffffff8, /* at the end of the memory of a process */
	};
	const struct dart_zero_location location = {
		.address = (uintptr_t)&common->pointer,
		.step_count = 1,
		.length = 16,
	};
	struct watched watched;
	size_t i;

	common->words[0] = 31;
	common->pointer = common->words;
	watched = watch(start(wait_for_signals), &location, 1);
	for (i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		common->pointer = (uint64_t *)nowhere[i];
		assert_unreadable(&watched);
		common->pointer = common->words;
		assert_readable(&watched, 31);
	}
	end(watched.pid);
	stop_watching(&watched);
}

/* Memory of which no page was ever used. */
static uint64_t *unused_memory(void)
{
	uint64_t *words =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(words != MAP_FAILED);
	return words;
}

static uint64_t *unused;

static void use_later(void)
{
	while (!__atomic_load_n(common->words, __ATOMIC_ACQUIRE))
		sched_yield();
	*unused = 41;
	while (__atomic_load_n(common->words, __ATOMIC_ACQUIRE) == 1)
		sched_yield();
	mprotect(unused, PAGE, PROT_NONE);
	while (__atomic_load_n(common->words, __ATOMIC_ACQUIRE) == 2)
		sched_yield();
	munmap(unused, PAGE);
	__atomic_store_n(common->words, 4, __ATOMIC_RELEASE);
	wait_for_signals();
}

static void test_absent_pages(void **state)
{
	struct dart_zero_location location;
	struct watched watched;

	unused = unused_memory();
	location = location_at(unused, 1);
	common->words[0] = 0;
	watched = watch(start(use_later), &location, 1);
	assert_unreadable(&watched);
	common->words[0] = 1;
	while (!record_row_whole(watched.address, &watched.record, 0, row))
		sched_yield();
	assert_readable(&watched, 41);
	common->words[0] = 2;
	while (record_row_whole(watched.address, &watched.record, 0, row))
		sched_yield();
	assert_unreadable(&watched);
	common->words[0] = 3;
	while (common->words[0] != 4)
		sched_yield();
	assert_unreadable(&watched);
	end(watched.pid);
	stop_watching(&watched);
	munmap(unused, PAGE);
}

/* Its faults wait for a process that never answers them, and tells of none. */
static void test_userfaultfd(void **state)
{
	const int faults = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK };
	struct pollfd fault = { .fd = faults, .events = POLLIN };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct dart_zero_location location;
	struct watched watched;

	if (faults < 0 && errno == ENOSYS)
		skip();
	assert_true(faults >= 0);
	assert_int_equal(ioctl(faults, UFFDIO_API, &api), 0);
	unused = unused_memory();
	range.range.start = (uintptr_t)unused;
	range.range.len = PAGE;
	assert_int_equal(ioctl(faults, UFFDIO_REGISTER, &range), 0);
	location = location_at(unused, 1);
	watched = watch(getpid(), &location, 1);
	assert_unreadable(&watched);
	assert_int_equal(poll(&fault, 1, 0), 0);
	stop_watching(&watched);
	close(faults);
	munmap(unused, PAGE);
}

/* The process has mapped a file of a server in user space, which never answers. */
static void test_fuse(void **state)
{
	struct dart_zero_location location;
	struct watched watched;
	struct held_file held;

	if (!held_file__open(&held)) {
		assert_true(errno == ENODEV || errno == ENOENT);
		skip();
	}
	location = location_at(held.page, 1);
	watched = watch(getpid(), &location, 1);
	assert_unreadable(&watched);
	assert_false(held_file__is_asked(&held, 0));
	stop_watching(&watched);
	assert_true(held_file__holds(&held));
	held_file__close(&held);
}

#define BALANCING "/proc/sys/kernel/numa_balancing"
#define SCAN "/sys/kernel/debug/sched/numa_balancing/"

static void *burn(void *unused)
{
	for (;;)
		__atomic_fetch_add(common->words, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* With two threads, because the kernel looks where a process with one runs. */
static void burn_twice(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, burn, NULL);
	burn(NULL);
}

/* Times that the kernel took the mapping of a page away, to learn who uses it. */
static uint64_t mappings_taken(void)
{
	static const char name[] = "numa_pte_updates ";
	FILE *file = fopen("/proc/vmstat", "r");
	uint64_t number = 0;
	char line[128];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, sizeof(name) - 1))
			number = strtoull(line + sizeof(name) - 1, NULL, 10);
	fclose(file);
	return number;
}

static void test_balancing(void **state)
{
	struct dart_zero_location location;
	struct watched watched;
	uint64_t before;

	if (access(BALANCING, W_OK))
		skip();
	assert_int_equal(system("mount -t debugfs none /sys/kernel/debug 2>/dev/null; "
				"echo 1 >" BALANCING " && echo 1 >" SCAN "scan_delay_ms && "
				"echo 10 >" SCAN "scan_period_min_ms"),
			 0);
	unused = unused_memory();
	*unused = 61;
	location = location_at(unused, 1);
	before = mappings_taken();
	watched = watch(start_with(burn_twice, unused), &location, 1);
	for (int i = 0; i < 100 || mappings_taken() == before; i++)
		assert_readable(&watched, 61);
	end(watched.pid);
	stop_watching(&watched);
	munmap(unused, PAGE);
}

static int try(const struct watched *watched, struct dart_zero_record *record)
{
	struct dart_zero_record added = *record;

	return record_add(watched->region, &added);
}

static void test_refusals(void **state)
{
	static const struct dart_zero_piece piece = { .width = 8, .count = 1 };
	const struct dart_zero_location good = location_at(common->words, 1);
	const pid_t pid = start(wait_for_signals);
	struct watched watched = watch(pid, &good, 1);
	struct dart_zero_location location = good;
	struct dart_zero_record record =
		record_of_locations(pid, watched.pages, &location, 1, &piece);

	assert_int_equal(try(&watched, &record), 0);
	location.address += 4;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location = good;
	location.length = 12;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location.length = 0;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location.length = (DART_ZERO_RECORD_WORDS_MAX + 1) * 8;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location.length = UINT32_MAX - 7;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location = good;
	location.step_count = 3;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location = good;
	location.steps[0] = 8;
	assert_int_equal(try(&watched, &record), -EINVAL);
	location = good;

	record.locations = 0;
	assert_int_equal(try(&watched, &record), -EFAULT);
	record.locations = (uintptr_t)&location;
	record.location_count = 0;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.location_count = DART_ZERO_RECORD_WORDS_MAX + 1;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.location_count = 1;
	record.fd = 0;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.fd = -1;
	record.form = DART_ZERO_RECORD_COPIES;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.form = DART_ZERO_RECORD_SUM;
	record.source = DART_ZERO_SOURCE_MEMORY;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.source = DART_ZERO_SOURCE_PROCESS_MEMORY;
	record.pid = 0;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.pid = INT32_MAX;
	assert_int_equal(try(&watched, &record), -ESRCH);
	record.pid = UINT32_MAX;
	assert_int_equal(try(&watched, &record), -EINVAL);
	record.pid = 2; /* kthreadd has no memory */
	assert_int_equal(try(&watched, &record), -ESRCH);
	record.pid = pid;
	assert_int_equal(device_add_window(watched.region, DART_ZERO_SOURCE_PROCESS_MEMORY, NULL),
			 -EINVAL);

	end(pid);
	assert_int_equal(try(&watched, &record), -ESRCH);
	stop_watching(&watched);
}

static void test_capability(void **state)
{
	static const struct dart_zero_piece piece = { .width = 8, .count = 1 };
	const struct dart_zero_location location = location_at(common->words, 1);
	struct watched watched = watch(start(wait_for_signals), &location, 1);
	struct dart_zero_record record =
		record_of_locations(watched.pid, watched.pages, &location, 1, &piece);
	int region;

	capability_set(CAP_SYS_PTRACE, false);
	assert_int_equal(try(&watched, &record), -EPERM);
	region = device_open();
	capability_set(CAP_SYS_PTRACE, true);
	assert_int_equal(try(&watched, &record), 0);
	/* The opener may have mapped the region before it passes the descriptor on. */
	record.slab = record_pages_new(region, 1);
	assert_int_equal(record_add(region, &record), -EPERM);
	close(region);
	end(watched.pid);
	stop_watching(&watched);
}

static int share_memory(void **state)
{
	common = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return common == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("memory of a process is gathered, behind two pointers too, and while it is stopped",
		     test_values),
		TEST("words that a process changes meanwhile are whole", test_whole_words),
		TEST("a process that ends gives its memory back; the last values stay", test_end),
		TEST("the record of a process that executes another program is reported",
		     test_exec),
		TEST("pointers into the kernel, or to nothing, make the row empty", test_pointers),
		TEST("a page that is not in memory makes the row empty, and no fault is taken",
		     test_absent_pages),
		TEST("a page whose mapping NUMA balancing took away is read", test_balancing),
		TEST("a userfaultfd of the process hears of nothing", test_userfaultfd),
		TEST("a server of files in user space hears of nothing", test_fuse),
		TEST("malformed locations and processes that do not exist are refused",
		     test_refusals),
		TEST("a caller, or an opener, without CAP_SYS_PTRACE is refused", test_capability),
	};

	return cmocka_run_group_tests(tests, share_memory, NULL);
}
