/* SPDX-License-Identifier: GPL-2.0-only */
/* Where things lie in the kernel's variables, by its BTF. */
#ifndef BTF_LAYOUT_H
#define BTF_LAYOUT_H

#include <bpf/btf.h>
#include <stdint.h>

/*
 * The struct that is called @extent, or is the type of a variable or typedef
 * that is; NULL if there is none.  Its own name, or as the struct of a typedef
 * may have none, that of the typedef.
 */
const struct btf_type *btf_layout__variable(const struct btf *btf,
					    const char *extent,
					    const char **name);

/*
 * The type of the member "outer.inner", *@path, of a struct, or NULL.  Leaves
 * the last part of the path in it, and adds the place to @offset, bytes.
 */
const struct btf_type *btf_layout__member(const struct btf *btf,
					  const struct btf_type *type,
					  const char **path, uint32_t *type_id,
					  uint32_t *offset);

/* Bytes of a counter, also if it is wrapped up; 0 for what is none. */
uint32_t btf_layout__counter_width(const struct btf *btf, uint32_t type_id);

/* The enum that has a value called @name, NULL if there is none. */
const struct btf_type *btf_layout__enum(const struct btf *btf,
					const char *name);
/* What it calls @index, NULL if it does not. */
const char *btf_layout__element(const struct btf *btf,
				const struct btf_type *elements,
				uint32_t index);

#endif /* BTF_LAYOUT_H */
