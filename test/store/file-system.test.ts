import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { freshFolder } from './folder.ts'

/** `statfs(2)`, "f_type". */
const [ext4, overlay, tmpfs] = [0xef53, 0x794c7630, 0x01021994]

it.skipIf(process.platform !== 'linux').each([
  ['NFS', 0x6969],
  ['CIFS', 0xff534d42],
  // As a machine of 32 bits gives it.
  ['CIFS', 0xff534d42 | 0],
  ['SMB', 0xfe534d42],
])('refuses a store on %s (%d), and says how to have it all the same', async (name, kind) => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  const open = (): unknown => openStore(file, undefined, { kindOf: () => kind })
  expect(open).toThrow(StoreError)
  expect(open).toThrow(`${file}: its folder is on a network file system (${name}`)
  expect(open).toThrow('allowNetworkStore: true')
  expect(readdirSync(folder)).toEqual([])
  await openStore(file, undefined, { kindOf: () => kind, allowNetwork: true }).close()
  expect(open).toThrow(StoreError)
})

it.skipIf(process.platform !== 'linux').each([
  ['FUSE', 0x65735546],
  ['9P', 0x01021997],
])('takes one on %s, as containers have it for a disk, with a word', async (name, kind) => {
  const remarks: string[] = []
  await openStore(join(freshFolder(), 'store.db'), undefined, {
    kindOf: () => kind,
    warn: (remark) => remarks.push(remark),
  }).close()
  expect(remarks).toEqual([expect.stringContaining(`the store is on ${name}`)])
})

it.each([ext4, overlay, tmpfs])('takes a local one (%d)', async (kind) => {
  await openStore(join(freshFolder(), 'store.db'), undefined, { kindOf: () => kind }).close()
})

it.skipIf(process.platform !== 'linux')('asks for the nearest folder that is there', () => {
  const folder = freshFolder()
  const asked: string[] = []
  const kindOf = (path: string): number => {
    asked.push(path)
    if (path !== folder) throw new Error('ENOENT')
    return 0x6969
  }
  expect(() => openStore(join(folder, 'deep', 'down', 'store.db'), undefined, { kindOf })).toThrow('(NFS)')
  expect(asked).toEqual([join(folder, 'deep', 'down'), join(folder, 'deep'), folder])
})
