// Somebody with the app at a hostile relay, and what a hostile relay and a hostile friend write.
import { expect } from 'bun:test'
import { friendOf, type HostileRelay, type Peer } from '../../client/test/hostile-relay.ts'
import type { AppPerson } from './app-person.ts'
import type { AppStage } from './app-stage.ts'

/** The longest time, in milliseconds, for which the page may not answer. */
export const FREEZE_MS = 200

const SCRIPT = 'globalThis.ran=true;document.title="ran"'

/** Texts that would run, reverse, hide or freeze something, if they were more than text. */
export const TRICKS = [
  `<script>${SCRIPT}</script>`,
  `<img src=x onerror='${SCRIPT}'>`,
  `<svg onload='${SCRIPT}'><iframe srcdoc="<script>parent.ran=true</script>">`,
  `javascript:${SCRIPT}`,
  `[a link](javascript:${SCRIPT}) ![](http://attacker.invalid/pixel.png)`,
  `data:text/html,<script>${SCRIPT}</script>`,
  'https://attacker.invalid/\u202egnp.exe',
  '\u202e\u2066\u2067all of it backwards\u202d',
  '{{constructor.constructor("globalThis.ran=true")()}}',
  '\u0000\u0007\u001b[31m\u2028\u2029\ufeff',
  'e\u0301'.repeat(500) + '\u0323\u0302'.repeat(2000),
  '👩‍👩‍👧‍👦'.repeat(1000),
  'x'.repeat(60_000),
  '\n'.repeat(20_000),
  '(('.repeat(8000),
  'https://'.repeat(6000),
  '#'.repeat(30_000),
]

/** Somebody whom nothing of it may harm. */
export interface Victim {
  readonly person: AppPerson
  /** Sends a message from a friend, with this time if one is given. */
  readonly says: (peer: Peer, text: string, at?: number) => void
  /** Dialogs that a script opened. */
  readonly dialogs: readonly string[]
}

/** A new account at the hostile relay, with these friends. */
export async function victimOf(
  stage: AppStage,
  relay: HostileRelay,
  friends: readonly Peer[] = [],
  fields: Record<string, unknown> = {},
): Promise<Victim> {
  let publicKey = ''
  relay.answers['POST /register'] = (body) => {
    publicKey = String(body.x25519_public_key)
    return { body: { uuid: relay.uuid, alias_id: relay.aliasId } }
  }
  relay.friends = friends.map((peer) => friendOf(peer, fields))
  const person = await stage.stranger('Victim', {}, relay.url)
  const dialogs: string[] = []
  person.page.on('dialog', (dialog) => dialogs.push(dialog.message()))
  await person.registers()
  let seq = 0
  const says: Victim['says'] = (peer, text, at) => {
    seq++
    const payload = peer.payloadTo(publicKey, text)
    const parties = { from: peer.aliasId, to: relay.aliasId, conv_id: peer.conversationId }
    const told = { seq, at: at ?? 1_700_000_000_000 + seq }
    relay.send({ type: 'msg', id: crypto.randomUUID(), crypto_v: 1, payload, ...parties, ...told })
  }
  return { person, says, dialogs }
}

/** Expects that no script ran and the title is the app's. A request to anybody else fails the test anyway. */
export async function expectUnharmed({ person, dialogs }: Victim): Promise<void> {
  expect(await person.page.evaluate(() => 'ran' in globalThis)).toBe(false)
  expect(await person.page.title()).not.toContain('ran')
  expect(dialogs).toEqual([])
}
