// A process whose client reads what waits, and which is killed at a chosen write of received messages.
// Arguments: the address of the relay, the folder of the store, the number of the write from 1, `before` or
// `after` it, and the text of the last message. Each line that it prints is a `ReaderLine` as JSON.
import { writeSync } from 'node:fs'
import { SottoClient } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { FileStore } from '../src/stores/file-store.ts'

/** How many messages a write has, the text of a message that was shown, or what else was told. */
export type ReaderLine = { readonly writes: number } | { readonly shows: string } | { readonly tells: string }

const [relayUrl = '', folder = '', endAt = '', when = '', lastText = ''] = process.argv.slice(2)
const print = (line: ReaderLine): void => void writeSync(1, `${JSON.stringify(line)}\n`)

const store = await FileStore.open(folder)
const write = store.write.bind(store)
let count = 0
store.write = async (changes) => {
  const writes = changes.filter((each) => each.change === 'message' && !each.message.isMe).length
  if (writes === 0) return write(changes)
  count += 1
  print({ writes })
  const isLast = String(count) === endAt
  if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
  await write(changes)
  if (isLast) process.kill(process.pid, 'SIGKILL')
}
const client = await SottoClient.open({ relayUrl, store, forwardSecrecy: forwardSecrecy() })
const ended = Promise.withResolvers<void>()
client.on('error', (error) => print({ tells: error.message }))
client.on('secrecy', ({ notice }) => print({ tells: notice.tell }))
client.on('message', ({ text }) => {
  print({ shows: text })
  if (text === lastText) ended.resolve()
})
client.connect()
await ended.promise
await client.close()
