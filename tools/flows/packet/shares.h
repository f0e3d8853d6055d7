/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which packets are taken if more come than the rate allows (RFC 6888, REQ-4 C: no
 * subscriber uses up the time of the daemon, and so the insertions of others).
 *
 * Half of the credit is for anybody.  The other half is only for packets whose source has not used
 * a sixteenth of the rate, and whose destination has not got a fourth of it.  So one host, however
 * much it sends, gets what others leave, and so does a host that many forged sources send to.
 * Hosts are known by hashes with a secret seed: each has two places among so many that few share
 * both.  Nothing is allocated for a host.
 */
#ifndef FLOWS_SHARES_H
#define FLOWS_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARES_OF_SOURCES 16
#define SHARES_OF_DESTINATIONS 4

struct shares;

/* NULL: out of memory. */
struct shares *shares__new(void);
void shares__free(struct shares *shares);
/*
 * May this frame, of Ethernet, be taken?  @rate: frames in a second; each half of the credit is
 * that of a tenth of a second.
 */
bool shares__take(struct shares *shares, const uint8_t *frame, size_t length, uint64_t rate,
		  uint64_t now_ns);

#endif /* FLOWS_SHARES_H */
