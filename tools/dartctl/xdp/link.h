/* SPDX-License-Identifier: GPL-2.0-only */
/* Reporters on interfaces. */
#ifndef LINK_H
#define LINK_H

#include <stdint.h>
#include <xdp_reporter.skel.h>

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

/*
 * Attaches the reporter to interface @in, from which its reports leave through
 * @out (numbers), and pins all of it as that of @name.  Returns 0 or -errno, and
 * a sentence in @error; then nothing is attached.
 */
int reporter_link__make(const char *name, uint32_t in, uint32_t out,
			const struct xdp_reporter_bpf *object,
			struct dart_error *error);

/* How the XDP program of interface @number runs: "native", "generic". */
const char *reporter_link__mode(uint32_t number);

#endif /* LINK_H */
