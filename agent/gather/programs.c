// SPDX-License-Identifier: GPL-2.0-only
/* Loads programs that gather, and runs them. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/host.h"
#include "agent/base/log.h"
#include "agent/region/bpf_trial.h"
#include "agent/region/sample_object.h"
#include "programs.h"

/* Names in the objects. */
#define EXCHANGE_MAP "exchange"
#define ARRAY_MAP "programs"

/* After so many runs without progress the questions of a program wait for a later pass. */
#define IDLE_RUNS_MAX 64
struct loaded_program {
	struct bpf_object *object; /* NULL: not loaded */
	int fd;
	uint32_t users;
	bool is_kept;
	int failed; /* -errno of the last run */
	/*
	 * -EOPNOTSUPP: the kernel refused it, which every new cgroup or namespace would make it do
	 * again.
	 */
	int refused;
	struct dart_error why;
};

static int list_cpus(struct gather_programs *programs, uint32_t cpus)
{
	uint64_t *possible = calloc(cpus / 64 + 1, sizeof(*possible));
	uint32_t cpu;
	int ret;

	if (!possible)
		return -ENOMEM;
	ret = host__possible_cpus(possible, cpus);
	for (cpu = 0; !ret && cpu < cpus && programs->cpu_count < GATHER_CPUS; cpu++)
		if (possible[cpu / 64] >> cpu % 64 & 1)
			programs->cpus[programs->cpu_count++] = cpu;
	free(possible);
	return ret;
}

int gather_programs__open(struct gather_programs *programs, uint32_t cpus, struct dart_error *error)
{
	int ret;

	*programs = (struct gather_programs){
		.loading = PTHREAD_MUTEX_INITIALIZER,
		.exchange_fd = -1,
		.cpus = calloc(GATHER_CPUS, sizeof(*programs->cpus)),
		.loaded = calloc(subject__program_count(), sizeof(*programs->loaded)),
	};
	if (!programs->cpus || !programs->loaded) {
		ret = dart_error__no_memory(error);
		goto free_lists;
	}
	ret = list_cpus(programs, cpus);
	if (!ret)
		return 0;
	dart_error__system(error, -ret, "cannot read which CPUs are possible");

free_lists:
	free(programs->loaded);
	free(programs->cpus);
	return ret;
}

void gather_programs__close(struct gather_programs *programs)
{
	int i;

	for (i = 0; i < subject__program_count(); i++)
		bpf_object__close(programs->loaded[i].object);
	pthread_mutex_destroy(&programs->loading);
	free(programs->loaded);
	free(programs->cpus);
	if (!programs->exchange)
		return;
	munmap(programs->exchange, sizeof(*programs->exchange));
	close(programs->exchange_fd);
	close(programs->array_fd);
}

/* For the first program.  Until then dartd can do without: it also gathers without programs. */
static int open_exchange(struct gather_programs *programs, struct dart_error *error)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct gather_exchange *exchange;
	int array, fd, ret;

	/* The dot tells coverage that users cannot register this map: it contains no counters. */
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dart.exchange", sizeof(uint32_t),
			    sizeof(*exchange), 1, &options);
	if (fd < 0)
		return bpf_trial__explain(-errno, error);
	array = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "dart.programs", sizeof(uint32_t),
			       sizeof(uint32_t), GATHER_PROGRAMS, NULL);
	if (array < 0) {
		ret = bpf_trial__explain(-errno, error);
		goto close_exchange;
	}
	exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (exchange == MAP_FAILED) {
		ret = dart_error__system(error, errno, "cannot map an eBPF map");
		goto close_array;
	}
	exchange->cpu_count = programs->cpu_count;
	memcpy(exchange->cpus, programs->cpus, sizeof(exchange->cpus));
	programs->exchange = exchange;
	programs->exchange_fd = fd;
	programs->array_fd = array;
	return 0;

close_array:
	close(array);
close_exchange:
	close(fd);
	return ret;
}

static bool answers(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT;
}

static int share_map(struct bpf_object *object, const char *name, int fd)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__reuse_fd(map, fd) : -ENOENT;
}

/* The objects share one exchange, and the array of programs. */
static int share_maps(struct gather_programs *programs, struct bpf_object *object,
		      struct dart_error *error)
{
	int ret = programs->exchange ? 0 : open_exchange(programs, error);

	if (ret)
		return ret;
	ret = share_map(object, EXCHANGE_MAP, programs->exchange_fd) ?:
		      share_map(object, ARRAY_MAP, programs->array_fd);
	return ret ? dart_error__system(error, -ret, "cannot share memory with eBPF programs") : 0;
}

static int load_new(struct gather_programs *programs, int index, struct dart_error *error)
{
	struct loaded_program *loaded = &programs->loaded[index];
	struct bpf_program *program;
	struct bpf_object *object;
	size_t size;
	const void *elf = gather_program__object(subject__program(index), &size);
	int ret;

	ret = sample_object__open(elf, size, BPF_PROG_TYPE_RAW_TRACEPOINT, &object, error);
	if (ret)
		return ret;
	ret = share_maps(programs, object, error) ?: sample_object__load(object, error);
	if (ret)
		goto close_object;
	bpf_object__for_each_program(program, object) if (answers(program))
		loaded->fd = bpf_program__fd(program);
	if (bpf_map_update_elem(programs->array_fd, &index, &loaded->fd, BPF_ANY)) {
		ret = dart_error__system(error, errno, "cannot share an eBPF program");
		goto close_object;
	}
	loaded->object = object;
	return 0;

close_object:
	bpf_object__close(object);
	return ret;
}

/* Loads a program for its first user.  @error: a reason, see sample_object.h. */
static int load(struct gather_programs *programs, int index, struct dart_error *error)
{
	struct loaded_program *loaded = &programs->loaded[index];
	int ret;

	if (loaded->refused) {
		*error = loaded->why;
		return loaded->refused;
	}
	ret = load_new(programs, index, error);
	if (ret == -EOPNOTSUPP) {
		loaded->refused = ret;
		loaded->why = *error;
	}
	return ret;
}

int gather_programs__take(struct gather_programs *programs, const struct source *source,
			  struct dart_error *error)
{
	const struct subject *subject = subject__find(source->id);
	struct loaded_program *loaded;
	struct dart_error reason;
	int ret = 0;

	if (!subject)
		return dart_error__set(
			error, EOPNOTSUPP,
			"source %s is gathered by the module dart_zero only (load the module dart_zero)",
			source->name);
	if (subject->program < 0)
		return 0;
	loaded = &programs->loaded[subject->program];
	pthread_mutex_lock(&programs->loading);
	if (!loaded->users)
		ret = load(programs, subject->program, &reason);
	loaded->users += !ret;
	pthread_mutex_unlock(&programs->loading);
	return ret ? sample_object__refuse(source->name, ret, &reason, error) : 0;
}

void gather_programs__give(struct gather_programs *programs, enum dart_zero_source source)
{
	const struct subject *subject = subject__find(source);
	struct loaded_program *loaded;

	if (subject->program < 0)
		return;
	loaded = &programs->loaded[subject->program];
	pthread_mutex_lock(&programs->loading);
	if (!--loaded->users) {
		bpf_map_delete_elem(programs->array_fd, &subject->program);
		bpf_object__close(loaded->object);
		*loaded = (struct loaded_program){};
	}
	pthread_mutex_unlock(&programs->loading);
}

int gather_programs__keep(struct gather_programs *programs, int index, struct dart_error *error)
{
	struct loaded_program *loaded = &programs->loaded[index];
	int ret = 0;

	if (loaded->is_kept)
		return 0;
	pthread_mutex_lock(&programs->loading);
	if (!loaded->users)
		ret = load(programs, index, error);
	loaded->users += !ret;
	loaded->is_kept = !ret;
	pthread_mutex_unlock(&programs->loading);
	return ret;
}

/* Runs the program of the next question, which goes on with others.  Returns 0 or -errno. */
static int run(struct gather_programs *programs)
{
	const struct gather_exchange *exchange = programs->exchange;
	const uint32_t index = exchange->questions[exchange->next].program;
	/* The kernel runs a raw tracepoint on the CPU of the caller. */
	LIBBPF_OPTS(bpf_test_run_opts, options);

	struct loaded_program *loaded = &programs->loaded[index];
	int ret = bpf_prog_test_run_opts(loaded->fd, &options);

	/* Passes follow each other after 10 ms or more: a failure is told when it begins. */
	if (ret && ret != loaded->failed)
		log__error("cannot run the eBPF program %s, whose records keep their values: %s",
			   subject__program(index)->name, strerror(-ret));
	loaded->failed = ret;
	return ret;
}

/* Leaves the questions to the program of the next question without answers. */
static void skip_program(struct gather_exchange *exchange)
{
	const uint32_t program = exchange->questions[exchange->next].program;

	while (exchange->next < exchange->count &&
	       exchange->questions[exchange->next].program == program)
		exchange->next++;
	exchange->cursor = 0;
}

/* Passes on the answers of a run, from question @first on; returns their number. */
static uint32_t take_answers(const struct gather_exchange *exchange, uint32_t first,
			     void (*take)(void *owner, uint32_t index), void *owner)
{
	uint32_t i, count = 0;

	for (i = first; i < exchange->next; i++) {
		if (exchange->questions[i].answer == GATHER_NOT_YET)
			continue;
		take(owner, i);
		count++;
	}
	return count;
}

uint32_t gather_programs__answer(struct gather_programs *programs,
				 void (*take)(void *owner, uint32_t index), void *owner)
{
	struct gather_exchange *exchange = programs->exchange;
	uint32_t idle = 0, taken = 0, before, i;
	uint64_t cursor;

	for (i = 0; i < exchange->count; i++)
		exchange->questions[i].answer = GATHER_NOT_YET;
	exchange->batch++;
	exchange->next = 0;
	exchange->cursor = 0;
	exchange->budget_ns = GATHER_BUDGET_NS;
	while (exchange->next < exchange->count) {
		before = exchange->next;
		cursor = exchange->cursor;
		exchange->used = 0;
		if (run(programs)) {
			skip_program(exchange);
			continue;
		}
		taken += take_answers(exchange, before, take, owner);
		if (exchange->next != before || exchange->cursor != cursor ||
		    ++idle < IDLE_RUNS_MAX)
			continue;
		skip_program(exchange);
		idle = 0;
	}
	return exchange->count - taken;
}

static void leave_answer(void *owner, uint32_t index)
{
}

int gather_programs__ask(struct gather_programs *programs, int index,
			 const struct gather_question *question)
{
	struct dart_error error;
	int ret;

	ret = gather_programs__keep(programs, index, &error);
	if (ret)
		return ret;
	programs->exchange->count = 1;
	programs->exchange->questions[0] = *question;
	programs->exchange->questions[0].program = index;
	gather_programs__answer(programs, leave_answer, NULL);
	return programs->loaded[index].failed;
}

int gather_programs__statistics(struct gather_programs *programs, uint32_t netns, uint32_t ifindex,
				enum gather_statistics *statistics)
{
	const struct gather_question question = {
		.source = DART_ZERO_SOURCE_NETDEV,
		.fd = -1,
		.netns = netns,
		.ifindex = ifindex,
	};
	const int program = subject__find(question.source)->program;
	const int ret = gather_programs__ask(programs, program, &question);
	struct gather_row row;

	if (ret)
		return ret;
	switch (programs->exchange->questions[0].answer) {
	case GATHER_VALUES:
		memcpy(&row, programs->exchange->output, sizeof(row));
		*statistics = row.number;
		return 0;
	case GATHER_ABSENT:
		return -EOPNOTSUPP;
	default:
		return -ENODEV;
	}
}
