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
    const pieces: string[] = []
    for await (const part of opened.bytes) {
      if (pieces.length === 0) await appendFile(join(directory, 'growing.csv'), 'b\n')
      pieces.push(part.toString())
    }
    expect(pieces.join('')).toBe('a\nb\n')
    expect(opened.end()).toEqual({ proven: false, reasons: ['the file changed while it was read'] })
  })
})

describe('links', () => {
  const options = optionsWith({ directory })

  test('out of the folder of a file or a pattern are not followed', async () => {
    await mkdir(join(directory, 'in', 'deep'), { recursive: true })
    await put('secret.txt', 'a key', 1)
    await symlink('../secret.txt', join(directory, 'in', 'export.xml'))
    await symlink(join(directory, 'secret.txt'), join(directory, 'in', 'deep', 'export.xml'))
    await symlink(directory, join(directory, 'in', 'away'))
    for (const [transport, source, folder] of [
      [file, 'in/export.xml', 'in'],
      [glob, 'in/*.xml', 'in'],
      [glob, 'in/d*/*.xml', 'in'],
      [glob, 'in/away/secret*.txt', null],
      [glob, 'in/[a]way/secret.txt', 'in'],
    ] as const) {
      const reading = receive(transport, source, options)
      if (folder === null) expect(await reading).toMatchObject({ text: 'a key' })
      else
        await expect(reading, source).rejects.toThrow(
          `is a link out of ${join(directory, folder)}, which is not followed; name the file itself as the source`,
        )
    }
  })

  test('within the folder are followed, and so is one to the folder itself', async () => {
    await mkdir(join(directory, 'kept', 'days'), { recursive: true })
    await put('kept/days/1.xml', 'first')
    await symlink('days/1.xml', join(directory, 'kept', 'latest.xml'))
    await symlink('kept', join(directory, 'current'))
    for (const source of ['kept/latest.xml', 'current/latest.xml'])
      expect(await receive(file, source, options)).toMatchObject({ text: 'first', reasons: [] })
    expect(await receive(glob, 'current/lat*.xml', options)).toMatchObject({ text: 'first' })
  })
})

test('a folder of more files than maxFiles is refused', async () => {
  await mkdir(join(directory, 'full'))
  for (let i = 0; i < 4; i++) await put(`full/${i}.xml`, 'x', i)
  expect(await receive(glob, 'full/*.xml', optionsWith({ directory, maxFiles: 4 }))).toMatchObject({ text: 'x' })
  await expect(glob('full/*.xml', optionsWith({ directory, maxFiles: 3 }))).rejects.toThrow(
    `${join(directory, 'full')} holds more than 3 files (maxFiles)`,
  )
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
