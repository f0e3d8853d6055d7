// SPDX-License-Identifier: GPL-2.0-only
/* Loads the eBPF objects of sources, and explains why one cannot be loaded. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bpf/samples/setting.h"
#include "sample_object.h"

#define TYPES "/sys/kernel/btf/vmlinux"
#define KPTR_RESTRICT "/proc/sys/kernel/kptr_restrict"

/* True if the kernel hides its addresses from all processes. */
static bool are_addresses_hidden(void)
{
	int fd = open(KPTR_RESTRICT, O_RDONLY | O_CLOEXEC);
	char value = '0';

	if (fd < 0)
		return false;
	if (read(fd, &value, 1) != 1)
		value = '0';
	close(fd);
	return value > '1';
}

/* The kernel shows addresses of variables only to processes with CAP_SYSLOG, or to none. */
static int cannot_find(const char *source, struct dart_error *error)
{
	return dart_error__set(
		error, EPERM,
		"source %s cannot be sampled here: the kernel hides the addresses of its variables %s",
		source,
		are_addresses_hidden() ? "from all processes (sysctl kernel.kptr_restrict=1)" :
					 "from dartd (start dartd with CAP_SYSLOG)");
}

static int cannot_sample(const char *source, const char *reason, struct dart_error *error)
{
	return dart_error__set(error, EOPNOTSUPP, "source %s cannot be sampled here: %s", source,
			       reason);
}

/* Such a program runs once, to find variables. */
static bool is_syscall(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL;
}

/* Runs the programs that find variables of the kernel. */
static int find_variables(const char *source, struct bpf_object *object, struct dart_error *error)
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
		if (ret == -EPERM)
			return cannot_find(source, error);
		if (ret)
			return cannot_sample(source, "this kernel has other variables", error);
	}
	return 0;
}

/* The map of the program that answers dartd, for objects of which that program is not loaded. */
static void leave_exchange(struct bpf_object *object)
{
	struct bpf_map *exchange = bpf_object__find_map_by_name(object, "exchange");

	if (exchange)
		bpf_map__set_autocreate(exchange, false);
}

int sample_object__open(const void *elf, size_t size, enum bpf_prog_type type, const char *source,
			struct bpf_object **result, struct dart_error *error)
{
	struct bpf_program *program;
	struct bpf_object *object;

	if (access(TYPES, R_OK))
		return cannot_sample(
			source, "the kernel has no BTF (run a kernel with CONFIG_DEBUG_INFO_BTF=y)",
			error);
	object = bpf_object__open_mem(elf, size, NULL);
	if (!object)
		return dart_error__system(error, errno, "cannot read the eBPF program of source %s",
					  source);
	bpf_object__for_each_program(program, object) bpf_program__set_autoload(
		program, is_syscall(program) || bpf_program__type(program) == type);
	if (type == BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE)
		leave_exchange(object);
	*result = object;
	return 0;
}

int sample_object__load(struct bpf_object *object, const char *source, struct dart_error *error)
{
	int ret = bpf_object__load(object);

	if (ret == -EPERM || ret == -ENOMEM)
		return dart_error__system(error, -ret, "cannot load the eBPF program of source %s",
					  source);
	if (ret)
		return cannot_sample(
			source, "this kernel has other structures than its eBPF program", error);
	return find_variables(source, object, error);
}
