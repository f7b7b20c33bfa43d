// The table of what a relay's store shows of a message is true: each version fills exactly its columns.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore, type StoreContents } from '../packages/relay/test/authorisation/store-contents.ts'
import { engines } from '../packages/relay/test/engines.ts'
import { startRelay } from '../packages/relay/test/relay-process.ts'
import { handshake, message, wireFriends } from '../packages/relay/test/wire.ts'
import { seenByVersion } from './seen-by-version.ts'

setDefaultTimeout(240_000)

/** The values of every column, without those that are not set. */
function valuesOf(contents: StoreContents): Map<string, string> {
  const values = Map.groupBy(
    contents.flatMap(({ table, fields }) =>
      Object.entries(fields).flatMap(([name, value]) =>
        value === null ? [] : [{ column: `${table}.${name}`, value: JSON.stringify(value) }],
      ),
    ),
    ({ column }) => column,
  )
  return new Map(
    Array.from(values, ([column, rows]) => [
      column,
      rows
        .map(({ value }) => value)
        .sort()
        .join(),
    ]),
  )
}

for (const engine of engines)
  test(`each version shows in the store on ${engine.name} what the threat model says`, async () => {
    const environment = await engine.environment()
    const relay = await startRelay({ env: environment })
    const store = await openStore({ dataDir: relay.dataDir, databaseUrl: environment.DATABASE_URL })
    for (const version of [1, 2, 3] as const) {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const { socket } = await alice.online()
      const before = valuesOf(await store.read(0))
      const frame = handshake(bob.alias, conv, 0)
      socket.send(version === 3 ? frame : { ...message(bob.alias, conv, 'hello'), crypto_v: version })
      await socket.next('ack')
      const after = valuesOf(await store.read(0))
      const changed = [...after.keys()].filter((column) => after.get(column) !== before.get(column))
      const named = seenByVersion.filter(({ versions }) => versions.includes(version))
      expect(changed.sort()).toEqual(named.flatMap(({ columns }) => columns).sort())
      await socket.close()
    }
    await store.close()
    await relay.stop()
  })
