/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ports of the addresses of all pools: which ones are taken.  A port belongs to one mapping at
 * a time, for each protocol (RFC 4787, REQ-3).
 */
#ifndef FLOWS_PORTS_H
#define FLOWS_PORTS_H

#include "tools/flows/settings/policy.h"

struct ports;

/* All are free.  The addresses of @policy outlive it.  NULL: out of memory. */
struct ports *ports__new(const struct policy *policy);
void ports__free(struct ports *ports);

/* Takes this one, which may be outside the range of its pool.  Returns 0, -EEXIST or -ENOENT. */
int ports__take(struct ports *ports, enum policy_class kind, const struct end *end);
/*
 * Takes one of the address that is number @address of the policy, of the range of its pool, at
 * random among those of the parity of @like, else of the other parity (RFC 4787, REQ-4).  Returns
 * the port, or -ENOSPC.
 */
int ports__allocate(struct ports *ports, enum policy_class kind, size_t address, uint16_t like);
/* An address that is in no pool is passed over. */
void ports__release(struct ports *ports, enum policy_class kind, const struct end *end);
/* Number of ports that are taken, of all addresses. */
uint64_t ports__taken(const struct ports *ports, enum policy_class kind);

#endif /* FLOWS_PORTS_H */
