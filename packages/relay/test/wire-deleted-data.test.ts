// What was deleted is soon in no file of the data folder any more, while the relay runs.
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { useRelay } from './use-relay.ts'
import { befriend, handshake, message, type WireAccount, wireAccount } from './wire.ts'

const relay = useRelay()

/** A text like ciphertext, and pieces of it that are found wherever SQLite cuts it into pages. */
function ciphertext(bytes: number): { text: string; pieces: string[] } {
  const text = randomBytes(bytes / 2).toString('hex')
  const payload = Buffer.from(text).toString('base64')
  const pieces: string[] = []
  for (let at = 0; at + 48 <= payload.length; at += 997) pieces.push(payload.slice(at, at + 48))
  return { text, pieces }
}

/** Which of these texts are in which file of the relay's data folder. */
function findIn(folder: string, texts: readonly string[]): string[] {
  const found: string[] = []
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name)
    if (!statSync(file).isFile()) continue
    const content = readFileSync(file)
    found.push(...texts.filter((text) => content.includes(text)).map((text) => `${name}: ${text}`))
  }
  return found
}

async function untilGone(texts: readonly string[]): Promise<void> {
  for (let tries = 0; ; tries++) {
    const found = findIn(relay.process.dataDir, texts)
    if (found.length === 0) return
    if (tries === 600) expect(found).toEqual([])
    await Bun.sleep(50)
  }
}

async function sendAll(from: WireAccount, to: WireAccount, conv: string, texts: readonly string[]) {
  const socket = await from.connect()
  const ids = texts.map(() => crypto.randomUUID())
  for (const [at, text] of texts.entries()) {
    socket.send(message(to.alias, conv, text, ids[at]))
    await socket.next('ack')
  }
  await socket.close()
  return ids
}

test('a deleted account’s nickname, ciphertext, posts and push endpoint are in no file', async () => {
  const alice = await wireAccount(relay.url, 'alice')
  const carol = await wireAccount(relay.url, 'Carol-whose-name-must-go')
  const conv = await befriend(alice, carol)
  // Two sizes: one in a page of its table, one in pages of its own.
  const [short, long] = [ciphertext(300), ciphertext(30_000)]
  await sendAll(alice, carol, conv, [short.text, long.text])
  const group = ciphertext(20_000)
  const alices = await alice.connect()
  alices.send(handshake(carol.alias, conv, 0, { info: group.text }))
  await alices.next('ack')
  await alices.close()
  const { body } = await carol.post('/channels', { name: 'Channel-of-Carol' })
  await carol.post(`/channels/${body.channel_id}/posts`, { content: 'Post-that-Carol-wrote' })
  const endpoint = 'https://push.example.com/endpoint-of-Carol'
  const keys = {
    p256dh: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
    auth: 'tBHItJI5svbpez7KI4CCXg',
  }
  await carol.post('/push/subscribe', { endpoint, keys })
  const secrets = [
    'Carol-whose-name-must-go',
    carol.ed25519,
    carol.x25519,
    ...short.pieces,
    ...long.pieces,
    ...group.pieces,
    'Channel-of-Carol',
    'Post-that-Carol-wrote',
    'endpoint-of-Carol',
    keys.auth,
  ]
  // All of them are there before, so the search finds what is there.
  const before = findIn(relay.process.dataDir, secrets).join()
  expect(secrets.filter((secret) => !before.includes(secret))).toEqual([])

  expect((await carol.bare('DELETE', '/me')).status).toBe(200)
  await untilGone(secrets)
})

test('the ciphertext of a message that was delivered or retracted is in no file', async () => {
  const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
  const conv = await befriend(alice, bob)
  const [delivered, retracted] = [ciphertext(600), ciphertext(20_000)]
  const [, second = ''] = await sendAll(alice, bob, conv, [delivered.text, retracted.text])
  const { socket } = await bob.online()
  socket.send({ type: 'delivered', conv_id: conv, seq: 1, to: alice.alias })
  await socket.untilPong()
  await socket.close()
  const sender = await alice.connect()
  sender.send({ type: 'retract', id: second, to: bob.alias, conv_id: conv })
  await sender.next('retract_ack')
  await untilGone([...delivered.pieces, ...retracted.pieces])
})

test('a former nickname is in no file', async () => {
  const dave = await wireAccount(relay.url, 'Dave-and-his-former-name')
  const headers = { ...dave.authorized(), 'content-type': 'application/json' }
  await fetch(dave.api('/me'), { method: 'PATCH', headers, body: JSON.stringify({ nickname: 'D' }) })
  await untilGone(['Dave-and-his-former-name'])
})
