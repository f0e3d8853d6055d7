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
#include "agent/region/sample_object.h"
#include "programs.h"

#define EXCHANGE_MAP "exchange"

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

static int list_cpus(struct gather_exchange *exchange, uint32_t cpus)
{
	uint64_t *possible = calloc(cpus / 64 + 1, sizeof(*possible));
	uint32_t cpu;
	int ret;

	if (!possible)
		return -ENOMEM;
	ret = host__possible_cpus(possible, cpus);
	for (cpu = 0; !ret && cpu < cpus && exchange->cpu_count < GATHER_CPUS; cpu++)
		if (possible[cpu / 64] >> cpu % 64 & 1)
			exchange->cpus[exchange->cpu_count++] = cpu;
	free(possible);
	return ret;
}

int gather_programs__open(struct gather_programs *programs, uint32_t cpus, struct dart_error *error)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	void *exchange;
	int ret;

	/* The dot tells coverage that users cannot register this map: it contains no counters. */
	*programs = (struct gather_programs){
		.exchange_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dart.exchange", sizeof(uint32_t),
					      sizeof(struct gather_exchange), 1, &options),
		.loaded = calloc(subject__program_count(), sizeof(*programs->loaded)),
	};
	if (programs->exchange_fd < 0) {
		ret = dart_error__system(
			error, errno,
			"cannot create an eBPF map, without which dartd cannot gather (start dartd with CAP_BPF and CAP_PERFMON, or load the module dart_zero)");
		goto free_loaded;
	}
	if (!programs->loaded) {
		ret = dart_error__no_memory(error);
		goto close_exchange;
	}
	exchange = mmap(NULL, sizeof(struct gather_exchange), PROT_READ | PROT_WRITE, MAP_SHARED,
			programs->exchange_fd, 0);
	if (exchange == MAP_FAILED) {
		ret = dart_error__system(error, errno, "cannot map an eBPF map");
		goto close_exchange;
	}
	programs->exchange = exchange;
	ret = list_cpus(programs->exchange, cpus);
	if (!ret)
		return 0;
	dart_error__system(error, -ret, "cannot read which CPUs are possible");
	munmap(programs->exchange, sizeof(*programs->exchange));

close_exchange:
	if (programs->exchange_fd >= 0)
		close(programs->exchange_fd);
free_loaded:
	free(programs->loaded);
	return ret;
}

void gather_programs__close(struct gather_programs *programs)
{
	int i;

	for (i = 0; i < subject__program_count(); i++)
		bpf_object__close(programs->loaded[i].object);
	free(programs->loaded);
	munmap(programs->exchange, sizeof(*programs->exchange));
	close(programs->exchange_fd);
}

static bool answers(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT;
}

/* The objects share one exchange. */
static int share_exchange(const struct gather_programs *programs, struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, EXCHANGE_MAP);

	return map ? bpf_map__reuse_fd(map, programs->exchange_fd) : -ENOENT;
}

static int load_new(struct gather_programs *programs, int index, const char *name,
		    struct dart_error *error)
{
	struct loaded_program *loaded = &programs->loaded[index];
	struct bpf_program *program;
	struct bpf_object *object;
	size_t size;
	const void *elf = gather_program__object(subject__program(index), &size);
	int ret;

	ret = sample_object__open(elf, size, BPF_PROG_TYPE_RAW_TRACEPOINT, name, &object, error);
	if (ret)
		return ret;
	ret = share_exchange(programs, object);
	if (ret) {
		dart_error__system(error, -ret,
				   "cannot share memory with the eBPF program of source %s", name);
		goto close_object;
	}
	ret = sample_object__load(object, name, error);
	if (ret)
		goto close_object;
	bpf_object__for_each_program(program, object) if (answers(program))
		loaded->fd = bpf_program__fd(program);
	loaded->object = object;
	return 0;

close_object:
	bpf_object__close(object);
	return ret;
}

/* Loads a program for its first user.  Errors name the source @name. */
static int load(struct gather_programs *programs, int index, const char *name,
		struct dart_error *error)
{
	struct loaded_program *loaded = &programs->loaded[index];
	int ret;

	if (loaded->refused) {
		*error = loaded->why;
		return loaded->refused;
	}
	ret = load_new(programs, index, name, error);
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
	int ret = 0;

	if (!subject)
		return dart_error__set(
			error, EOPNOTSUPP,
			"source %s is gathered by the module dart_zero only (load it)",
			source->name);
	if (subject->program < 0)
		return 0;
	loaded = &programs->loaded[subject->program];
	if (!loaded->users)
		ret = load(programs, subject->program, source->name, error);
	if (!ret)
		loaded->users++;
	return ret;
}

void gather_programs__give(struct gather_programs *programs, enum dart_zero_source source)
{
	const struct subject *subject = subject__find(source);
	struct loaded_program *loaded;

	if (subject->program < 0)
		return;
	loaded = &programs->loaded[subject->program];
	if (--loaded->users)
		return;
	bpf_object__close(loaded->object);
	*loaded = (struct loaded_program){};
}

int gather_programs__keep(struct gather_programs *programs, int index, struct dart_error *error)
{
	struct loaded_program *loaded = &programs->loaded[index];
	int ret = 0;

	if (loaded->is_kept)
		return 0;
	if (!loaded->users)
		ret = load(programs, index, subject__program(index)->name, error);
	if (ret)
		return ret;
	loaded->users++;
	loaded->is_kept = true;
	return 0;
}

int gather_programs__run(struct gather_programs *programs, int index)
{
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

int gather_programs__ask(struct gather_programs *programs, int index,
			 const struct gather_question *question, uint64_t budget_ns)
{
	struct gather_exchange *exchange = programs->exchange;
	struct dart_error error;
	int ret;

	ret = gather_programs__keep(programs, index, &error);
	if (ret)
		return ret;
	exchange->count = 1;
	exchange->next = 0;
	exchange->used = 0;
	exchange->cursor = 0;
	exchange->budget_ns = budget_ns;
	exchange->questions[0] = *question;
	return gather_programs__run(programs, index);
}
