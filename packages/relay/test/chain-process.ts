// A relay's part in payments as a process of its own, to be killed at any moment: `chain-process.ts <folder> <settings as JSON>`.
import { openSqlite } from '../src/storage/sqlite.ts'
import { openChainShop } from './chain-shop.ts'

const [folder = '', settings = '{}'] = process.argv.slice(2)
const storage = await openSqlite(folder)
const shop = await openChainShop(storage, JSON.parse(settings))
await shop.start()
console.log('reads')
