/* SPDX-License-Identifier: MIT */
#ifndef SOFTGPU_LIMITS_H
#define SOFTGPU_LIMITS_H

/*
 * Every bound of a device. DEFAULT is what sg_config_default() gives, MAX what sg_device_open()
 * still takes. All storage of a bound is asked for as one zeroed block when the device or queue is
 * made, so processing a packet allocates nothing; pages cost memory only once they are used.
 */

#include <stdint.h>

/* Ring sizes and the number of queues: aql.md 3.1. 16384 packets * 64 bytes = 1 MiB. */
#define SG_RING_PACKETS_MIN 64u
#define SG_RING_PACKETS_MAX 16384u

/* 64 queues * 1 MiB of ring = 64 MiB. */
#define SG_QUEUES_MAX 64u
#define SG_QUEUES_DEFAULT SG_QUEUES_MAX

/* 24 bytes each: 384 KiB and 24 MiB. */
#define SG_SIGNALS_DEFAULT 16384u
#define SG_SIGNALS_MAX (1u << 20)
#define SG_SIGNAL_BYTES 24u

/* aql.md 3.5: 512. An event is at most 384 bytes: 192 KiB and 24 MiB. */
#define SG_TRACE_DEFAULT 512u
#define SG_TRACE_MAX (1u << 16)
#define SG_EVENT_BYTES 384u

/* aql.md 3.6: 4096. A capture is at most 256 bytes: 1 MiB and 16 MiB, and its kernarg copy. */
#define SG_CAPTURES_DEFAULT 4096u
#define SG_CAPTURES_MAX (1u << 16)
#define SG_CAPTURE_BYTES 256u

/* The largest kernarg segment is 4 KiB for the usual compilers: 4096 * 4096 = 16 MiB. */
#define SG_KERNARG_DEFAULT 4096u
#define SG_KERNARG_MAX (1u << 16)
/* captures * kernarg_bytes; the caps alone would allow 2^32. */
#define SG_KERNARG_TOTAL_MAX (UINT64_C(256) << 20)

/* As captures. A verdict is at most 80 bytes: 320 KiB a queue, 20 MiB for 64 queues. */
#define SG_VERDICTS_DEFAULT 4096u
#define SG_VERDICTS_MAX (1u << 16)
#define SG_VERDICT_BYTES 80u

/*
 * aql.md 5: 256 MiB in all, 64 MiB at once, in granules of 4 KiB. That makes at most 65536 live
 * allocations by default and 262144 at the cap, at 40 bytes of table each: 2.5 MiB and 10 MiB.
 */
#define SG_MEMORY_DEFAULT (UINT64_C(256) << 20)
#define SG_MEMORY_MAX (UINT64_C(1) << 30)
#define SG_MEMORY_SINGLE_DEFAULT (UINT64_C(64) << 20)
#define SG_MEMORY_GRANULE UINT64_C(4096)

/*
 * Device addresses. Allocations from 16 TiB up, each at the next multiple of 64 KiB; rings from
 * 32 TiB up, 1 MiB per queue id, which is the largest ring. At 64 MiB each, 262144 allocations fit
 * in between over a device's life; after that there is no room.
 */
#define SG_MEMORY_BASE UINT64_C(0x100000000000)
#define SG_MEMORY_STRIDE UINT64_C(0x10000)
#define SG_RING_BASE UINT64_C(0x200000000000)
#define SG_RING_STRIDE UINT64_C(0x100000)

/* Handles have 24 bits of generation and 32 of index (aql.md 4.1). */
#define SG_GENERATION_MAX UINT32_C(0xFFFFFF)

#endif
