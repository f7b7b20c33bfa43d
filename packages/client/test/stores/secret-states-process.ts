// A process with secret states in a folder, which ends at a chosen write to the disk as if it were killed.
// Arguments: the folder, the number of the write from 0, and `before` or `after` it.
import { open } from 'node:fs/promises'
import { FileStore } from '../../src/stores/file-store.ts'
import { bytes, openStates } from './secret-states-world.ts'
import { conversationId, messageOf } from './store-contract.ts'

const [folder = '', endAt = '', when = ''] = process.argv.slice(2)

/** Every way in which the store and its slots write to the disk. */
const WRITES = ['write', 'appendFile', 'datasync', 'truncate']

const probe = await open(process.execPath)
const prototype = Object.getPrototypeOf(probe)
await probe.close()
let writes = 0
for (const name of WRITES) {
  const original: unknown = Reflect.get(prototype, name)
  if (typeof original !== 'function') throw new Error(`a file has no ${name}`)
  Reflect.set(prototype, name, async function (this: unknown, ...args: unknown[]) {
    const isLast = String(writes) === endAt
    writes += 1
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
    const result: unknown = await Reflect.apply(original, this, args)
    if (isLast) process.kill(process.pid, 'SIGKILL')
    return result
  })
}

const store = await FileStore.open(folder)
const states = await openStates(store)
for (let seq = 1; seq <= 4; seq += 1) {
  const update = { kind: 'conversation', id: 'a', state: bytes(`${seq}`) } as const
  const message = messageOf({ id: `m${seq}`, seq, conversationId })
  await states.write([update], [{ change: 'message', message }], { rotates: seq === 2 })
  process.stdout.write(`${seq}\n`)
}
await states.close()
await store.close()
process.stdout.write('closed\n')
