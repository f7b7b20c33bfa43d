// Port 80 of a relay whose address has a path.
import { expect, test } from 'bun:test'
import { findFreePort } from '../../test/free-port.ts'
import { startPlainPort } from './plain-port.ts'

test('browsers are sent to the relay’s address with its path', async () => {
  const port = await findFreePort()
  const address = 'https://relay.example/sotto'
  const challenges = { find: async () => undefined }
  const opened = startPlainPort({ host: '127.0.0.1', port, address, challenges })
  const answer = await fetch(`http://127.0.0.1:${port}/pay/x?of=mine`, { redirect: 'manual' })
  expect(answer.headers.get('location')).toBe(`${address}/pay/x?of=mine`)
  await opened.stop()
})
