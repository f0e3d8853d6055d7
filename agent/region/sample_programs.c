// SPDX-License-Identifier: GPL-2.0-only
/* Loads the eBPF programs that take samples. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bpf/samples/sample_setting.h"
#include "sample_programs.h"
#include "samples.skel.h"

#define TYPES "/sys/kernel/btf/vmlinux"

struct program_kind {
	enum dart_zero_source source;
	const void *(*object)(size_t *size); /* an ELF file */
	bool is_optional; /* the source lacks only some values without it */
};

/* bpf/samples/NAME.bpf.c for each source that needs it. */
static const struct program_kind kinds[] = {
#define BY_MODULE(source, object)
#define BY_PROGRAM(source, object) { source, object, false },
#define BY_BOTH(source, object) { source, object, true },
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, ...) \
	taker(source, name##_bpf__elf_bytes)
#include <linux/dart_zero_samples.def>
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

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
static int cannot_find(const struct source *source, struct dart_error *error)
{
	return dart_error__set(
		error, EPERM,
		"source %s cannot be sampled here: the kernel hides the addresses of its variables %s",
		source->name,
		are_addresses_hidden() ? "from all processes (sysctl kernel.kptr_restrict=1)" :
					 "from dartd (start dartd with CAP_SYSLOG)");
}

static int cannot_sample(const struct source *source, const char *reason, struct dart_error *error)
{
	return dart_error__set(error, EOPNOTSUPP, "source %s cannot be sampled here: %s",
			       source->name, reason);
}

static bool is_syscall(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL;
}

/* The program that the module calls; others of the object find variables, or answer dartd. */
static struct bpf_program *sampling_program(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
		if (bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE)
			return program;
	return NULL;
}

/* The map of the program that answers dartd, which is not loaded here. */
static void leave_exchange(struct bpf_object *object)
{
	struct bpf_map *exchange = bpf_object__find_map_by_name(object, "exchange");

	if (exchange)
		bpf_map__set_autocreate(exchange, false);
}

/* Runs the programs that find variables of the kernel. */
static int find_variables(const struct source *source,
			  struct bpf_object *object, struct dart_error *error)
{
	struct sample_setting setting = {
		.page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE)),
	};
	struct bpf_program *program;
	int ret;

	bpf_object__for_each_program(program, object) {
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

static int sample_programs__load(struct sample_programs *programs, const struct program_kind *kind,
				 const struct source *source, struct dart_error *error)
{
	struct bpf_object *object;
	struct bpf_link *link;
	const void *elf;
	size_t size;
	int ret;

	if (access(TYPES, R_OK))
		return cannot_sample(
			source, "the kernel has no BTF (run a kernel with CONFIG_DEBUG_INFO_BTF=y)",
			error);
	elf = kind->object(&size);
	object = bpf_object__open_mem(elf, size, NULL);
	if (!object)
		return dart_error__system(error, errno, "cannot read the eBPF program of source %s",
					  source->name);
	leave_exchange(object);
	ret = bpf_object__load(object);
	if (ret) {
		ret = ret == -EPERM || ret == -ENOMEM ?
			      dart_error__system(error, -ret,
						 "cannot load the eBPF program of source %s",
						 source->name) :
			      cannot_sample(
				      source,
				      "this kernel has other structures than its eBPF program",
				      error);
		goto close_object;
	}
	ret = find_variables(source, object, error);
	if (ret)
		goto close_object;
	link = bpf_program__attach(sampling_program(object));
	if (!link) {
		ret = dart_error__system(
			error, errno, "cannot attach the eBPF program of source %s", source->name);
		goto close_object;
	}
	programs->objects[kind - kinds] = object;
	programs->links[kind - kinds] = link;
	return 0;

close_object:
	bpf_object__close(object);
	return ret;
}

/* NULL if samples of @source need no program. */
static const struct program_kind *kind_find(enum dart_zero_source source)
{
	const struct program_kind *kind;

	for (kind = kinds; kind < kinds + KINDS; kind++)
		if (kind->source == source)
			return kind;
	return NULL;
}

int sample_programs__take(struct sample_programs *programs,
			  const struct source *source, struct dart_error *error)
{
	const struct program_kind *kind = kind_find(source->id);
	int ret = 0;

	if (!kind)
		return 0;
	if (!programs->users[kind - kinds])
		ret = sample_programs__load(programs, kind, source, error);
	if (ret && kind->is_optional)
		ret = 0;
	if (!ret)
		programs->users[kind - kinds]++;
	return ret;
}

static void sample_programs__unload(struct sample_programs *programs, size_t index)
{
	bpf_link__destroy(programs->links[index]);
	bpf_object__close(programs->objects[index]);
	programs->links[index] = NULL;
	programs->objects[index] = NULL;
}

void sample_programs__give(struct sample_programs *programs, enum dart_zero_source source)
{
	const struct program_kind *kind = kind_find(source);

	if (kind && !--programs->users[kind - kinds])
		sample_programs__unload(programs, kind - kinds);
}

void sample_programs__close(struct sample_programs *programs)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		sample_programs__unload(programs, i);
	*programs = (struct sample_programs){};
}
