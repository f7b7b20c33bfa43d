// A node with a lease and nothing else, as a separate process, so that a test can stop it in the middle of
// its work. It prints `turn` when its turn begins. For each line of its input it writes a row in that turn:
// it begins a transaction, prints `entered`, reads another line, writes, commits, and prints `written`, or
// the name of the error.
import { createInterface } from 'node:readline'
import { Lease } from '../src/cluster/lease.ts'
import { systemClock } from '../src/operations/clock.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { openPostgresBeside } from '../src/storage/postgres.ts'

const [url = '', name = ''] = process.argv.slice(2)
const storage = openPostgresBeside(url, { connections: 4 })
const parts = { storage, clock: systemClock, randomBytes: systemRandom, log: createLog('silent') }
const lease = new Lease('work', parts)
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const print = (text: string): void => void process.stdout.write(`${text}\n`)

lease.inEach(async (turn) => {
  print('turn')
  while (!(await lines.next()).done) {
    await turn.storage
      .transaction(async (sql) => {
        print('entered')
        await lines.next()
        await sql`INSERT INTO relay_state (name, value) VALUES (${name}, '1')`
      })
      .then(
        () => print('written'),
        (error) => print(error.name),
      )
  }
})
await lease.start()
