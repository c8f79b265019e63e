/** Writes ZIP archives for tests, right ones and wrong ones (PKWARE APPNOTE 4.3). */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipMember {
  name: string
  content?: Buffer | string
  /** Default: deflated. */
  stored?: boolean
  /** What the directory says in place of what is true. */
  method?: number
  checkSum?: number
  size?: number
  encrypted?: boolean
  /** Sizes and place in a ZIP64 field, as for members over 4 GB. */
  zip64?: boolean
  isLink?: boolean
}

export interface ZipOptions {
  /** How many members the directory claims to have. */
  entryCount?: number
}

const utf8Names = 0x0800
const inZip64 = 0xffffffff

/** An archive of these members, in their order. */
export function zip(members: readonly ZipMember[], options: ZipOptions = {}): Buffer {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const member of members) {
    const { local, central } = entry(member, offset)
    pieces.push(local)
    directory.push(central)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const count = options.entryCount ?? members.length
  return Buffer.concat([...pieces, central, ...ends(count, central.length, offset)])
}

function entry(member: ZipMember, offset: number): { local: Buffer; central: Buffer } {
  const content = Buffer.from(member.content ?? '')
  const data = member.stored ? content : deflateRawSync(content)
  const name = Buffer.from(member.name)
  const flags = utf8Names | (member.encrypted ? 1 : 0)
  const method = member.method ?? (member.stored ? 0 : 8)
  const sizes = member.zip64 ? [inZip64, inZip64] : [data.length, member.size ?? content.length]
  const common = [u16(45), u16(flags), u16(method), u32(0), u32(member.checkSum ?? crc32(content))]
  common.push(u32(sizes[0]), u32(sizes[1]), u16(name.length))
  const extra = member.zip64
    ? Buffer.concat([u16(1), u16(24), u64(member.size ?? content.length), u64(data.length), u64(offset)])
    : Buffer.alloc(0)
  const local = [u32(0x04034b50), ...common, u16(0), name, data]
  const madeOnUnix = u16((3 << 8) | 45)
  const mode = u32(((member.isLink ? 0o120777 : 0o100644) << 16) >>> 0)
  const place = u32(member.zip64 ? inZip64 : offset)
  const central = [u32(0x02014b50), madeOnUnix, ...common, u16(extra.length), u16(0), u16(0), u16(0), mode, place]
  return { local: Buffer.concat(local), central: Buffer.concat([...central, name, extra]) }
}

/** The end of the central directory, with its ZIP64 form before it where the count needs it. */
function ends(count: number, size: number, offset: number): Buffer[] {
  const pieces: Buffer[] = []
  if (count >= 0xffff) {
    const record = [u32(0x06064b50), u64(44), u16(45), u16(45), u32(0), u32(0)]
    pieces.push(...record, u64(count), u64(count), u64(size), u64(offset))
    pieces.push(u32(0x07064b50), u32(0), u64(offset + size), u32(1))
  }
  const entries = Math.min(count, 0xffff)
  pieces.push(u32(0x06054b50), u16(0), u16(0), u16(entries), u16(entries), u32(size), u32(offset), u16(0))
  return pieces
}

function u16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeUInt16LE(value)
  return buffer
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32LE(value)
  return buffer
}

function u64(value: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64LE(BigInt(value))
  return buffer
}
