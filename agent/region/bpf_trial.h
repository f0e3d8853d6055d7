/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tries whether the kernel lets dartd gather by eBPF programs, and says why not.  A trial takes
 * about a millisecond, which a real program can need to be verified, or a thousand of them: so a
 * refusal costs little, however often dartd tries again.
 */
#ifndef BPF_TRIAL_H
#define BPF_TRIAL_H

#include <stdbool.h>

#include <libdart/error.h>

/*
 * @finds_variables: the programs look addresses up by name.  On failure @error is the reason with
 * its remedy in parentheses, without a subject: "the kernel hides ... (sysctl ...)".  -EPERM: dartd
 * lacks a permission, which it may get later; -EOPNOTSUPP: this kernel permits it to no process.
 */
int bpf_trial__run(bool finds_variables, struct dart_error *error);

/*
 * The path of the kernel's BTF if eBPF objects must be relocated by it alone, as option
 * btf_custom_path of libbpf; NULL if not.  For types that it lacks, libbpf otherwise searches the BTF
 * of modules, which the kernel lists only with CAP_SYS_ADMIN, and fails without.
 */
const char *bpf_trial__only_types(void);

/* Explains -@ret, an error of bpf(2), in the same form.  Returns @ret. */
int bpf_trial__explain(int ret, struct dart_error *error);

#endif /* BPF_TRIAL_H */
