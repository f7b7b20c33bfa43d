// A relay's payment part as a separate process that tests can kill at any moment: `chain-process.ts <folder>
// <settings as JSON>`.
import { openSqlite } from '../src/storage/sqlite.ts'
import { openChainShop } from './chain-shop.ts'

const [folder = '', settings = '{}'] = process.argv.slice(2)
const storage = await openSqlite(folder)
const shop = await openChainShop(storage, JSON.parse(settings))
await shop.start()
console.log('reads')
