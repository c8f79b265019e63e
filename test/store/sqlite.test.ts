import { join } from 'node:path'
import { storeContract } from '../contract/store.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { freshFolder } from './folder.ts'

storeContract('in a file', () => openStore(join(freshFolder(), 'store.db')))
storeContract('in memory', () => openStore(':memory:'))
