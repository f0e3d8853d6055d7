// SPDX-License-Identifier: GPL-2.0-only
/* Loads the eBPF objects of sources, and explains why one cannot be loaded. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "bpf/samples/setting.h"
#include "bpf_trial.h"
#include "sample_object.h"

/* Such a program runs once, to find variables. */
static bool is_syscall(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL;
}

static bool finds_variables(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) if (is_syscall(program)) return true;
	return false;
}

/* Runs the programs that find variables of the kernel. */
static int find_variables(struct bpf_object *object, struct dart_error *error)
{
	struct sample_setting setting = {
		.page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE)),
	};
	struct bpf_program *program;
	int ret;

	bpf_object__for_each_program(program, object)
	{
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &setting,
			    .ctx_size_in = sizeof(setting));

		if (!is_syscall(program))
			continue;
		ret = bpf_prog_test_run_opts(bpf_program__fd(program), &run) ?: (int)run.retval;
		/* The trial found addresses a moment ago. */
		if (ret == -EPERM)
			return dart_error__system(error, -ret, "cannot find its variables");
		if (ret)
			return dart_error__set(error, EOPNOTSUPP,
					       "this kernel has other variables");
	}
	return 0;
}

/* A map of the program that answers dartd, for objects of which that program is not loaded. */
static void leave_map(struct bpf_object *object, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (map)
		bpf_map__set_autocreate(map, false);
}

/* Lines that a program of cgroups' I/O remembers, so that their values never fall. */
#define SHOWN_LEAST 8192
#define SHOWN_MOST 131072

/*
 * A map of lines that were shown gets one for each MiB of memory: hosts with thousands of cgroups
 * have that many.  Without its line a value can fall, which a rate takes for a restart.
 */
static int size_shown(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "shown");
	const long mebibytes = sysconf(_SC_PHYS_PAGES) / ((1 << 20) / sysconf(_SC_PAGESIZE));
	uint32_t lines = SHOWN_LEAST;

	if (mebibytes > SHOWN_MOST)
		lines = SHOWN_MOST;
	else if (mebibytes > SHOWN_LEAST)
		lines = mebibytes;
	return map ? bpf_map__set_max_entries(map, lines) : 0;
}

int sample_object__open(const void *elf, size_t size, enum bpf_prog_type type,
			struct bpf_object **result, struct dart_error *error)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = bpf_trial__only_types());
	struct bpf_program *program;
	struct bpf_object *object;
	int ret;

	object = bpf_object__open_mem(elf, size, &options);
	if (!object)
		return dart_error__system(error, errno, "cannot read its eBPF program");
	ret = bpf_trial__run(finds_variables(object), error);
	if (!ret && size_shown(object))
		ret = dart_error__system(error, errno, "cannot set the size of its map");
	if (ret) {
		bpf_object__close(object);
		return ret;
	}
	bpf_object__for_each_program(program, object) bpf_program__set_autoload(
		program, is_syscall(program) || bpf_program__type(program) == type);
	if (type == BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE) {
		leave_map(object, "exchange");
		leave_map(object, "programs");
	}
	*result = object;
	return 0;
}

int sample_object__load(struct bpf_object *object, struct dart_error *error)
{
	int ret = bpf_object__load(object);

	if (ret == -EPERM || ret == -ENOMEM)
		return dart_error__system(error, -ret, "cannot load its eBPF program");
	if (ret)
		return dart_error__set(error, EOPNOTSUPP,
				       "this kernel has other structures than its eBPF program");
	return find_variables(object, error);
}

int sample_object__refuse(const char *source, int ret, const struct dart_error *reason,
			  struct dart_error *error)
{
	return dart_error__set(error, -ret, "source %s cannot be sampled here: %s", source,
			       reason->text);
}
