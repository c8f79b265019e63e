import { expect, test } from 'vitest'
import { databaseAddressProblem, withHost } from '../../src/core/database-address.ts'

test.each([
  'postgres://u:p@h:5432/db',
  'postgresql://u@h/db?sslmode=require',
  'postgres://u:p@/db?host=/run/postgresql',
  'postgres:///db?user=me&password=a@b',
  'postgres://h/db?user=alice@corp',
  'postgres://:p@h/db',
  'postgres://u:50%off@h/db',
  'postgres://u:%C3%BC%2F@h/db?application_name=100%',
  './data/a@b/listing-sync.db',
])('%s can be read', (address) => {
  expect(databaseAddressProblem(address)).toBeNull()
})

test.each([
  ['a /', 'postgres://u:p/w@h/db'],
  ['a / behind digits', 'postgres://u:12/w@h/db'],
  ['@/', 'postgres://u:p@/w@h/db'],
  ['a #', 'postgres://u:12#w@h/db'],
  ['a ?', 'postgres://u:12?w@h/db'],
  ['a code of no letter', 'postgres://u:p%E4@h/db'],
])('%s in a password ends the host, and none of it is quoted', (_, address) => {
  expect(databaseAddressProblem(address)).toMatch(/^is no address of a database; in its user and password write %2F/)
})

test('a host that is left out is this machine, also where an option has an @', () => {
  expect(withHost('postgres://u:p@/db')).toBe('postgres://u:p@localhost/db')
  expect(withHost('postgres://u:p@h/db?x=a@/b')).toBe('postgres://u:p@h/db?x=a@/b')
})
