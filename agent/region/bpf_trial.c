// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_trial.h"
#include "trial.skel.h"

#define TYPES "/sys/kernel/btf/vmlinux"
#define KPTR_RESTRICT "/proc/sys/kernel/kptr_restrict"

/* Inode of the initial user namespace: PROC_USER_INIT_INO of the kernel. */
#define HOST_USER_NAMESPACE 4026531837

/* CAP_BPF and CAP_PERFMON are parts of CAP_SYS_ADMIN. */
enum permission {
	PERMISSION_NONE = 0,
	PERMISSION_BPF = 1,
	PERMISSION_PERFMON = 2,
	PERMISSION_ALL = 3,
};

/* True if dartd has the capability, or if it cannot tell. */
static bool has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	return syscall(SYS_capget, &header, data) ||
	       data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

static enum permission own_permissions(void)
{
	if (has_capability(CAP_SYS_ADMIN))
		return PERMISSION_ALL;
	return (has_capability(CAP_BPF) ? PERMISSION_BPF : 0) |
	       (has_capability(CAP_PERFMON) ? PERMISSION_PERFMON : 0);
}

const char *bpf_trial__only_types(void)
{
	return has_capability(CAP_SYS_ADMIN) ? NULL : TYPES;
}

/*
 * Takes the place of the function of libbpf, for the calls in libbpf, too.  The kernel lists the BTF
 * of modules only with CAP_SYS_ADMIN.  Without it libbpf before 1.5 loads no program with a weak
 * symbol that the kernel lacks; now it finds no modules, as the programs need none.
 */
int bpf_btf_get_next_id(__u32 start_id, __u32 *next_id)
{
	union bpf_attr attributes = { .start_id = start_id };

	if (syscall(SYS_bpf, BPF_BTF_GET_NEXT_ID, &attributes, sizeof(attributes))) {
		if (errno == EPERM)
			errno = ENOENT;
		return -errno;
	}
	*next_id = attributes.next_id;
	return 0;
}

static bool is_in_user_namespace(void)
{
	struct stat namespace;

	return !stat("/proc/self/ns/user", &namespace) && namespace.st_ino != HOST_USER_NAMESPACE;
}

static int explain_no_permission(struct dart_error *error)
{
	static const char *const lacks[] = {
		[PERMISSION_NONE] = "CAP_BPF and CAP_PERFMON",
		[PERMISSION_BPF] = "CAP_PERFMON",
		[PERMISSION_PERFMON] = "CAP_BPF",
	};
	const enum permission permission = own_permissions();

	if (is_in_user_namespace())
		return dart_error__set(
			error, EPERM,
			"the kernel takes no eBPF programs from a user namespace (start dartd in the user namespace of the host)");
	if (permission != PERMISSION_ALL)
		return dart_error__set(
			error, EPERM,
			"dartd lacks %s, which eBPF programs need (start dartd with CAP_BPF and CAP_PERFMON, or with CAP_SYS_ADMIN as dartd.service does)",
			lacks[permission]);
	return dart_error__set(
		error, EPERM,
		"a seccomp filter or a security module forbids dartd the system call bpf (allow it in SystemCallFilter= of dartd.service, or in the seccomp profile of its container)");
}

int bpf_trial__explain(int ret, struct dart_error *error)
{
	switch (ret) {
	case -EPERM:
	case -EACCES:
		return explain_no_permission(error);
	case -ENOSYS:
		return dart_error__set(
			error, EOPNOTSUPP,
			"the kernel has no eBPF (run a kernel with CONFIG_BPF_SYSCALL=y)");
	default:
		return dart_error__system(error, -ret, "the kernel refuses eBPF programs");
	}
}

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
static int explain_hidden(struct dart_error *error)
{
	return dart_error__set(error, EPERM, "the kernel hides the addresses of its variables %s",
			       are_addresses_hidden() ?
				       "from all processes (sysctl kernel.kptr_restrict=1)" :
				       "from dartd (start dartd with CAP_SYSLOG)");
}

/* Loads the program @name of the trial.  Returns a descriptor or -errno. */
static int load(const char *name, enum bpf_prog_type type)
{
	size_t size;
	const void *elf = trial_bpf__elf_bytes(&size);
	struct bpf_object *object = bpf_object__open_mem(elf, size, NULL);
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .prog_flags = type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0);
	const struct bpf_program *program;
	int fd = -ENOENT;

	if (!object)
		return -errno;
	program = bpf_object__find_program_by_name(object, name);
	/* bpf_object__load() would print messages, and guesses of the reason. */
	if (program)
		fd = bpf_prog_load(type, NULL, "GPL", bpf_program__insns(program),
				   bpf_program__insn_cnt(program), &options);
	bpf_object__close(object);
	return fd;
}

static int try_reading(struct dart_error *error)
{
	int fd = load("read", BPF_PROG_TYPE_RAW_TRACEPOINT);

	/* The verifier does not know the helper then. */
	if (fd == -EINVAL)
		return dart_error__set(
			error, EOPNOTSUPP,
			"the kernel is locked down for confidentiality, which forbids eBPF programs to read its memory (boot without lockdown=confidentiality)");
	if (fd < 0)
		return bpf_trial__explain(fd, error);
	close(fd);
	return 0;
}

static int try_finding(struct dart_error *error)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = load("find", BPF_PROG_TYPE_SYSCALL), ret;

	if (fd < 0)
		return bpf_trial__explain(fd, error);
	ret = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	if (ret)
		return bpf_trial__explain(ret, error);
	switch ((int)run.retval) {
	case -EPERM:
		return explain_hidden(error);
	case -ENOENT:
		return dart_error__set(
			error, EOPNOTSUPP,
			"the kernel's table of symbols has no variables (run a kernel with CONFIG_KALLSYMS_ALL=y)");
	default:
		return 0;
	}
}

int bpf_trial__run(bool finds_variables, struct dart_error *error)
{
	int ret;

	if (access(TYPES, R_OK))
		return dart_error__set(
			error, EOPNOTSUPP,
			"the kernel has no BTF (run a kernel with CONFIG_DEBUG_INFO_BTF=y)");
	ret = try_reading(error);
	return ret || !finds_variables ? ret : try_finding(error);
}
