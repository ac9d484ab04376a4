/* What a file, or a member of one, begins as. */
#include "internal.h"

#include <elf.h>

/* ---- rows that list the whole file ---------------------------------------------------- */

static bool ptx_list(struct dec_build *b, const struct dec_hit *hit)
{
	uint64_t size = hit->limit - hit->at;
	struct dec_declared declared;
	struct dec_view text, raw;

	if (!dec_peek(b, &b->head, hit->at, (size_t)(size < DEC_PTX_HEAD ? size : DEC_PTX_HEAD),
		      &text))
		return false;
	dec_ptx_head(text, &declared, &raw);
	return dec_bare_list(b, hit, hit->limit, DEC_KIND_PTX, &declared, &raw, NULL);
}

/* NVVM container: pairs of tag and value from 0x18 on tell the target. */
static bool lto_list(struct dec_build *b, const struct dec_hit *hit)
{
	enum { TAGS = 0x18, TAGS_MAX = 256, TAG_SM = 1, TAG_VARIANT = 0x20, TAG_END = 0x63 };
	uint64_t size = hit->limit - hit->at;
	struct dec_declared declared = { .vendor = DEC_VENDOR_NVIDIA };
	struct dec_view head;
	uint32_t sm = 0;
	char variant = 0;

	if (!dec_peek(b, &b->head, hit->at, (size_t)(size < TAGS_MAX ? size : TAGS_MAX), &head))
		return false;
	for (size_t at = TAGS; head.len >= 4 && at <= head.len - 4; at += 4) {
		uint16_t tag = dec_le16(head.p + at), value = dec_le16(head.p + at + 2);

		if (tag == TAG_END)
			break;
		if (tag == TAG_SM)
			sm = value / 10; /* stored times ten */
		if (tag == TAG_VARIANT && value == 1)
			variant = 'a';
	}
	if (sm)
		dec_declare_sm(&declared, DEC_CLASS_LTO, sm, variant);
	return dec_bare_list(b, hit, hit->limit, DEC_KIND_LTO_IR, &declared, NULL, NULL);
}

static bool spirv_list(struct dec_build *b, const struct dec_hit *hit)
{
	struct dec_declared declared = { .vendor = DEC_VENDOR_OTHER };

	return dec_bare_list(b, hit, hit->limit, DEC_KIND_SPIRV, &declared, NULL, NULL);
}

static bool old_fatbin_list(struct dec_build *b, const struct dec_hit *hit)
{
	return dec_note(
		b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_UNSUPPORTED_VERSION, hit->at, "magic",
		DEC_PARTIAL,
		"an old-style fat binary, as toolkits before 4.0 wrote them; its entries are "
		"not listed");
}

/* ---- rows --------------------------------------------------------------------------------- */

static const struct dec_probe_row ptx = { .format = DEC_FORMAT_PTX, .list = ptx_list };
static const struct dec_probe_row cubin = { .format = DEC_FORMAT_CUBIN };
static const struct dec_probe_row code_object = { .format = DEC_FORMAT_CODE_OBJECT };
static const struct dec_probe_row elf64 = { .format = DEC_FORMAT_ELF64, .host = dec_host_elf };
static const struct dec_probe_row elf_other = {
	.format = DEC_FORMAT_OTHER,
	.refusal = "is an ELF file that is not 64-bit little-endian; such host files are not taken",
};
static const struct dec_probe_row pe32plus = { .format = DEC_FORMAT_PE32PLUS, .host = dec_host_pe };
static const struct dec_probe_row pe32 = { .format = DEC_FORMAT_OTHER, .host = dec_host_pe };
static const struct dec_probe_row coff = { .format = DEC_FORMAT_COFF, .host = dec_host_coff };
static const struct dec_probe_row other = { .format = DEC_FORMAT_OTHER };

static const struct {
	const char *magic;
	size_t len;
	struct dec_probe_row row;
} magics[] = {
	{ "\x50\xed\x55\xba", 4, { .format = DEC_FORMAT_FATBIN, .container = true } },
	{ "__CLANG_OFFLOAD_BUNDLE__", 24, { .format = DEC_FORMAT_BUNDLE, .container = true } },
	{ "CCOB", 4, { .format = DEC_FORMAT_COMPRESSED_BUNDLE, .container = true } },
	{ "\x10\xff\x10\xad", 4, { .format = DEC_FORMAT_OFFLOAD_BINARY, .container = true } },
	{ "!<arch>\n", 8, { .format = DEC_FORMAT_AR, .list = dec_ar_list } },
	{ "!<thin>\n",
	  8,
	  { .refusal = "is a thin archive: the bytes of its members are in other files" } },
	{ "\xed\x43\x4e\x7f", 4, { .list = lto_list } },
	{ "\x03\x02\x23\x07", 4, { .list = spirv_list } },
	{ "\x07\x23\x02\x03", 4, { .list = spirv_list } },
	{ "\x01\x5a\xe5\x1e", 4, { .list = old_fatbin_list } },
	{ "BC\xc0\xde", 4, { .refusal = "is LLVM bitcode, which is no GPU container" } },
	{ "\xde\xc0\x17\x0b",
	  4,
	  { .refusal = "is wrapped LLVM bitcode, which is no GPU container" } },
};

static bool probe_elf(struct dec_build *b, struct dec_range range, const struct dec_probe_row **row)
{
	struct dec_elf elf;
	bool ok;

	if (!dec_elf_read(b, range.offset, range.offset + range.size, &elf, &ok))
		return false;
	if (elf.machine == DEC_EM_CUDA)
		*row = &cubin;
	else if (elf.machine == DEC_EM_AMDGPU)
		*row = &code_object;
	else if (ok && (elf.class != ELFCLASS64 || elf.data != ELFDATA2LSB))
		*row = &elf_other;
	else
		*row = &elf64;
	return true;
}

static bool probe_windows(struct dec_build *b, struct dec_range range,
			  const struct dec_probe_row **row)
{
	bool is_pe, is_plus, is_coff;

	if (!dec_pe_probe(b, range, &is_pe, &is_plus))
		return false;
	if (is_pe) {
		*row = is_plus ? &pe32plus : &pe32;
		return true;
	}
	if (!dec_coff_probe(b, range, &is_coff))
		return false;
	if (is_coff)
		*row = &coff;
	return true;
}

bool dec_probe(struct dec_build *b, struct dec_range range, const struct dec_probe_row **row)
{
	uint64_t size = range.size < DEC_PTX_HEAD ? range.size : DEC_PTX_HEAD;
	struct dec_declared declared;
	struct dec_view head, raw;

	*row = &other;
	if (!dec_peek(b, &b->head, range.offset, (size_t)size, &head))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (dec_starts(head, magics[i].magic, magics[i].len)) {
			*row = &magics[i].row;
			return true;
		}
	if (dec_starts(head, ELFMAG, SELFMAG))
		return probe_elf(b, range, row);
	if (dec_ptx_head(head, &declared, &raw)) {
		*row = &ptx;
		return true;
	}
	return probe_windows(b, range, row);
}
