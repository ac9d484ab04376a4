/*
 * Every bound that decode puts on what a file may ask for, with its arithmetic.
 *
 * DEC_LIMIT_LIST rows are tunable: X(name, default, "what it bounds"). Each is a
 * member of struct dec_limits and a mount option of the same name. A limit that is
 * hit is a problem with code "limit" and makes the inventory or the object partial.
 */
#ifndef DEC_LIMITS_H
#define DEC_LIMITS_H

#include <stdint.h>

#define DEC_KIB(n) ((uint64_t)(n) << 10)
#define DEC_MIB(n) ((uint64_t)(n) << 20)
#define DEC_GIB(n) ((uint64_t)(n) << 30)

/* clang-format off */
#define DEC_LIMIT_LIST(X) \
	/* Largest honest decoded payload seen: 133,833,256 bytes; 8 times that is 1.07e9. */ \
	X(max_payload, DEC_GIB(1), "bytes of one decoded payload") \
	/* Highest honest ratio seen is 96:1 and LZ4 cannot pass 255:1. A zstd run of one
	 * byte reaches 32768:1. Applied only above DEC_RATIO_FLOOR. */ \
	X(max_ratio, 1024, "decoded bytes per stored byte") \
	/* Largest honest inventory seen: 43,409 entries in 18 libraries together, 23,984 in
	 * one. About 256 bytes each: 262,144 objects stay below 64 MiB. */ \
	X(max_objects, 262144, "objects listed") \
	/* Never more containers than objects in honest files, empty fatbins apart. */ \
	X(max_containers, 262144, "containers listed") \
	/* A person reads a few; 4096 of about 200 bytes are below 1 MiB. */ \
	X(max_problems, 4096, "problems listed") \
	/* Bytes of section and program header tables read while looking for code objects:
	 * a table has at most 65,535 * 64 B = 4 MiB, and 64 of the largest fit. */ \
	X(max_header_bytes, DEC_MIB(256), "bytes of ELF header tables read")                       \
	/* Bytes decoded only to find where a stream ends or what a record lists; a zstd block  \
	 * header counts as the 4 KiB that are read for it. At 300 MB/s 1 GiB takes 3.5 s. */   \
	X(max_search_bytes, DEC_GIB(1), "bytes decoded to make the inventory")
/* clang-format on */

struct dec_limits {
#define X(name, value, what) uint64_t name;
	DEC_LIMIT_LIST(X)
#undef X
};

/* Below this decoded size no ratio is asked for: small and very regular PTX is honest. */
#define DEC_RATIO_FLOOR DEC_MIB(16)

/* Text read to recognise PTX: leading comments of real files stay below 4 KiB. */
#define DEC_PTX_HEAD DEC_KIB(64)

/* Entry ids of bundles: the longest seen has 75 bytes. */
#define DEC_ENTRY_ID_MAX 256

/* Entries of one bundle: 8 seen; every GPU there is with both features twice is below 512. */
#define DEC_BUNDLE_ENTRIES_MAX 512

/* Entry header of a fatbin: 144 bytes seen; name and options of the longest path fit. */
#define DEC_FATBIN_HEADER_MAX DEC_KIB(64)

/* Section names of the host file: the largest string table of names seen is below 64 KiB
 * (a relocatable object with one section per function can reach MiB). */
#define DEC_SECTION_NAMES_MAX DEC_MIB(16)

/* Archives inside archives: one level is seen, linkers make none. */
#define DEC_DEPTH_MAX 4

/* Sections of a PE or COFF file: 16 bits of them, and bigobj files with one per function. */
#define DEC_COFF_SECTIONS_MAX 1048576

/* Names in ELF string tables: the longest seen has 2,489 bytes. With the next two bounds a
 * walk over symbols or sections reads at most 16 GiB of names, a second or so. */
#define DEC_ELF_NAME_MAX DEC_KIB(16)

/* Symbols of one code object: 12,000 kernels have two each, and an object of one function per
 * symbol stays far below. */
#define DEC_ELF_SYMBOLS_MAX 1048576

/* Bytes of all their names, which are hashed and sorted: 12,000 kernels of the longest, two
 * symbols each, are 60 MB. Symbols can share one string, so their number bounds nothing. */
#define DEC_ELF_SYMBOL_NAMES_MAX DEC_MIB(256)

/* Sections of one payload: one per function and its relocations; the largest objects of CUDA
 * libraries have tens of thousands. */
#define DEC_ELF_SECTIONS_MAX 1048576

/* Program headers that map addresses: code objects have 8 to 12. */
#define DEC_ELF_SEGMENTS_MAX 64

/* Containers in containers of metadata: AMD's go 5 deep (map, array, map, array, map). */
#define DEC_METADATA_DEPTH 32

/* Sections of one cubin: 1,566 seen; 12,000 kernels have five each, and as many again for their
 * Mercury copies. 112 bytes each while it is read: below 32 MiB. */
#define DEC_CUBIN_SECTIONS_MAX 262144

/* Kernels of one code object: 728 seen, 12,000 must work; 5 times that at about 600 bytes
 * with their facts stays below 64 MiB. */
#define DEC_KERNELS_MAX 65536

/* Bytes of their names: 12,000 of the longest seen, 2,489 bytes, are 30 MB. ELF symbols can
 * share one string, so that their number alone bounds nothing. */
#define DEC_KERNEL_NAMES_MAX DEC_MIB(64)

/* Arguments of all kernels together: 12,000 kernels of 40, hidden ones counted, twice over;
 * 104 bytes each, so below 128 MiB. */
#define DEC_ARGS_MAX 1048576

/* Values in the metadata that is kept for display: 12,000 kernels of 40 arguments of 5 values
 * are 2.5 million, at 40 bytes each; twice that. */
#define DEC_METADATA_NODES_MAX 4194304

/* Bytes of text in them: names of symbols come up once for each attribute that speaks of them,
 * 12,000 of 300 bytes four times each are 14 MB. */
#define DEC_METADATA_TEXT_MAX DEC_MIB(128)

/* Notes of one code object: 5 seen. */
#define DEC_NOTES_MAX 4096

/* Sections or segments of notes: 1 seen. */
#define DEC_NOTE_REGIONS_MAX 64

/* One read of the search: large enough that a call costs little, small enough for the L2 cache. */
#define DEC_WINDOW DEC_KIB(256)

#endif
