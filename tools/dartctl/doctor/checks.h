/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checks of dartctl doctor.  Each adds findings and changes nothing.  A check adds none if
 * another finding reports that its object is missing.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tools/doctor/findings.h"
#include "tools/doctor/rdma_port.h"

/* The first kernel that takes the module: older ones refuse read-only memory registrations. */
#define MODULE_SINCE 6, 2

/* The parts of dartd that this user can see. */
struct running_agent {
	pid_t pid; /* 0: dartd does not run */
	json_t *status; /* its answer to "status"; NULL: none */
	json_t *stores;
};

/* Is the running kernel of this version, or newer?  kernel.c */
bool kernel__is_since(unsigned int major, unsigned int minor);
/* kernel.c: "kernel", "btf", "lockdown" */
void check_kernel(struct findings *findings);
/* module.c: "module" */
void check_module(struct findings *findings);
/* kernel.c: "clock", "clocksource" */
void check_clock(struct findings *findings);
/* running_agent.c: "dartd", "socket", "version"; the caller closes @agent */
void check_agent(struct findings *findings, const char *socket, struct running_agent *agent);
void running_agent__close(struct running_agent *agent);
/* coverage.c: "coverage" */
void check_coverage(struct findings *findings, const struct running_agent *agent);
/* limits.c: "memlock", "files" */
void check_limits(struct findings *findings, const struct running_agent *agent);
/* device_limits.c: "device" */
void check_device_limits(struct findings *findings, const struct rdma_port *port);
/* limits.c: "huge_pages" */
void check_huge_pages(struct findings *findings, const struct running_agent *agent);

#endif /* CHECKS_H */
