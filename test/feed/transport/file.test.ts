import { appendFile, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { file } from '../../../src/feed/transport/file.ts'
import { glob } from '../../../src/feed/transport/glob.ts'
import { open, optionsWith, receive, transportContract } from '../../contract/transport.ts'

const directory = await mkdtemp(join(tmpdir(), 'listing-sync-transport-'))
afterAll(() => rm(directory, { recursive: true }))
let count = 0

async function put(name: string, content: string | Buffer, day = 1): Promise<string> {
  await writeFile(join(directory, name), content)
  await utimes(join(directory, name), day * 86_400, day * 86_400)
  return name
}

transportContract({
  name: 'file',
  transport: file,
  directory,
  put: (content) => put(`feed-${++count}.xml`, content),
  missing: async () => 'nowhere.xml',
})

transportContract({
  name: 'glob',
  transport: glob,
  directory,
  put: async (content) => (await put(`glob-${++count}.xml`, content)).replace('glob', 'gl*b'),
  missing: async () => 'nowhere-*.xml',
})

describe('file', () => {
  test('a directory, and a file where a directory should be, are named', async () => {
    await expect(file('.', optionsWith({ directory }))).rejects.toThrow(/is not a regular file/)
    await put('plain', 'x')
    await expect(file('plain/feed.xml', optionsWith({ directory }))).rejects.toThrow(/does not exist/)
  })

  test('a file that grows while it is read is doubtful', async () => {
    const opened = await open(file, await put('growing.csv', 'a\n'), optionsWith({ directory }))
    const parts: string[] = []
    for await (const part of opened.bytes) {
      if (parts.length === 0) await appendFile(join(directory, 'growing.csv'), 'b\n')
      parts.push(part.toString())
    }
    expect(parts.join('')).toBe('a\nb\n')
    expect(opened.end()).toEqual({ proven: false, reasons: ['the file changed while it was read'] })
  })
})

describe('glob', () => {
  test('takes the newest regular file, the last by name of equals, and no hidden one', async () => {
    const options = optionsWith({ directory })
    await mkdir(join(directory, 'drop'))
    await put('drop/z.xml', 'old', 1)
    await put('drop/a.xml', 'newer', 2)
    await put('drop/b.xml', 'newest', 2)
    await put('drop/.c.xml', 'hidden', 3)
    await mkdir(join(directory, 'drop', 'd.xml'))
    await symlink('nowhere', join(directory, 'drop', 'e.xml'))
    const received = await receive(glob, 'drop/*.xml', options)
    expect(received).toMatchObject({ text: 'newest', name: join(directory, 'drop/b.xml') })
    await expect(glob('drop/d*', options)).rejects.toThrow(
      'no file matches drop/d* (what matches is not a regular file or is still being uploaded)',
    )
  })
})
