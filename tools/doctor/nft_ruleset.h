/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fate of a RoCE packet in nftables: UDP over IPv4 to port 4791, of a new flow.
 * (Both directions of a connection go to port 4791, so neither is the reply of the
 * other to conntrack.)
 */
#ifndef NFT_RULESET_H
#define NFT_RULESET_H

#include <jansson.h>
#include <stdbool.h>

/* A rule, or the policy of a chain if @handle is 0; no rule if @chain is "". */
struct nft_place {
	char family[16];
	char table[128];
	char chain[128];
	long long handle;
};

struct nft_verdict {
	/* Drops each such packet, at this place; @hook: "input", ... */
	bool drops;
	struct nft_place dropping;
	char hook[16];
	/* Under a condition that depends on the sender or the like. */
	struct nft_place may_accept;
	struct nft_place may_drop;
	/* A condition was not understood, and its rule drops. */
	struct nft_place unknown;
};

/*
 * Judges @ruleset, the output of nft -j list ruleset, for packets that come in and go
 * out through @netdev.  Returns false for anything else than a ruleset.
 */
bool nft_ruleset__judge(const json_t *ruleset, const char *netdev, struct nft_verdict *verdict);

#endif /* NFT_RULESET_H */
