/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads memory of the kernel.  BPF_CORE_READ() and READ() of programs that include this header load
 * a number without a call, where the kernel allows it: since Linux 6.2.  A call of
 * bpf_probe_read_kernel() executes several times as many instructions.  Both read 0 at an invalid
 * address.
 */
#ifndef READ_H
#define READ_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Tells the verifier that a struct of this type lies at @address.  Costs nothing at run time. */
extern void *bpf_rdonly_cast(const void *address, __u32 type) __ksym __weak;

/* An enum of the verifier: lists the functions that the verifier itself translates. */
enum special_kfunc_type___cast {
	KF_bpf_rdonly_cast___cast,
};

#define CAN_CAST \
	bpf_core_enum_value_exists(enum special_kfunc_type___cast, KF_bpf_rdonly_cast___cast)

/*
 * Copies @size bytes, a constant, to @to.  The type of the cast only has to be a struct of the
 * kernel that begins with 8 bytes of numbers: pointers would be pointers to the verifier, too.
 */
static __always_inline long read_kernel(void *to, __u32 size, const void *address)
{
	if (!CAN_CAST || (size != 8 && size != 4 && size != 2 && size != 1))
		return bpf_probe_read_kernel(to, size, address);
	address = bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct timespec64));
	if (size == 8)
		*(__u64 *)to = *(const volatile __u64 *)address;
	else if (size == 4)
		*(__u32 *)to = *(const volatile __u32 *)address;
	else if (size == 2)
		*(__u16 *)to = *(const volatile __u16 *)address;
	else
		*(__u8 *)to = *(const volatile __u8 *)address;
	return 0;
}

/* The macros of libbpf that read one member after the other use this one. */
#undef bpf_core_read
#define bpf_core_read(to, size, from) \
	read_kernel(to, size, (const void *)__builtin_preserve_access_index(from))

#define READ(type, address)                                                    \
	({                                                                     \
		type value_ = 0;                                               \
                                                                               \
		read_kernel(&value_, sizeof(value_), (const void *)(address)); \
		value_;                                                        \
	})

#endif /* READ_H */
