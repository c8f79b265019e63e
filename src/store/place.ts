/** Where a store may lie: on a disk of this machine (fault-model F73). */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { storeError } from './failure.ts'

/** Kinds of file systems whose locks or shared memory are not those of one machine, by the number that Linux gives them. */
const foreign: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x5346414f: 'AFS',
  0x6b414653: 'AFS',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
  0x47504653: 'GPFS',
  0x01021997: '9P, a folder of another machine',
  0x786f4256: 'a shared folder of VirtualBox',
  0x65735546: 'FUSE, a file system that a program provides',
}

/** The kind of file system that a path is on, as `statfs` numbers it. Throws what `statfs` throws. */
export type KindOf = (path: string) => number

const kindOfFileSystem: KindOf = (path) => statfsSync(path).type

/**
 * Throws `StoreError` where the file lies, or would lie, on a file system on which two processes may both believe that they
 * have the store to themselves.
 */
export function assertLocal(file: string, kindOf: KindOf = kindOfFileSystem): void {
  // Elsewhere the numbers mean something else.
  if (process.platform !== 'linux') return
  for (let path = dirname(file); ; path = dirname(path)) {
    let kind
    try {
      kind = kindOf(path) >>> 0
    } catch {
      if (path === dirname(path)) return
      continue
    }
    const name = foreign[kind]
    if (name === undefined) return
    throw storeError(
      file,
      `its folder is on a network file system or the like (${name}), where locks do not hold: two runs could write at once, and a crash could damage the store. ` +
        'Name a file on a local disk, or say `allowNetworkStore: true` if you know that no other process ever opens this one',
    )
  }
}
