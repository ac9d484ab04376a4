/*
 * An ELF file that is a payload. Every record is translated where it stands, so that nothing is
 * allocated and nothing is believed: a number from the file is a place only once it fits.
 */
#include "inspect_internal.h"

#include <elf.h>
#include <libelf.h>

static const struct dec_view nothing = { (const uint8_t *)dec_absent, 0, 0 };

/* One record of a table whose entries have the size that ELF64 gives them. */
static bool record(const struct dec_elfview *elf, uint64_t table, uint64_t count, uint64_t index,
		   Elf_Type type, void *out, size_t size)
{
	struct dec_view v;

	if (index >= count || count > elf->payload->len / size ||
	    !dec_fits(table, count * size, elf->payload->len) ||
	    !dec_payload_slice(elf->payload, table + index * size, size, &v))
		return false;
	return dec_elf_translate(out, size, v.p, size, (int)type, &elf->h);
}

bool dec_elfview_open(const struct dec_payload *payload, struct dec_elfview *elf)
{
	struct dec_view v = dec_payload_head(payload, sizeof(Elf64_Ehdr));

	*elf = (struct dec_elfview){
		.payload = payload,
		.h = { .at = payload->origin, .room = payload->len },
	};
	if (!dec_elf_header(v, &elf->h) || elf->h.class != ELFCLASS64 || elf->h.data != ELFDATA2LSB)
		return false;
	if (dec_elf_has_escapes(&elf->h) &&
	    dec_payload_slice(payload, elf->h.shoff, sizeof(Elf64_Shdr), &v))
		dec_elf_escapes(&elf->h, v.p);
	return true;
}

/* ---- sections -------------------------------------------------------------------------- */

bool dec_elfview_has_sections(const struct dec_elfview *elf)
{
	return elf->h.shoff && elf->h.shnum && elf->h.shentsize == sizeof(Elf64_Shdr) &&
	       elf->h.shnum <= DEC_ELF_SECTIONS_MAX &&
	       elf->h.shnum <= elf->payload->len / sizeof(Elf64_Shdr) &&
	       dec_fits(elf->h.shoff, elf->h.shnum * sizeof(Elf64_Shdr), elf->payload->len);
}

/* Bytes up to the NUL that ends them, which must be there. */
static struct dec_view name_in(const struct dec_elfview *elf, struct dec_range strings, uint64_t at)
{
	struct dec_view name;
	uint64_t left;
	size_t len;

	if (at >= strings.size)
		return nothing;
	left = strings.size - at;
	if (!dec_payload_slice(elf->payload, strings.offset + at,
			       left < DEC_ELF_NAME_MAX ? left : DEC_ELF_NAME_MAX, &name))
		return nothing;
	len = strnlen((const char *)name.p, name.len);
	if (len == name.len)
		return nothing;
	name.len = len;
	return name;
}

static bool header_at(const struct dec_elfview *elf, uint64_t index, Elf64_Shdr *h)
{
	return elf->h.shoff && elf->h.shentsize == sizeof(*h) && index < DEC_ELF_SECTIONS_MAX &&
	       record(elf, elf->h.shoff, elf->h.shnum, index, ELF_T_SHDR, h, sizeof(*h));
}

static struct dec_range content(const struct dec_elfview *elf, const Elf64_Shdr *h)
{
	if (!dec_elf_has_content(&elf->h, h->sh_type) ||
	    !dec_fits(h->sh_offset, h->sh_size, elf->payload->len))
		return (struct dec_range){ 0, 0 };
	return (struct dec_range){ h->sh_offset, h->sh_size };
}

static struct dec_range section_names(const struct dec_elfview *elf)
{
	Elf64_Shdr h;

	return header_at(elf, elf->h.shstrndx, &h) ? content(elf, &h) : (struct dec_range){ 0, 0 };
}

bool dec_elfview_section(const struct dec_elfview *elf, uint64_t index, struct dec_elfsection *s)
{
	struct dec_view name;
	Elf64_Shdr h;

	if (!header_at(elf, index, &h))
		return false;
	name = name_in(elf, section_names(elf), h.sh_name);
	*s = (struct dec_elfsection){
		.index = index,
		.name = name,
		.named = name.p != nothing.p,
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.flags = h.sh_flags,
		.addr = h.sh_addr,
		.offset = h.sh_offset,
		.size = h.sh_size,
		.align = h.sh_addralign,
		.entsize = h.sh_entsize,
		.inside = dec_fits(h.sh_offset, h.sh_size, elf->payload->len),
		.content = content(elf, &h),
	};
	return true;
}

struct dec_view dec_elfview_bytes(const struct dec_elfview *elf, const struct dec_elfsection *s)
{
	struct dec_view v;

	if (dec_payload_slice(elf->payload, s->content.offset, s->content.size, &v))
		return v;
	return nothing;
}

/* ---- segments --------------------------------------------------------------------------- */

static bool segment_at(const struct dec_elfview *elf, uint64_t index, Elf64_Phdr *h)
{
	return elf->h.phoff && elf->h.phentsize == sizeof(*h) &&
	       record(elf, elf->h.phoff, elf->h.phnum, index, ELF_T_PHDR, h, sizeof(*h));
}

bool dec_elfview_segment(const struct dec_elfview *elf, uint64_t index, uint32_t *type,
			 uint64_t *offset, uint64_t *vaddr, uint64_t *filesz, uint64_t *memsz)
{
	Elf64_Phdr h;

	if (!segment_at(elf, index, &h))
		return false;
	*type = h.p_type;
	*offset = h.p_offset;
	*vaddr = h.p_vaddr;
	*filesz = h.p_filesz;
	*memsz = h.p_memsz;
	return true;
}

bool dec_elfview_address(const struct dec_elfview *elf, uint64_t vaddr, uint64_t size,
			 uint64_t *offset)
{
	Elf64_Phdr h;

	for (uint64_t i = 0; i < DEC_ELF_SEGMENTS_MAX && segment_at(elf, i, &h); i++) {
		if (h.p_type != PT_LOAD || vaddr < h.p_vaddr ||
		    !dec_fits(vaddr - h.p_vaddr, size, h.p_filesz) ||
		    !dec_fits(h.p_offset, h.p_filesz, elf->payload->len))
			continue;
		*offset = h.p_offset + (vaddr - h.p_vaddr);
		return true;
	}
	return false;
}

/* ---- symbols ------------------------------------------------------------------------------ */

uint64_t dec_elfview_symbol_count(const struct dec_elfsection *table)
{
	if (table->entsize != sizeof(Elf64_Sym))
		return 0;
	return table->content.size / sizeof(Elf64_Sym);
}

bool dec_elfview_symbol(const struct dec_elfview *elf, const struct dec_elfsection *table,
			const struct dec_elfsection *strings, uint64_t index,
			struct dec_elfsymbol *s)
{
	struct dec_view v;
	Elf64_Sym sym;

	if (index >= table->content.size / sizeof(sym) ||
	    !dec_payload_slice(elf->payload, table->content.offset + index * sizeof(sym),
			       sizeof(sym), &v) ||
	    !dec_elf_translate(&sym, sizeof(sym), v.p, sizeof(sym), ELF_T_SYM, &elf->h))
		return false;
	*s = (struct dec_elfsymbol){
		.index = index,
		.name = name_in(elf, strings->content, sym.st_name),
		.info = sym.st_info,
		.other = sym.st_other,
		.shndx = sym.st_shndx,
		.value = sym.st_value,
		.size = sym.st_size,
	};
	return true;
}
