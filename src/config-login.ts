/**
 * What does not fit together in a feed's `source`, `login` and `ready`. Any part may be of a wrong kind: of those the
 * schema complains.
 */
import { isHttp } from './config-address.ts'
import { isRemote, remoteAddress } from './feed/transport/address.ts'
import type { RemoteAddress } from './feed/transport/address.ts'
import type { Located } from './schema-words.ts'

/** Keys of `login`, by the scheme that takes them. */
const taken: Record<RemoteAddress['scheme'], string[]> = {
  sftp: ['user', 'password', 'privateKey', 'passphrase', 'hostKey'],
  ftp: ['user', 'password'],
  ftps: ['user', 'password', 'ca'],
}

/** Problems, with their paths from the feed on. */
export function loginProblems({ source, login, ready }: Record<string, unknown>): Located[] {
  if (typeof source !== 'string') return []
  const problems: Located[] = []
  if ((isHttp(source) || source === '-') && ready !== undefined) {
    problems.push({ path: ['ready'], problem: 'only files and folders take ready' })
  }
  if (!isRemote(source)) {
    if (login !== undefined) problems.push({ path: ['login'], problem: 'only an sftp or ftp(s) source takes login' })
    return problems
  }
  const address = remoteAddress(source)
  if (typeof address === 'string') return []
  const said = login !== null && typeof login === 'object' ? (login as Record<string, unknown>) : {}
  return [...misplaced(address, said), ...(address.scheme === 'sftp' ? lackingForSftp : lackingForFtp)(address, said)]
}

function misplaced(address: RemoteAddress, login: Record<string, unknown>): Located[] {
  const { scheme } = address
  const foreign = Object.values(taken)
    .flat()
    .filter((key) => key in login && !taken[scheme].includes(key))
  const twice = (['user', 'password'] as const).filter((key) => address[key] !== null && key in login)
  return [
    ...[...new Set(foreign)].map((key) => ({ path: ['login', key], problem: `is not for ${scheme}` })),
    ...twice.map((key) => ({ path: ['login', key], problem: 'is in the address of the source, too; say it once' })),
  ]
}

function lackingForFtp({ user }: RemoteAddress, login: Record<string, unknown>): Located[] {
  if (user !== null || 'user' in login || !('password' in login)) return []
  return [{ path: ['login', 'password'], problem: 'is for a user, and there is none' }]
}

function lackingForSftp({ user, password, host, port }: RemoteAddress, login: Record<string, unknown>): Located[] {
  const problems: string[] = []
  if (user === null && !('user' in login)) problems.push('lacks the user to log in as')
  if (password === null && !('password' in login) && !('privateKey' in login)) {
    problems.push('lacks a password or a privateKey')
  }
  if (!('hostKey' in login)) {
    const scan = `ssh-keyscan ${port === 22 ? '' : `-p ${port} `}${host} | ssh-keygen -lf -`
    problems.push(
      `lacks hostKey, by which the server is known; compare what "${scan}" prints with what its owner says, and write it here`,
    )
  }
  const lacking = problems.map((problem) => ({ path: ['login'], problem }))
  if ('passphrase' in login && !('privateKey' in login)) {
    lacking.push({ path: ['login', 'passphrase'], problem: 'is for a privateKey, and there is none' })
  }
  return lacking
}
