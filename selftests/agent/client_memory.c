// SPDX-License-Identifier: GPL-2.0-only
/* Memory that processes create and hand to dartd, which a service manager starts and restarts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/registration/descriptor.h>

#include "selftests/lib/command.h"
#include "selftests/lib/device.h"
#include "selftests/lib/host_reads.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/registration.h"
#include "selftests/lib/test.h"

#define NOBODY 65534
/* Memories of a user that the service manager keeps, as agent/table/client_memory_kept.h says. */
#define KEPT_OF_USER 32

/* The seals that dartd demands on this kernel. */
static int seals(void)
{
	struct utsname host;
	int major = 0, minor = 0;

	uname(&host);
	sscanf(host.release, "%d.%d", &major, &minor);
	return F_SEAL_SHRINK | F_SEAL_GROW | (major > 6 || minor >= 2 ? F_SEAL_FUTURE_WRITE : 0);
}

/* A memfd of @size bytes, mapped at *@memory, with these seals. */
static int create(size_t size, int wanted, unsigned int flags, volatile uint64_t **memory)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	void *mapped = NULL;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	if (memory) {
		mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_true(mapped != MAP_FAILED);
		*memory = mapped;
	}
	assert_int_equal(fcntl(fd, F_ADD_SEALS, wanted), 0);
	return fd;
}

/*
 * Registers a slice of 64 bytes, with members @more of the request.  Returns "", or the sentence of
 * the refusal until the next call.  *@proof: the descriptor that came with the reply, or -1.
 */
static const char *ask_for(const char *name, int offset, const char *more, int fd, int *proof)
{
	int socket = registration__connect();
	static char message[512];
	char request[512], line[4096];
	ssize_t length;
	json_t *reply;

	snprintf(request, sizeof(request),
		 "{\"request\": \"new-slice\", \"name\": \"%s\", \"offset\": %d, %s"
		 "\"schema\": {\"name\": \"work\", \"length\": 64, \"fields\": ["
		 "{\"name\": \"done\", \"offset\": 0, \"width\": 8, "
		 "\"kind\": \"counter\"}]}}\n",
		 name, offset, more);
	registration__send(socket, request, strlen(request), &fd, 1);
	length = dart_descriptor__receive(socket, line, sizeof(line), 0, proof, NULL);
	assert_true(length > 0 && line[length - 1] == '\n');
	reply = json_loadb(line, length, 0, NULL);
	assert_non_null(reply);
	*message = '\0';
	if (!registration__is_ok(reply))
		snprintf(message, sizeof(message), "%s",
			 json_string_value(json_object_get(reply, "message")));
	json_decref(reply);
	close(socket);
	return message;
}

static const char *ask(const char *name, int offset, int fd, int *proof)
{
	return ask_for(name, offset, "", fd, proof);
}

/* The first word of the entry @name, as controllers on this machine READ it. */
static struct dart_read first_of(struct dart_endpoint *endpoint, const char *name)
{
	struct dart_table *table = host_reads__table(endpoint);
	const struct dart_range *range = NULL;
	struct dart_read read;

	for (uint32_t i = 0; i < table->entry_count; i++)
		if (!strcmp(table->entries[i].name, name))
			range = table->entries[i].ranges;
	assert_non_null(range);
	read = (struct dart_read){
		.address = range->address,
		.rkey = table->memory_regions[range->memory_region].rkey,
		.length = sizeof(uint64_t),
	};
	dart_table__free(table);
	return read;
}

/* Where controllers READ the entry @name; its first word lands in *@value. */
static uint64_t address_of(const char *name, uint64_t *value)
{
	struct dart_endpoint *endpoint = host_reads__connect("localhost");
	const struct dart_read read = first_of(endpoint, name);
	void *landing;

	assert_int_equal(host_reads__read(endpoint, &read, 0, &landing), 1);
	memcpy(value, landing, sizeof(*value));
	dart_endpoint__free(endpoint);
	return read.address;
}

/* Can a controller READ the first word of the entry @name with bytes before and after it? */
static bool is_readable(const char *name, uint32_t before, uint32_t after)
{
	struct dart_endpoint *endpoint = host_reads__connect("localhost");
	struct dart_read read = first_of(endpoint, name);
	void *landing;
	int ret;

	read.address -= before;
	read.length += before + after;
	ret = host_reads__read(endpoint, &read, 0, &landing);
	assert_true(ret == 1 || ret == -EACCES);
	dart_endpoint__free(endpoint);
	return ret == 1;
}

/* ---- a process that owns memory */

struct owner {
	pid_t pid;
	int tell, hear;
};

static void owner__run(const char *name, int slices, const struct owner *owner)
{
	volatile uint64_t *memory;
	int fd = create(PAGE, seals(), 0, &memory), proof;
	char slice[64], byte;

	for (int i = 0; i < slices; i++) {
		memory[i * 8] = 1000 + i;
		snprintf(slice, sizeof(slice), "%s-%d", name, i);
		if (*ask(slice, i * 64, fd, &proof) || (proof >= 0) != !i)
			_exit(1);
	}
	close(fd);
	do {
		if (write(owner->hear, "", 1) != 1 || read(owner->tell, &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < slices; i++)
			memory[i * 8] += 1000;
	} while (true);
}

static void owner__await(const struct owner *owner)
{
	char byte;

	assert_int_equal(read(owner->hear, &byte, 1), 1);
}

/* Adds 1000 to all counters. */
static void owner__count(const struct owner *owner)
{
	assert_int_equal(write(owner->tell, "", 1), 1);
	owner__await(owner);
}

static struct owner owner__start(const char *name, int slices)
{
	struct owner owner, child;
	int down[2], up[2];

	assert_int_equal(pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC), 0);
	child = (struct owner){ .tell = down[0], .hear = up[1] };
	owner = (struct owner){ .tell = down[1], .hear = up[0] };
	owner.pid = fork();
	if (!owner.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(down[1]);
		close(up[0]);
		owner__run(name, slices, &child);
	}
	close(down[0]);
	close(up[1]);
	owner__await(&owner);
	return owner;
}

static void owner__end(struct owner *owner)
{
	kill(owner->pid, SIGKILL);
	waitpid(owner->pid, NULL, 0);
	close(owner->tell);
	close(owner->hear);
}

/* Waits for an answer of a dartd that began after /run/killed was written. */
static void await_another(void)
{
	run("for i in $(seq 300); do [ /run/dart/dartd.sock -nt /run/killed ] && "
	    "exec dartctl status >/dev/null; sleep 0.1; done; exit 1");
}

static void start_again(void)
{
	run(": >/run/killed && host_down KILL");
	await_another();
}

/* Descriptors of memory, called @name, that the service manager keeps. */
static int kept(const char *name)
{
	char command[256];
	int count = -1;
	FILE *out;

	snprintf(command, sizeof(command),
		 "find /proc/$(pidof service_manager)/fd -lname '/memfd:%s *' | wc -l", name);
	out = popen(command, "r");
	assert_int_equal(fscanf(out, "%d", &count), 1);
	pclose(out);
	return count;
}

static bool becomes_kept(const char *name, int wanted)
{
	for (int i = 0; i < 1000; i++) {
		if (kept(name) == wanted)
			return true;
		usleep(100000);
	}
	return false;
}

/* ---- the tests */

static void test_values(void **state)
{
	const long regions = leftovers__rdma("mr");
	struct owner owner = owner__start("work", 3);
	uint64_t first, last;

	assert_int_equal(leftovers__rdma("mr"), regions + 1);
	assert_int_equal(registration__done("work-2"), 1002);
	owner__count(&owner);
	assert_int_equal(registration__done("work-2"), 2002);
	assert_int_equal(address_of("work-2", &last) - address_of("work-0", &first), 128);
	assert_int_equal(first, 2000);
	assert_int_equal(last, 2002);
	owner__end(&owner);
	assert_true(registration__becomes_absent("work-0") &&
		    registration__becomes_absent("work-2"));
	/* The lease ends later. */
	for (int i = 0; i < REGISTRATION_LEASE_SECONDS_MAX * 10 && leftovers__rdma("mr") != regions;
	     i++)
		usleep(100000);
	assert_int_equal(leftovers__rdma("mr"), regions);
}

static void test_exact(void **state)
{
	static const char exact[] = "\"exposure\": \"exact\", ";
	volatile uint64_t *memory;
	int fd = create(PAGE, seals(), 0, &memory), proof, none;
	uint64_t value;

	memory[8] = 5;
	assert_string_equal(ask_for("field", 64, exact, fd, &proof), "");
	assert_true(proof >= 0);
	address_of("field", &value);
	assert_int_equal(value, 5);
	assert_true(is_readable("field", 0, 0));
	assert_false(is_readable("field", 0, 1) || is_readable("field", 1, 0));
	assert_true(strstr(ask_for("field", 64, "\"exposure\": \"page\", ", fd, &none),
			   "'exposure' is not"));

	/* The next dartd exposes no more. */
	assert_true(becomes_kept("test", 1));
	start_again();
	memory[8] = 6;
	address_of("field", &value);
	assert_int_equal(value, 6);
	assert_false(is_readable("field", 0, 1) || is_readable("field", 1, 0));

	/* A slice without the wish opens the memory. */
	assert_string_equal(ask("open", 128, fd, &none), "");
	assert_true(is_readable("open", 64, 64));
	assert_false(is_readable("field", 0, 1));
	close(proof);
	assert_true(registration__becomes_absent("field"));
	munmap((void *)memory, PAGE);
	close(fd);
}

static void test_restart(void **state)
{
	struct owner owner = owner__start("stays", 40), other = owner__start("ends", 2);
	uint64_t before[3], after[3], value;
	json_t *reply;

	before[0] = address_of("stays-0", &value);
	before[1] = address_of("stays-39", &value);
	assert_true(becomes_kept("test", 2));
	run(": >/run/killed && kill -STOP \"$(pidof service_manager)\" && host_down KILL");
	owner__count(&owner);
	owner__end(&other);
	run("kill -CONT \"$(pidof service_manager)\"");
	await_another();
	assert_int_equal(registration__done("stays-39"), 2039);
	assert_int_equal(registration__done("ends-0"), -1);
	after[0] = address_of("stays-0", &value);
	assert_int_equal(value, 2000);
	after[1] = address_of("stays-39", &value);
	assert_int_equal(value, 2039);
	assert_int_equal(before[0], after[0]);
	assert_int_equal(before[1], after[1]);
	assert_true(becomes_kept("test", 1));

	/* A removed slice stays removed, and the others come again. */
	reply = registration__ask_about("unregister", "stays-1", -1);
	assert_true(registration__is_ok(reply));
	json_decref(reply);
	for (int i = 0; i < 3; i++)
		start_again();
	owner__count(&owner);
	assert_int_equal(registration__done("stays-1"), -1);
	assert_int_equal(registration__done("stays-2"), 3002);
	assert_int_equal(before[1], address_of("stays-39", &value));
	owner__end(&owner);
	assert_true(registration__becomes_absent("stays-0"));
	assert_true(becomes_kept("test", 0));
	assert_true(becomes_kept("dart_notes", 0));
}

/* Asks with @fd, which dartd refuses with @sentence, and closes @fd. */
static void refused(int fd, const char *sentence)
{
	int proof;
	const char *said = ask("refused", 0, fd, &proof);

	assert_int_equal(proof, -1);
	if (!strstr(said, sentence))
		fail_msg("it says '%s', not '%s'", said, sentence);
	close(fd);
}

static void test_refused(void **state)
{
	char *before = registration__list(), *after;
	volatile uint64_t *memory;
	int fd, proof, none, ends[2];

	refused(create(PAGE, F_SEAL_SHRINK, 0, NULL), "is not sealed");
	refused(create(PAGE, F_SEAL_GROW, 0, NULL), "is not sealed");
	refused(create(PAGE, seals() ^ F_SEAL_SHRINK, 0, NULL), "is not sealed");
	refused(create(PAGE, 0, 0, NULL), "is not sealed");
	refused(create(PAGE + 1, seals(), 0, NULL), "whole pages");
	refused(create(0, seals(), 0, NULL), "whole pages");
	refused(create((DART_REGISTRATION_MEMORY_PAGES_MAX + 1) * PAGE, seals(), 0, NULL),
		"whole pages");
	refused(create((size_t)1 << 40, seals(), 0, NULL), "whole pages");
	refused(create(2 << 20, seals(), MFD_HUGETLB, NULL), "huge pages");
	assert_int_equal(pipe(ends), 0);
	refused(ends[0], "not the descriptor of a slice");
	refused(open("/dev/zero", O_RDWR), "not the descriptor of a slice");
	refused(open("/run/file", O_RDWR | O_CREAT | O_TRUNC, 0600), "is not sealed");
	fd = create(PAGE, seals(), 0, &memory);
	assert_string_equal(ask("first", 0, fd, &proof), "");
	assert_true(strstr(ask("a", 32, fd, &none), "multiple of 64"));
	assert_true(strstr(ask("a", 0, fd, &none), "registered already"));
	assert_true(strstr(ask("a", PAGE, fd, &none), "end behind the memory"));
	run("chmod 666 /run/dart/dartd.sock");
	assert_int_equal(seteuid(NOBODY), 0);
	assert_true(strstr(ask("a", 64, fd, &none), "has slices of user"));
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(registration__done("first"), 0);
	memory[0] = 7;
	assert_int_equal(registration__done("first"), 7);
	/* The descriptor that came with the reply counts alone. */
	close(proof);
	assert_true(registration__becomes_absent("first"));
	munmap((void *)memory, PAGE);
	close(fd);
	after = registration__list();
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void test_many(void **state)
{
	int proofs[3 * KEPT_OF_USER], fd, i;
	char name[32];

	run("chmod 666 /run/dart/dartd.sock");
	assert_int_equal(seteuid(NOBODY), 0);
	for (i = 0; i < 3 * KEPT_OF_USER; i++) {
		fd = create(PAGE, seals(), 0, NULL);
		snprintf(name, sizeof(name), "many-%d", i);
		assert_string_equal(ask(name, 0, fd, &proofs[i]), "");
		close(fd);
	}
	assert_int_equal(seteuid(0), 0);
	assert_true(becomes_kept("test", KEPT_OF_USER));
	for (i = 0; i < 3 * KEPT_OF_USER; i++)
		close(proofs[i]);
	assert_true(registration__becomes_absent("many-0"));
	assert_true(registration__becomes_absent(name));
	assert_true(becomes_kept("test", 0));
}

static int start(void **state)
{
	run("rm -rf /var/lib/dart; rdma_up && "
	    "if [ \"${GATHERER-auto}\" = auto ]; then modprobe dart_zero; "
	    "else mkdir -p /etc/dart/dartd.d && "
	    "echo \"gatherer: $GATHERER\" >/etc/dart/dartd.d/gatherer.yaml; fi && "
	    "until_ready /run/dartd.log service_manager dartd");
	return 0;
}

static int stop(void **state)
{
	run("host_down TERM 'service_manager|dartd'; "
	    "rm -f /run/file; sed 's/^/# /' /run/dartd.log; ! pidof service_manager");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("slices in memory of a process show its values over the socket and to READs, and end with the process",
		     test_values),
		TEST("of an exact slice controllers READ the fields, and no byte beside them, also from the next dartd",
		     test_exact),
		TEST("after dartd is killed the next one has the slices at the same addresses, without a request, but not slices of processes that ended and slices that were removed",
		     test_restart),
		TEST("memory that is not sealed, too large, empty, of huge pages or no memory is refused with a reason",
		     test_refused),
		TEST("a user can hand over many memories, but the service manager keeps only some of them",
		     test_many),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
