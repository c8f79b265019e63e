import { expect, test } from 'vitest'
import { StoreAwayError, StoreConfigError, StoreError } from '../../src/core/errors.ts'
import { inWords, placeOf } from '../../src/store/postgres/failure.ts'

const thrown = (code: string, syscall?: string): Error =>
  Object.assign(new Error(`${syscall ?? ''} ${code}`.trim()), { code, ...(syscall && { syscall }) })

test.each([
  ['28P01', undefined, 'which a daemon reads only as it starts', StoreConfigError],
  ['CERT_HAS_EXPIRED', undefined, 'it has to be renewed on the server', StoreError],
  ['ERR_TLS_CERT_ALTNAME_INVALID', undefined, 'is for another name than the host', StoreConfigError],
  ['SELF_SIGNED_CERT_IN_CHAIN', undefined, 'name the file of its authority', StoreConfigError],
  ['ENOENT', 'open', "a file that `store` names can't be read", StoreConfigError],
  ['ENOENT', 'connect', "it can't be reached", StoreAwayError],
  ['EACCES', 'connect', "its socket can't be opened", StoreConfigError],
])('%s (%s) is told with what to do', (code, syscall, words, kind) => {
  const error = inWords('the database', thrown(code, syscall)) as Error
  expect([error.constructor, error.message]).toEqual([kind, expect.stringContaining(words)])
})

test('what the system lacks for a moment is no mistake of the configuration', () => {
  expect(inWords('the database', thrown('EMFILE', 'open'))).not.toBeInstanceOf(StoreError)
})

test('an address without a host names this machine', () => {
  expect(placeOf('postgres://u:p@/db?host=/run/postgresql')).toBe('the database db at localhost:5432')
})
