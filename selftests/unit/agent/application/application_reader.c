// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of a program that runs: it is compiled, stripped, and described by dartctl, with a shared
 * object; then its memory is read while it changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/application/process.h"
#include "agent/application/reader.h"
#include "application_program.h"
#include "selftests/unit/unit.h"

struct fixture {
	char directory[32];
	struct dart_application_layout *layout;
	pid_t pid;
	int pidfd;
	FILE *orders, *answers;
};

static struct dart_error error;

/* ---- the program, and its layout */

static void write_file(const struct fixture *fixture, const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Runs a shell in the directory, with $dartctl. */
static void run(const struct fixture *fixture, const char *commands)
{
	char line[2048];

	snprintf(line, sizeof(line),
		 "dartctl=$PWD/.output/bin/dartctl; cc=${CC:-gcc}; cd %s || exit; set -e\n%s",
		 fixture->directory, commands);
	if (system(line))
		fail_msg("failed: %s", commands);
}

static struct dart_application_layout *load_layout(const struct fixture *fixture, const char *name)
{
	struct dart_application_layout *layout = NULL;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	file = fopen(path, "r");
	assert_non_null(file);
	if (dart_application_layout__load(file, path, &layout, &error))
		fail_msg("%s", error.text);
	fclose(file);
	return layout;
}

static int make_program(void **state)
{
	static struct fixture fixture = { .directory = "/tmp/application.XXXXXX" };

	*state = &fixture;
	assert_non_null(mkdtemp(fixture.directory));
	write_file(&fixture, "app.h", header_source);
	write_file(&fixture, "library.c", library_source);
	write_file(&fixture, "program.c", program_source);
	write_file(&fixture, "app.yaml", description);
	run(&fixture,
	    "$cc -g -O2 -fPIC -shared -Wl,-soname,libapp.so.1 -Wl,--build-id -o libapp.so.1 library.c\n"
	    "$cc -g -O2 -fno-eliminate-unused-debug-types -c -o types.o program.c\n"
	    "$cc -O2 -fPIE -pie -rdynamic -Wl,--build-id,-rpath,$PWD -o program program.c ./libapp.so.1\n"
	    "strip program libapp.so.1\n"
	    "$dartctl application describe --binary program --module libapp.so.1 "
	    "--types types.o --output app.layout app.yaml");
	fixture.layout = load_layout(&fixture, "app.layout");
	return 0;
}

static int remove_program(void **state)
{
	struct fixture *fixture = *state;

	dart_application_layout__free(fixture->layout);
	run(fixture, "rm -r \"$PWD\"");
	return 0;
}

static void expect_line(struct fixture *fixture, const char *expected)
{
	char line[32];

	assert_non_null(fgets(line, sizeof(line), fixture->answers));
	assert_string_equal(line, expected);
}

static int start(void **state)
{
	struct fixture *fixture = *state;
	int orders[2], answers[2];

	if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		return -1;
	fixture->pid = fork();
	if (!fixture->pid) {
		dup2(orders[0], 0);
		dup2(answers[1], 1);
		/* Each program that it executes has the same addresses. */
		personality(ADDR_NO_RANDOMIZE);
		if (!chdir(fixture->directory))
			execl("./program", "program", NULL);
		_exit(127);
	}
	close(orders[0]);
	close(answers[1]);
	fixture->orders = fdopen(orders[1], "w");
	fixture->answers = fdopen(answers[0], "r");
	fixture->pidfd = syscall(SYS_pidfd_open, fixture->pid, 0);
	assert_true(fixture->pidfd >= 0);
	expect_line(fixture, "ready\n");
	return 0;
}

static void order(struct fixture *fixture, const char *text)
{
	fprintf(fixture->orders, "%s\n", text);
	fflush(fixture->orders);
	expect_line(fixture, strcmp(text, "exec") && strcmp(text, "leave") ? "done\n" : "ready\n");
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	fclose(fixture->orders);
	fclose(fixture->answers);
	close(fixture->pidfd);
	kill(fixture->pid, SIGKILL);
	waitpid(fixture->pid, NULL, 0);
	return 0;
}

/* ---- reading */

/* An entry of the program. */
struct reading {
	const struct dart_application_entry *entry;
	struct application_process process;
	struct application_reader *reader;
	uint8_t *rows;
	struct application_row *fetched; /* two; NULL: all rows, whole */
};

static void open_reading(struct reading *reading, const struct fixture *fixture, uint32_t entry)
{
	*reading = (struct reading){ .entry = &fixture->layout->entries[entry] };
	if (application_process__attach(&reading->process, fixture->pidfd, fixture->layout, &error))
		fail_msg("%s", error.text);
	if (application_reader__new(&reading->reader, reading->entry, &error))
		fail_msg("%s", error.text);
	reading->rows = calloc(reading->entry->rows, reading->entry->schema->length);
	assert_non_null(reading->rows);
}

static int read_rows(struct reading *reading)
{
	return application_reader__read(reading->reader, &reading->process, reading->rows,
					reading->fetched, 2);
}

static void close_reading(struct reading *reading)
{
	application_process__detach(&reading->process);
	application_reader__free(reading->reader);
	free(reading->rows);
}

static const void *value_of(const struct reading *reading, uint32_t row, const char *name,
			    uint32_t width)
{
	const struct dart_field *field = dart_schema__find(reading->entry->schema, name);

	assert_non_null(field);
	assert_int_equal(field->width, width);
	return reading->rows + row * reading->entry->schema->length + field->offset;
}

static int64_t number_of(const struct reading *reading, uint32_t row, const char *name)
{
	int64_t number;

	memcpy(&number, value_of(reading, row, name, sizeof(number)), sizeof(number));
	return number;
}

static void test_values(void **state)
{
	struct reading reading;
	int32_t samples[3], waiting;
	uint32_t length;
	int16_t level;

	open_reading(&reading, *state, 0);
	assert_int_equal(read_rows(&reading), 0);
	memcpy(&level, value_of(&reading, 0, "level", 2), sizeof(level));
	assert_int_equal(level, -2);
	assert_string_equal(value_of(&reading, 0, "name", 10), "redis");
	assert_int_equal(number_of(&reading, 0, "inner"), 12);
	assert_int_equal(number_of(&reading, 0, "size"), -5);
	assert_int_equal(number_of(&reading, 0, "id"), 1LL << 40);
	memcpy(&length, value_of(&reading, 0, "length", 4), sizeof(length));
	assert_int_equal(length, 9);
	memcpy(samples, value_of(&reading, 0, "samples", 4), sizeof(samples));
	assert_int_equal(samples[0] + 10 * samples[1] + 100 * samples[2], 321);
	assert_int_equal(number_of(&reading, 0, "hidden"), 4711);
	/* of the shared object, with C11's _Atomic */
	assert_int_equal(number_of(&reading, 0, "jobs"), 77);
	memcpy(&waiting, value_of(&reading, 0, "waiting", 4), sizeof(waiting));
	assert_int_equal(waiting, -3);
	close_reading(&reading);
}

static void test_schema(void **state)
{
	const struct fixture *fixture = *state;
	const struct dart_schema *schema = fixture->layout->entries[0].schema;
	const struct dart_field *jobs = dart_schema__find(schema, "jobs");

	assert_int_equal(fixture->layout->module_count, 2);
	assert_string_equal(fixture->layout->modules[1].soname, "libapp.so.1");
	assert_string_equal(schema->name, "app");
	assert_int_equal(jobs->kind, DART_CONTROL_FIELD_COUNTER);
	assert_string_equal(jobs->unit, "jobs");
	assert_true(dart_schema__find(schema, "waiting")->is_signed);
	assert_int_equal(dart_schema__find(schema, "samples")->count, 3);
}

static void test_rows(void **state)
{
	struct reading reading;

	open_reading(&reading, *state, 1);
	assert_int_equal(reading.entry->rows, 3);
	assert_int_equal(read_rows(&reading), 0);
	assert_string_equal(value_of(&reading, 0, "name", 4), "get");
	assert_string_equal(value_of(&reading, 2, "name", 4), "del");
	assert_int_equal(number_of(&reading, 0, "calls"), 4);
	assert_int_equal(number_of(&reading, 1, "calls"), 5);
	assert_int_equal(number_of(&reading, 2, "calls"), 6);
	close_reading(&reading);
}

/* Texts that overlap, lie near each other and far away, in any order, and nowhere. */
static void test_neighbours(void **state)
{
	static const int offsets[] = { 40, 2, 0, -1, 9001, 19000, 4100, 2 };
	struct fixture *fixture = *state;
	struct reading reading;
	char wanted[24];
	int turn, row, at, i;

	open_reading(&reading, fixture, 2);
	for (turn = 0; turn < 3; turn++) {
		assert_int_equal(read_rows(&reading), 0);
		for (row = 0; row < 8; row++) {
			at = offsets[turn % 2 ? 7 - row : row];
			for (i = 0; i < 24; i++)
				wanted[i] = at < 0 ? 0 : 'a' + (at + i) % 23;
			assert_memory_equal(value_of(&reading, row, "word", 24), wanted, 24);
			assert_int_equal(number_of(&reading, row, "number"), row);
		}
		order(fixture, "turn");
	}
	close_reading(&reading);
}

static void test_turns(void **state)
{
	struct application_row rows[] = { { .row = 1 }, { .row = 2, .is_whole = true } };
	struct reading reading;

	open_reading(&reading, *state, 2);
	assert_int_equal(read_rows(&reading), 0);
	reading.fetched = rows;
	order(*state, "write");
	assert_int_equal(read_rows(&reading), 0);
	assert_int_equal(number_of(&reading, 0, "number"), 0);
	assert_int_equal(number_of(&reading, 1, "number"), 11);
	assert_int_equal(*(char *)value_of(&reading, 1, "word", 24), 'c');
	assert_int_equal(*(char *)value_of(&reading, 2, "word", 24), 'z');
	assert_true(rows[0].has_changed && rows[1].has_changed);
	assert_int_equal(read_rows(&reading), 0);
	assert_false(rows[0].has_changed || rows[1].has_changed);
	order(*state, "turn"); /* another pointer */
	assert_int_equal(read_rows(&reading), 0);
	assert_int_equal(*(char *)value_of(&reading, 1, "word", 24), 'z');
	close_reading(&reading);
}

static void test_changes(void **state)
{
	struct fixture *fixture = *state;
	struct reading reading;
	int i;

	open_reading(&reading, fixture, 0);
	for (i = 1; i <= 10; i++) {
		order(fixture, "count");
		assert_int_equal(read_rows(&reading), 0);
		assert_int_equal(number_of(&reading, 0, "jobs"), 77 + i);
		assert_int_equal(number_of(&reading, 0, "inner"), 12 + i);
		assert_int_equal(number_of(&reading, 0, "hidden"), 4711 + i);
	}
	assert_int_equal(kill(fixture->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(fixture->pid, NULL, WUNTRACED), fixture->pid);
	assert_int_equal(read_rows(&reading), 0);
	assert_int_equal(number_of(&reading, 0, "jobs"), 87);
	close_reading(&reading);
}

static void move(struct fixture *fixture, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "move %llx", (unsigned long long)address);
	order(fixture, text);
}

static void test_pointers(void **state)
{
	/* nothing is there; the kernel; the end of all addresses */
	static const uint64_t wrong[] = { 0x1000, 0xffffffff81000000, 0xfffffffffffffff8 };
	struct fixture *fixture = *state;
	struct reading reading;
	uint64_t list;
	size_t i;

	open_reading(&reading, fixture, 0);
	assert_int_equal(read_rows(&reading), 0);
	assert_int_equal(number_of(&reading, 0, "none"), 0);
	assert_int_equal(number_of(&reading, 0, "moves"), 0);
	/* the header of the executable is mapped: the word at offset 8 of it is zero */
	list = reading.process.bases[0];
	move(fixture, list);
	assert_int_equal(read_rows(&reading), 0);
	assert_int_equal(number_of(&reading, 0, "moves"), 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		move(fixture, wrong[i]);
		assert_int_equal(read_rows(&reading), -EFAULT);
	}
	move(fixture, list + 1);
	assert_int_equal(read_rows(&reading), -EFAULT);
	move(fixture, 0);
	assert_int_equal(read_rows(&reading), 0);
	close_reading(&reading);
}

static void test_unmapped(void **state)
{
	struct fixture *fixture = *state;
	struct reading reading;

	open_reading(&reading, fixture, 0);
	order(fixture, "unmap");
	assert_int_equal(read_rows(&reading), -EFAULT);
	close_reading(&reading);
}

static void test_exec(void **state)
{
	struct fixture *fixture = *state;
	struct reading reading;

	open_reading(&reading, fixture, 0);
	order(fixture, "exec");
	assert_int_equal(read_rows(&reading), -ESRCH);
	close_reading(&reading);
	/* the same program again */
	open_reading(&reading, fixture, 0);
	assert_int_equal(read_rows(&reading), 0);
	assert_int_equal(number_of(&reading, 0, "jobs"), 77);
	close_reading(&reading);
}

/* The memory of the first program lives on in a process that shares it. */
static void test_shared_memory(void **state)
{
	struct fixture *fixture = *state;
	struct reading reading;

	open_reading(&reading, fixture, 0);
	order(fixture, "leave");
	assert_int_equal(read_rows(&reading), -ESRCH);
	assert_false(application_process__lives(&reading.process));
	close_reading(&reading);
	open_reading(&reading, fixture, 0);
	assert_int_equal(read_rows(&reading), 0);
	close_reading(&reading);
}

/* Nor is a process that says that bytes which each program of this file has are its random ones. */
static void test_pretended_bytes(void **state)
{
	struct fixture *fixture = *state;
	struct reading reading;

	order(fixture, "pretend");
	open_reading(&reading, fixture, 0);
	assert_true(application_process__has_program(&reading.process));
	order(fixture, "leave");
	assert_true(application_process__lives(&reading.process));
	assert_false(application_process__has_program(&reading.process));
	close_reading(&reading);
}

static void test_end(void **state)
{
	struct fixture *fixture = *state;
	struct application_process process;
	struct reading reading;
	siginfo_t info;

	open_reading(&reading, fixture, 0);
	assert_int_equal(kill(fixture->pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, fixture->pid, &info, WEXITED | WNOWAIT), 0);
	/* a zombie */
	assert_int_equal(read_rows(&reading), -ESRCH);
	assert_int_equal(application_process__attach(&process, fixture->pidfd, fixture->layout,
						     &error),
			 -ESRCH);
	waitpid(fixture->pid, NULL, 0);
	assert_int_equal(read_rows(&reading), -ESRCH);
	assert_int_equal(application_process__attach(&process, fixture->pidfd, fixture->layout,
						     &error),
			 -ESRCH);
	assert_string_equal(error.text, "the process has ended, or executes another program");
	close_reading(&reading);
}

/* ---- layouts and programs that do not fit together */

static void assert_refused(const struct fixture *fixture, const char *reason)
{
	struct application_process process;

	assert_int_equal(application_process__attach(&process, fixture->pidfd, fixture->layout,
						     &error),
			 -ENOEXEC);
	if (!strstr(error.text, reason))
		fail_msg("'%s' does not say '%s'", error.text, reason);
}

static void test_other_build(void **state)
{
	struct fixture *fixture = *state;
	struct dart_application_build_id id, *own;
	uint32_t i;

	assert_int_equal(application_process__build_id(fixture->pidfd, &id, NULL, &error), 0);
	assert_true(dart_application_build_id__equals(&id, &fixture->layout->modules[0].build_id));
	for (i = 0; i < 2; i++) {
		own = &fixture->layout->modules[i].build_id;
		own->bytes[0] ^= 1;
		assert_refused(fixture, i ? "libapp.so.1 of process" : "the executable of process");
		assert_non_null(strstr(error.text, "make one for this build"));
		own->bytes[0] ^= 1;
	}
}

static void test_missing_module(void **state)
{
	struct fixture *fixture = *state;
	char *soname = fixture->layout->modules[1].soname;

	fixture->layout->modules[1].soname = "libother.so.2";
	assert_refused(fixture, "has not loaded 'libother.so.2'");
	fixture->layout->modules[1].soname = soname;
}

static void test_checks(void **state)
{
	struct fixture *fixture = *state;
	struct application_process process;

	fixture->layout->checks[0].equals = 4;
	assert_refused(fixture, "3 instead of 4 (the program is of another version)");
	fixture->layout->checks[0].equals = 3;
	/* a build that only the checks prove */
	fixture->layout->modules[0].build_id.length = 0;
	assert_int_equal(
		application_process__attach(&process, fixture->pidfd, fixture->layout, &error), 0);
	application_process__detach(&process);
	fixture->layout->modules[0].build_id = fixture->layout->modules[1].build_id;
	assert_refused(fixture, "the executable of process");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("a layout has the fields of its description", test_schema),
		TEST_FIXTURE("values of a stripped program and its shared object are its own",
			     test_values, start, stop),
		TEST_FIXTURE("elements of an array are rows", test_rows, start, stop),
		TEST_FIXTURE("texts that overlap, are near or far or nowhere are whole",
			     test_neighbours, start, stop),
		TEST_FIXTURE("rows rest, texts with their pointer", test_turns, start, stop),
		TEST_FIXTURE("values follow the program, also stopped", test_changes, start, stop),
		TEST_FIXTURE("values behind NULL are 0, behind wrong pointers errors",
			     test_pointers, start, stop),
		TEST_FIXTURE("memory that the program has unmapped is an error", test_unmapped,
			     start, stop),
		TEST_FIXTURE("a program that was executed instead is not read", test_exec, start,
			     stop),
		TEST_FIXTURE("nor if another process keeps the memory of the program before",
			     test_shared_memory, start, stop),
		TEST_FIXTURE("nor if the process has chosen bytes that both programs have",
			     test_pretended_bytes, start, stop),
		TEST_FIXTURE("a process that has ended is not read", test_end, start, stop),
		TEST_FIXTURE("another build is refused", test_other_build, start, stop),
		TEST_FIXTURE("a module that is not loaded is missed", test_missing_module, start,
			     stop),
		TEST_FIXTURE("checks prove the build", test_checks, start, stop),
	};

	return cmocka_run_group_tests_name("application_reader", tests, make_program,
					   remove_program);
}
