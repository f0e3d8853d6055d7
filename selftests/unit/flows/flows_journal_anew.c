// SPDX-License-Identifier: GPL-2.0-only
/*
 * A journal that is written anew while flows begin and end: killed at any instant, ended at any
 * stage, and without a place for the new file.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/flows/journal/journal.h"

static char directory[] = "/tmp/flows_journal.XXXXXX";
static char path[64], fresh[80];

#define FLOWS 2000
#define MOST 1000 /* at a time */
#define FIRST_PORT 4000

/* What a process with a journal has, as a process sees that outlives it. */
struct model {
	uint64_t changes; /* that the journal has */
	uint64_t stages; /* of writing anew, that have ended */
	uint64_t renewals; /* files that were written anew */
	bool is_live[FLOWS];
	long changing; /* the flow whose record may be there or not; -1: none */
};

/* Of the process itself. */
struct writer {
	struct model *model;
	struct journal *journal;
	uint64_t numbers[FLOWS]; /* in the order in which they began */
	uint64_t begun;
	unsigned int live;
	uint64_t random;
	/* of the source */
	uint64_t begun_before;
	size_t place;
};

static struct journal_record record_of(size_t flow)
{
	return (struct journal_record){
		.operation = JOURNAL_BEGIN,
		.protocol = 17,
		.inside = 0x0a000001,
		.inside_port = FIRST_PORT + flow,
		.outside = 0xcb007101,
		.outside_port = 2000 + flow,
		.remote = 0xc6336401,
		.remote_port = 53,
	};
}

static unsigned int random_below(struct writer *writer, unsigned int limit)
{
	writer->random = writer->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (writer->random >> 33) % limit;
}

static int next_flow(void *subject, struct journal_record *record)
{
	struct writer *writer = subject;
	const struct model *model = writer->model;

	while (writer->place < FLOWS && (!model->is_live[writer->place] ||
					 writer->numbers[writer->place] > writer->begun_before))
		writer->place++;
	if (writer->place == FLOWS)
		return 0;
	*record = record_of(writer->place++);
	return 1;
}

static void begin_anew(struct writer *writer)
{
	const struct journal_source source = { next_flow, writer };
	struct dart_error error;

	writer->place = 0;
	writer->begun_before = writer->begun;
	if (journal__begin_anew(writer->journal, &source, &error))
		fail_msg("%s", error.text);
}

/* A flow begins or ends; the journal has it when this returns. */
static void change(struct writer *writer)
{
	const size_t flow = random_below(writer, FLOWS);
	struct model *model = writer->model;
	struct journal_record record = record_of(flow);
	struct dart_error error;

	if (!model->is_live[flow] && writer->live == MOST)
		return;
	model->changing = flow;
	record.operation = model->is_live[flow] ? JOURNAL_END : JOURNAL_BEGIN;
	journal__add(writer->journal, &record);
	if (journal__write(writer->journal, &error))
		fail_msg("%s", error.text);
	model->is_live[flow] = !model->is_live[flow];
	writer->live += model->is_live[flow] ? 1 : -1;
	if (model->is_live[flow])
		writer->numbers[flow] = ++writer->begun;
	model->changing = -1;
	model->changes++;
}

static void wait_for_task(const struct writer *writer)
{
	struct pollfd done = { .fd = journal__fd(writer->journal), .events = POLLIN };

	assert_int_equal(poll(&done, 1, -1), 1);
}

/* Goes on, if the journal can. */
static int proceed(struct writer *writer, struct dart_error *error)
{
	struct pollfd done = { .fd = journal__fd(writer->journal), .events = POLLIN };

	if (poll(&done, 1, 0) != 1)
		return 1;
	writer->model->stages++;
	return journal__proceed(writer->journal, error);
}

static void ignore(void *subject, const struct journal_record *record)
{
}

/* The next process, which has the flows of the model. */
static void open_writer(struct writer *writer, struct model *model, uint64_t seed)
{
	const struct journal_source source = { next_flow, writer };
	struct journal_found found;
	struct dart_error error;
	size_t i;

	*writer = (struct writer){ .model = model, .random = seed };
	for (i = 0; i < FLOWS; i++)
		writer->live += model->is_live[i];
	if (journal__open(path, ignore, NULL, &writer->journal, &found, &error) ||
	    journal__compact(writer->journal, &source, &error))
		fail_msg("%s", error.text);
}

/* As a daemon does, until it is killed. */
static void write_for_ever(struct model *model, uint64_t seed)
{
	struct writer writer;
	struct dart_error error;
	int ret = 0;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() == 1)
		_exit(1);
	open_writer(&writer, model, seed);
	while (ret >= 0) {
		if (!ret)
			begin_anew(&writer);
		change(&writer);
		ret = proceed(&writer, &error);
		model->renewals += !ret;
	}
	_exit(1);
}

/* Without flows, and without a journal. */
static struct model *new_model(void)
{
	struct model *model = mmap(NULL, sizeof(*model), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(model != MAP_FAILED);
	model->changing = -1;
	unlink(path);
	return model;
}

/* What the next process knows. */
struct known {
	bool is_live[FLOWS];
	unsigned int live, most;
};

static void know(void *subject, const struct journal_record *record)
{
	const size_t flow = record->inside_port - FIRST_PORT;
	const bool begins = record->operation == JOURNAL_BEGIN;
	struct known *known = subject;

	assert_true(flow < FLOWS);
	known->live += (begins && !known->is_live[flow]) - (!begins && known->is_live[flow]);
	known->is_live[flow] = begins;
	if (known->live > known->most)
		known->most = known->live;
}

/* Has the journal all flows of the model, and no other one? */
static void check_known(struct model *model)
{
	struct known known = {};
	struct journal_found found;
	struct journal *journal;
	struct dart_error error;
	size_t i;

	if (journal__open(path, know, &known, &journal, &found, &error))
		fail_msg("%s", error.text);
	journal__close(journal);
	assert_false(found.is_set_aside);
	/* A function would have no place for more, and would pass over others. */
	assert_in_range(known.most, 0, MOST);
	for (i = 0; i < FLOWS; i++) {
		if ((long)i == model->changing)
			model->is_live[i] = known.is_live[i];
		else
			assert_int_equal(known.is_live[i], model->is_live[i]);
	}
	model->changing = -1;
}

#define KILLS 40
#define STAGES_MAX 20 /* and then so many changes, before a kill */
#define CHANGES_MAX 300

static uint64_t load(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Returns whether the process lives when the model has this count. */
static bool wait_for_count(pid_t writer, const uint64_t *count, uint64_t wanted)
{
	int status;

	while (load(count) < wanted)
		if (waitpid(writer, &status, WNOHANG))
			return false;
	return true;
}

static void test_killed_at_any_instant(void **state)
{
	struct model *model = new_model();
	struct writer dice = { .random = 36 };
	pid_t writer;
	int i;

	for (i = 0; i < KILLS; i++) {
		const uint64_t stages = model->stages + random_below(&dice, STAGES_MAX);

		writer = fork();
		if (!writer)
			write_for_ever(model, i);
		assert_true(wait_for_count(writer, &model->stages, stages));
		assert_true(
			wait_for_count(writer, &model->changes,
				       load(&model->changes) + random_below(&dice, CHANGES_MAX)));
		kill(writer, SIGKILL);
		assert_int_equal(waitpid(writer, NULL, 0), writer);
		check_known(model);
	}
	print_message("# %lu files were written anew, with %lu changes meanwhile\n",
		      (unsigned long)model->renewals, (unsigned long)model->changes);
	assert_true(model->renewals > KILLS / 4);
	munmap(model, sizeof(*model));
}

/* Until it has ended. */
static int proceed_to_the_end(struct writer *writer, struct dart_error *error)
{
	int ret;

	do {
		change(writer);
		ret = proceed(writer, error);
	} while (ret > 0);
	return ret;
}

static void test_no_place_for_the_next_file(void **state)
{
	struct model *model = new_model();
	struct writer writer;
	struct dart_error error;
	int i;

	open_writer(&writer, model, 1);
	for (i = 0; i < 5000; i++)
		change(&writer);
	assert_int_equal(mkdir(fresh, 0700), 0);
	begin_anew(&writer);
	assert_true(proceed_to_the_end(&writer, &error) < 0);
	assert_non_null(strstr(error.text, fresh));
	assert_int_equal(rmdir(fresh), 0);
	journal__close(writer.journal);
	check_known(model);

	munmap(model, sizeof(*model));
}

static void test_ended_at_any_stage(void **state)
{
	struct model *model = new_model();
	struct dart_error error;
	struct writer writer;
	int stages, i;

	for (stages = 0; stages < 12; stages++) {
		open_writer(&writer, model, stages);
		for (i = 0; i < 1000; i++)
			change(&writer);
		begin_anew(&writer);
		for (i = 0; i < stages && journal__is_anew(writer.journal); i++) {
			change(&writer);
			wait_for_task(&writer);
			assert_true(journal__proceed(writer.journal, &error) >= 0);
		}
		change(&writer);
		journal__close(writer.journal);
		assert_int_equal(access(fresh, F_OK), -1);
		check_known(model);
	}
	munmap(model, sizeof(*model));
}

/* A disk that takes nothing while millions of flows begin and end. */
static void test_slower_than_records(void **state)
{
	struct journal_record record = record_of(0);
	struct model *model = new_model();
	struct writer writer;
	struct dart_error error;
	uint64_t length;
	size_t i;

	open_writer(&writer, model, 1);
	for (i = 0; i < 500; i++)
		change(&writer);
	begin_anew(&writer);
	record.operation = JOURNAL_END;
	for (i = 0; i < (64UL << 20) / JOURNAL_RECORD_LENGTH; i++)
		journal__add(writer.journal, &record);
	assert_int_equal(journal__write(writer.journal, &error), 0);
	writer.live -= model->is_live[0];
	model->is_live[0] = false;
	length = journal__length(writer.journal);
	assert_true(proceed_to_the_end(&writer, &error) == -ENOMEM);
	assert_true(journal__length(writer.journal) > length);
	assert_true(journal__is_long(writer.journal, 0));
	journal__close(writer.journal);
	check_known(model);
	munmap(model, sizeof(*model));
}

static int set_up(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/journal", directory);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	return 0;
}

static int tear_down(void **state)
{
	char lock[80];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	unlink(path);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a process that is killed at any instant leaves all flows",
		     test_killed_at_any_instant),
		TEST("without a place for the next file the old one goes on",
		     test_no_place_for_the_next_file),
		TEST("a process that ends at any stage leaves all flows, and no next file",
		     test_ended_at_any_stage),
		TEST("records of a slow disk take a bounded memory", test_slower_than_records),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
