import { resolve } from 'node:path'
import type { CommandContext } from '../app/app.ts'
import { databaseAddressProblem, databaseUrl } from '../core/database-address.ts'
import { UsageError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { many, printable } from '../core/text.ts'
import { migrateStore, shown } from '../store/migrate.ts'

/**
 * `store migrate FROM TO`: a whole copy of a store, of another kind where one is a file and one a postgres:// address. `${NAME}` in
 * an address is taken from the environment, as in a configuration, so that its password stands in no list of processes.
 */
export async function storeMigrateCommand({ doors, env }: CommandContext, from: string, to: string): Promise<number> {
  const [source, target] = [from, to].map((store) => {
    if (!store.includes('://')) return resolve(store)
    const address = store.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const value = env[name]
      if (value === undefined) throw new UsageError(`the environment has no ${name}, which an address names`)
      return value
    })
    const problem = databaseAddressProblem(address)
    if (problem !== null) throw new UsageError(`FROM or TO of store migrate ${problem}`)
    const url = databaseUrl(address)
    if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
      throw new UsageError(
        'store migrate takes paths of files and addresses such as postgres://USER:PASSWORD@HOST/DATABASE',
      )
    doors.learn([url.password, decodeURIComponent(url.password)].filter((secret) => secret !== ''))
    return address
  })
  const copied = await migrateStore(source, target)
  const rows = [...copied.values()].reduce((sum, count) => sum + count, 0)
  doors.out.write(
    `The store ${printable(shown(source))} is copied to ${printable(shown(target))}: ${many(copied.get('listing') ?? 0, 'listing')}, ${many(rows, 'row')} in all, ` +
      'each table alike by count and hash.\n' +
      'Name the new one as `store`, and let nothing run on the old one any more.\n',
  )
  return exitStatus.right
}
