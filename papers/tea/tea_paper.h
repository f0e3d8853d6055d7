/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures of the paper ("TEA: Enabling State-Intensive Network Functions on Programmable
 * Switches", SIGCOMM 2020, section 6), to be printed next to our measurements.  Curves
 * without a number in its text are left out.
 *
 * tea_figures reads this as well: a definition that it needs is a number on one line.
 */
#ifndef PAPERS_TEA_PAPER_H
#define PAPERS_TEA_PAPER_H

/* Traffic: packets by flow follow a Zipf distribution with a skew of 0.90, 0.95 or 0.99. */
#define TEA_PAPER_FLOWS			1000000
#define TEA_PAPER_CACHE			1024	/* entries */
/* Million packets of 64 bytes a second of each of its 4 generators, and of all. */
#define TEA_PAPER_GENERATOR_MPPS	34.54
#define TEA_PAPER_GENERATORS_MPPS	(4 * TEA_PAPER_GENERATOR_MPPS)

/* Figure 8, one server without a cache: lookups of packets of 64 to 1500 bytes. */
#define TEA_PAPER_LATENCY_LOW_US	1.8
#define TEA_PAPER_LATENCY_HIGH_US	2.2
/* By so much a bare RDMA READ is faster. */
#define TEA_PAPER_READ_FASTER_LOW_US	0.1
#define TEA_PAPER_READ_FASTER_HIGH_US	0.2
#define TEA_PAPER_LOOKUPS_LOW_MPPS	7.3
#define TEA_PAPER_LOOKUPS_HIGH_MPPS	10.9
/* Lookups of sequential and of random keys differ by no more. */
#define TEA_PAPER_SEQUENTIAL_MPPS	0.02

/* Figure 9: fraction of requests that the cache serves at a skew of 0.99. */
#define TEA_PAPER_ABSORBED		0.49
/* 8 servers with the cache, at a skew of 0.95 or 0.99: the limit of its generators. */
#define TEA_PAPER_SERVERS_8_MPPS	138

/*
 * Figure 10: two servers; the first one is overloaded, then the second one goes down.  The
 * throughput reaches the maximum again within so many seconds of the overload.
 */
#define TEA_PAPER_FAILOVER_S		1

/* The table of network functions: NAT, firewall, load balancer and VPN gateway. */
#define TEA_PAPER_NF_UNCACHED_LOW_MPPS	10.58
#define TEA_PAPER_NF_UNCACHED_HIGH_MPPS	10.64
#define TEA_PAPER_NF_CACHED_LOW_MPPS	79.23
#define TEA_PAPER_NF_CACHED_HIGH_MPPS	79.45
#define TEA_PAPER_NF_LATENCY_LOW_US	2.30
#define TEA_PAPER_NF_LATENCY_HIGH_US	2.35

#endif /* PAPERS_TEA_PAPER_H */
