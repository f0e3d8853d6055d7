// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that knows nothing of dart-zero, but for its checks: its exported variables are shown
 * by libdartzero-preload, with the layout that preload_program.yaml describes.
 *
 * preload_program check: looks at its own memory, and exits with 1 at the first difference.
 *
 * preload_program plain: exits with 1 if its memory is shown.
 *
 * preload_program daemon setsid|daemon: becomes a daemon, and checks that its memory is shown
 * again; writes "ok" to standard output.
 *
 * preload_program forks twice|first|own: becomes a daemon by two forks, with setsid() between them
 * or after them; or has a child whose parent lives on.  Writes the number of the process that is the
 * daemon, or of the child, and of its session to standard output, and ends with its input.
 *
 * preload_program serve: closes all descriptors that it did not open, then adds what each line of
 * standard input says, NUMBER, to its counter, prints it, and ends with its input.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "zero_checks.h"

struct numbers {
	char *secret;
	uint64_t count;
	int32_t balance;
	uint16_t small[3];
	char name[20];
	uint64_t *behind;
};

static uint64_t heap_value = 5;

/* In .data and .bss, in read-only memory, and in memory that becomes read-only. */
struct numbers numbers = { "secret", 7, -3, { 1, 2, 3 }, "preload", &heap_value };
struct many {
	uint64_t values[3000];
} large;
const uint64_t constant = 11;
uint64_t *const relocated = &heap_value;
static char secret_text[64] = "a secret of the program";

/* The range of /proc/self/maps with @address; the path, or "". */
static const char *mapping_of(const void *address, unsigned long *first, unsigned long *offset)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long end;
	static char path[64];
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %63s", first, &end, offset, path) >= 3 &&
		    *first <= (unsigned long)address && (unsigned long)address < end)
			break;
	}
	if (file)
		fclose(file);
	return path;
}

static int is_shared(const void *address)
{
	unsigned long first, offset;

	return !strncmp(mapping_of(address, &first, &offset), "/memfd:dart_zero", 16);
}

/* @variable as controllers see it. */
static const void *seen(const void *variable)
{
	const long page = sysconf(_SC_PAGESIZE);
	unsigned long first, offset, at = (unsigned long)variable & -page;
	int fd = open_memfd();
	char *view;

	CHECK(is_shared(variable) && fd >= 0);
	mapping_of(variable, &first, &offset);
	view = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, offset + at - first);
	CHECK(view != MAP_FAILED);
	CHECK(mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(ftruncate(fd, 0));
	close(fd);
	return view + ((unsigned long)variable - at);
}

static void check_values(const struct numbers *shown)
{
	const uint64_t *last = seen(&large.values[2999]);
	struct numbers copy;
	int memory;

	CHECK(shown->count == 7 && shown->balance == -3 && shown->small[2] == 3);
	CHECK(!strcmp(shown->name, "preload"));
	numbers.count++;
	numbers.balance = -4;
	large.values[2999] = 77;
	CHECK(shown->count == 8 && shown->balance == -4 && *last == 77);
	/* Pages beside the variables of the layout stay as they were. */
	CHECK(!is_shared(&constant) && !is_shared(&relocated) && !is_shared(&large.values[1500]));
	/* Debuggers read it. */
	memory = open("/proc/self/mem", O_RDONLY);
	CHECK(pread(memory, &copy, sizeof(copy), (off_t)(uintptr_t)&numbers) == sizeof(copy));
	CHECK(copy.count == 8 && copy.secret == numbers.secret);
	close(memory);
}

/* Starts a program as shells and libraries do, with the memory of this process until it begins. */
static void run_in_session(void)
{
	int status;
	pid_t child = vfork();

	if (!child) {
		setsid();
		execle("/bin/true", "true", NULL, (char *[]){ NULL });
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

/* A child has the bytes of the moment of fork(), and writes to its own copy. */
static void check_fork(const struct numbers *shown)
{
	int status, go[2];
	pid_t child;
	char byte;

	CHECK(!pipe(go));
	numbers.count = 100;
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) != 1 || numbers.count != 100 || is_shared(&numbers))
			_exit(1);
		numbers.count = 200;
		/* Of a child that has a private copy as any program has. */
		child = fork();
		if (!child)
			_exit(numbers.count != 200);
		if (waitpid(child, &status, 0) != child || status)
			_exit(2);
		run_in_session();
		_exit(is_shared(&numbers) || open_memfd() >= 0 ? 3 : 0);
	}
	numbers.count = 101;
	CHECK(write(go[1], "", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(numbers.count == 101 && shown->count == 101);
	close(go[0]);
	close(go[1]);
}

/* A child that no handler of fork() saw ends at its first access, and its parent lives. */
static void check_raw_clone(const struct numbers *shown)
{
	int status;
	pid_t child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child) {
		*(volatile uint64_t *)&numbers.count = 5;
		syscall(SYS_exit_group, 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK(shown->count == 101);
}

static int check_all(void)
{
	const struct numbers *shown = seen(&numbers);
	sigset_t blocked;

	check_descriptors();
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &blocked) && !sigismember(&blocked, SIGTERM));
	check_values(shown);
	check_signals(1);
	check_fork(shown);
	check_raw_clone(shown);
	run_in_session();
	numbers.count = 102;
	CHECK(shown->count == 102);
	return 0;
}

static int become_daemon(const char *how)
{
	const struct numbers *shown;
	pid_t child;
	int status;

	numbers.count = 50;
	if (!strcmp(how, "daemon")) {
		CHECK(!daemon(1, 1));
	} else {
		if (fork())
			_exit(0);
		CHECK(!is_shared(&numbers) && setsid() == getpid());
	}
	shown = seen(&numbers);
	CHECK(shown->count == 50);
	numbers.count++;
	CHECK(shown->count == 51 && setsid() < 0 && errno == EPERM);
	/* The first child of a session may be the daemon. */
	child = fork();
	if (!child)
		_exit(numbers.count != 51);
	CHECK(waitpid(child, &status, 0) == child && !status);
	check_fork(shown);
	puts("ok");
	return 0;
}

static int fork_twice(const char *how)
{
	char line[64];
	pid_t child;

	numbers.count = 60;
	if (fork())
		_exit(0);
	if (strcmp(how, "first"))
		CHECK(setsid() == getpid());
	numbers.count++;
	child = fork();
	if (child && !strcmp(how, "own"))
		return waitpid(child, NULL, 0) != child;
	if (child)
		_exit(0);
	if (!strcmp(how, "first"))
		CHECK(setsid() == getpid());
	CHECK(numbers.count == 61);
	numbers.count++;
	printf("%d %d\n", getpid(), getsid(0));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		CHECK(setsid() == getpid() || errno == EPERM);
	return 0;
}

static int serve(void)
{
	uint64_t number;

	syscall(SYS_close_range, 3, ~0U, 0);
	while (scanf("%lu", &number) == 1) {
		numbers.count += number;
		printf("%lu\n", numbers.count);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	/* A use that never runs keeps compilers from removing the variables. */
	if (argc > 9)
		puts(secret_text + constant + (relocated == NULL));
	if (argc == 2 && !strcmp(argv[1], "check"))
		return check_all();
	if (argc == 2 && !strcmp(argv[1], "plain"))
		return is_shared(&numbers) || open_memfd() >= 0;
	if (argc == 3 && !strcmp(argv[1], "daemon"))
		return become_daemon(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "forks"))
		return fork_twice(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	fprintf(stderr, "usage: preload_program check | plain | daemon HOW | forks HOW | serve\n");
	return 2;
}
