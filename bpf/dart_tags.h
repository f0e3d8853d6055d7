/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Properties of a map's values that BTF cannot express by itself, as btf_decl_tag attributes (clang
 * 14).  Any eBPF program may use them in the value type of a map that dartd exposes.  A field
 * without a tag is a gauge without a unit; copies without a tag are rows.
 */
#ifndef DART_TAGS_H
#define DART_TAGS_H

#define DART_COUNTER __attribute__((btf_decl_tag("dart:counter")))
#define DART_GAUGE __attribute__((btf_decl_tag("dart:gauge")))
#define DART_HISTOGRAM __attribute__((btf_decl_tag("dart:histogram")))
/*
 * A sequence tells whether the row is whole: the first and the last 4 or 8 bytes of each line of 64
 * bytes, see "Sequences" in <dart/control.h>.
 */
#define DART_SEQUENCE __attribute__((btf_decl_tag("dart:sequence")))
/* 16 bytes, in elements of any width: an IPv6 address in network order. */
#define DART_ADDRESS __attribute__((btf_decl_tag("dart:address")))
#define DART_UNIT(unit) __attribute__((btf_decl_tag("dart:unit=" unit)))

/* On the struct: element c of the array belongs to CPU c. */
#define DART_COPIES_ARE_CPUS __attribute__((btf_decl_tag("dart:copies=cpu")))

#endif /* DART_TAGS_H */
