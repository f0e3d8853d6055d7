/* SPDX-License-Identifier: GPL-2.0-only */
/* The layout of the kernel's variables according to its BTF. */
#ifndef BTF_LAYOUT_H
#define BTF_LAYOUT_H

#include <bpf/btf.h>
#include <stdint.h>

/*
 * Finds the struct called @extent, or the struct of a variable or typedef with this name; NULL if
 * there is none.  Sets @name to the name of the struct or, if it is anonymous, of its typedef.
 */
const struct btf_type *btf_layout__variable(const struct btf *btf, const char *extent,
					    const char **name);

/*
 * Finds the type of the member *@path, "outer.inner", of a struct, or NULL.
 * Sets *@path to its last component and adds its offset in bytes to @offset.
 */
const struct btf_type *btf_layout__member(const struct btf *btf, const struct btf_type *type,
					  const char **path, uint32_t *type_id, uint32_t *offset);

/* Width of a counter in bytes, bare or in atomic64_t and the like; 0 for other types. */
uint32_t btf_layout__counter_width(const struct btf *btf, uint32_t type_id);

/* Finds the enum with a value named @name, or NULL. */
const struct btf_type *btf_layout__enum(const struct btf *btf, const char *name);
/* The name of the value @index in @elements, or NULL. */
const char *btf_layout__element(const struct btf *btf, const struct btf_type *elements,
				uint32_t index);

#endif /* BTF_LAYOUT_H */
