/** The program as a child process, once for each exit status. Everything else is tested in this process. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { homes, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import { command } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'

const all = homes(1, 3)

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(all))
})
afterEach(() => world.end())

describe('the exit status is', () => {
  test('0: the service is as the feed says', async () => {
    expect(await world.command('sync')).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('3') })
    expect(world.listings()).toHaveLength(3)
  })

  test('1: the run failed', async () => {
    world.configure({ north: { source: './nowhere.xml' } })
    const { status, stdout, stderr } = await world.command('sync', '--format', 'json')
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ result: 'failed' })
    expect(stderr).toContain('nowhere.xml')
  })

  test('2: a dry run found changes', async () => {
    const { status, stdout, stderr } = await world.command('diff', '--format', 'json')
    expect({ status, stderr }).toEqual({ status: 2, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ result: 'changes', counts: { create: 3 } })
    expect(world.standIn.counts.Create).toBe(0)
  })

  test('3: the guard holds something', async () => {
    await world.command('sync')
    world.deliver(zillowStart + zillowEnd)
    expect(await world.command('sync')).toMatchObject({ status: 3 })
  })

  test('4: something could not be done', async () => {
    const broken = zillowRecord(all[0]).replace(/<Bedrooms>.*<\/Bedrooms>/, '<Bedrooms/>')
    world.deliver(zillowStart + broken + zillowRecord(all[1]) + zillowEnd)
    expect(await world.command('sync')).toMatchObject({ status: 4 })
  })

  test('64: the words are wrong', async () => {
    const { status, stdout, stderr } = await world.command('dif')
    expect({ status, stdout }).toEqual({ status: 64, stdout: '' })
    expect(stderr).toContain("unknown command 'dif'")
  })

  test('78: there is no right configuration, looked for in config/listing-sync.yaml', async () => {
    const { status, stdout, stderr } = await command(['diff'], { cwd: world.folder })
    expect({ status, stdout }).toEqual({ status: 78, stdout: '' })
    expect(stderr).toContain(join('config', 'listing-sync.yaml'))
  })
})
