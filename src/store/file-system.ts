/** Checks that a store lies on a disk of this machine. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { storeError } from './failure.ts'

/** File systems that several machines may share, so that neither locks nor shared memory can be relied on; by their number in Linux. */
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
}

/** File systems that may be a disk of this machine, handed into a container, or another machine's: nothing here can tell. */
const doubtful: Readonly<Record<number, string>> = {
  0x01021997: '9P',
  0x786f4256: 'a shared folder of VirtualBox',
  0x65735546: 'FUSE',
}

/** The kind of file system that a path is on, as `statfs` numbers it. Throws what `statfs` throws. */
export type KindOf = (path: string) => number

const kindOfFileSystem: KindOf = (path) => statfsSync(path).type

/**
 * A warning about where the file lies, or would lie; null: none. Throws `StoreError` for a file system on which two processes may
 * both believe that they have the store to themselves.
 */
export function assertLocal(file: string, kindOf: KindOf = kindOfFileSystem): string | null {
  const kind = kindAt(dirname(file), kindOf)
  if (kind === null) return null
  if (kind in doubtful)
    return `the store is on ${doubtful[kind]}: if that is a folder of another machine, put it on a local disk, as locks may not hold there`
  if (!(kind in foreign)) return null
  throw storeError(
    file,
    `its folder is on a network file system (${foreign[kind]}), where locks do not hold: two runs could write at once, and a crash could damage the store. ` +
      'Name a file on a local disk, or say `allowNetworkStore: true` if you know that no other process ever opens this one',
  )
}

/** The file system of the nearest existing folder above; null: unknown. */
function kindAt(folder: string, kindOf: KindOf): number | null {
  // On other systems the numbers mean something else.
  if (process.platform !== 'linux') return null
  for (let path = folder; ; path = dirname(path)) {
    try {
      return kindOf(path) >>> 0
    } catch {
      if (path === dirname(path)) return null
    }
  }
}
