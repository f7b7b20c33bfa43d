// Every frame, sent by every kind of caller; and WebSockets of those that may have none: with a login that is
// not valid, or with a token that dies while it is open.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ClientFrameType, clientFrames, errors } from '@sotto/protocol'
import {
  BAD_LOGINS,
  type BadLogin,
  bearer,
  type Caller,
  type Credentials,
  callerOf,
} from './authorisation/callers.ts'
import { expectNoChange } from './authorisation/expect-changes.ts'
import { checkFrame, connect, type Sockets } from './authorisation/frame-matrix.ts'
import { frameRows } from './authorisation/frame-rows.ts'
import { useWorld } from './authorisation/use-world.ts'
import type { World } from './authorisation/world.ts'
import { settled, signal, textsOf } from './call-frames.ts'
import { engines } from './engines.ts'
import { RawSocket, rawHttp, requestOf, UPGRADE } from './raw.ts'
import { useRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, WireSocket, wireAccount, wireFriends } from './wire.ts'

const types = Object.keys(clientFrames) as ClientFrameType[]
const otherRelay = useRelay()

test('every frame has a row, and no row is for a frame that does not exist', () => {
  expect(Object.keys(frameRows).sort()).toEqual(Object.keys(clientFrames).sort())
})

/** A frame of each type to the owner, as the caller may send it while its token is alive. */
function framesTo(world: World, caller: Caller): string[] {
  const { things } = world
  return types.flatMap((type) =>
    frameRows[type].map(({ frame }) => JSON.stringify({ type, ...frame({ things, caller }) })),
  )
}

const withHeaders = ({ headers }: Credentials): Credentials => ({ headers })
const inQuery = ({ headers }: Credentials): Credentials => {
  const token = headers.authorization?.split(' ')[1]
  return { headers: {}, ...(token === undefined ? {} : { query: { token } }) }
}

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const used = useWorld(engine, otherRelay)
    describe('a frame', () => {
      let sockets: Sockets
      beforeAll(async () => {
        sockets = await connect(used.world)
      }, 240_000)
      afterAll(() => Promise.all(Object.values(sockets).map((socket) => socket.close())))

      test.each(types)('%s', async (type) => {
        await checkFrame({ world: used.world, sockets }, type, frameRows[type])
      })
    })

    const upgrade = (query: Readonly<Record<string, string>>, headers: Credentials['headers']) => {
      const target = `/ws?${new URLSearchParams(query)}`
      return rawHttp(used.world.relay.url, requestOf(`GET ${target}`, { ...UPGRADE, ...headers }))
    }
    /** Expects an upgrade to be refused, to change nothing, and to leave the owner's connection alone. */
    const expectRefused = async (
      owners: { untilPong(): Promise<unknown[]> },
      tried: Credentials,
      code: 'UNAUTHENTICATED' | 'TICKET_INVALID',
    ): Promise<void> => {
      const before = await used.world.contents()
      const { status, body } = await upgrade(tried.query ?? {}, tried.headers)
      expect([status, JSON.parse(body).error]).toEqual([errors[code].status, code])
      expectNoChange({ before, after: await used.world.contents() })
      expect(await owners.untilPong()).toEqual([])
    }

    /** Expects an upgrade that only says that the token is dead, and changes nothing. */
    const expectDead = async ({ headers, query }: Credentials): Promise<void> => {
      const before = await used.world.contents()
      if (query === undefined) expect((await upgrade({}, headers)).status).toBe(101)
      else {
        const socket = await WireSocket.open(`${used.world.owner.wsUrl()}?${new URLSearchParams(query)}`)
        expect(await socket.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
        expect((await socket.closed).code).toBe(4401)
        expect(socket.frames).toEqual([])
      }
      expectNoChange({ before, after: await used.world.contents() })
    }

    test('an upgrade without a valid login is refused, or says only that the token is dead', async () => {
      const { owner, badLogins } = used.world
      const { socket: owners } = await owner.online()
      const user_uuid = owner.uuid
      for (const [kind, credentials] of Object.entries(badLogins) as [BadLogin, Credentials][]) {
        if (kind === 'with the token in the query') continue // Here a token may come in the query.
        for (const { headers, query } of [withHeaders(credentials), inQuery(credentials)]) {
          if (kind === 'with another scheme' && query) continue // There is no scheme in the query.
          if (BAD_LOGINS[kind] === 'UNAUTHENTICATED') {
            await expectRefused(owners, { headers, query: { user_uuid, ...query } }, 'UNAUTHENTICATED')
            continue
          }
          await expectDead(query === undefined ? { headers } : { headers, query })
          expect(await owners.untilPong()).toEqual([])
        }
      }
      await owners.close()
    })

    test('a token or ticket opens no WebSocket for another account', async () => {
      const { owner, callers } = used.world
      const { socket: owners } = await owner.online()
      for (const { account } of Object.values(callers)) {
        if (account === owner) continue
        const token = { headers: {}, query: { user_uuid: owner.uuid, token: account.token } }
        await expectRefused(owners, token, 'UNAUTHENTICATED')
        const inHeader = { ...bearer(account.token), query: { user_uuid: owner.uuid } }
        await expectRefused(owners, inHeader, 'UNAUTHENTICATED')
        const { status, body } = await upgrade({ user_uuid: owner.uuid, ticket: await account.ticket() }, {})
        expect([status, JSON.parse(body).error]).toEqual([401, 'TICKET_INVALID'])
        expect(await owners.untilPong()).toEqual([])
      }
      await owners.close()
    })

    const endings: Readonly<Record<string, (account: WireAccount) => Promise<{ status: number }>>> = {
      'logged out': (account) => account.bare('POST', '/auth/logout'),
      'logged out everywhere': (account) => account.bare('POST', '/auth/logout-all'),
      deleted: (account) => account.bare('DELETE', '/me'),
    }
    test.each(Object.keys(endings))('a WebSocket that was %s carries out no frame', async (ending) => {
      const { world } = used
      const caller = await callerOf('friend', world.owner)
      const raw = await RawSocket.open(caller.account)
      const { socket: owners } = await world.owner.online()
      expect((await endings[ending]?.(caller.account))?.status).toBe(200)
      await raw.until((text) => text.includes('goaway'))
      expect(await owners.untilPong()).toEqual([])
      const before = await world.contents()
      // It does not answer the close, and goes on sending.
      for (const frame of framesTo(world, caller)) raw.send(frame)
      await raw.ended
      expect(raw.closeCode).toBe(4401)
      expect(raw.text.slice(raw.text.indexOf('goaway'))).not.toContain('"type"')
      expectNoChange({ before, after: await world.contents() })
      expect(await owners.untilPong()).toEqual([])
      await owners.close()
    })
  })
}

describe('frames that wait for a rate', () => {
  const relay = useRelay({ RATE_LIMITS: 'on', RATE_MESSAGE: '1/1' })

  test('are dropped when their token is revoked', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: bobs } = await bob.online()
    const raw = await RawSocket.open(alice)
    for (let n = 0; n < 60; n++) raw.send(JSON.stringify(message(bob.alias, conv, 'early', `early-${n}`)))
    await bobs.next('msg')
    expect((await alice.bare('POST', '/auth/logout')).status).toBe(200)
    await raw.until((text) => text.includes('goaway'))
    await bobs.untilPong()
    await alice.login()
    const { socket } = await alice.online()
    // These wait for the same rate, behind the early ones if those still wait.
    for (const id of ['one', 'two', 'three']) socket.send(message(bob.alias, conv, id, id))
    expect((await bobs.take(3)).map(({ id }) => id)).toEqual(['one', 'two', 'three'])
  })
})

describe('an offer that waits', () => {
  const relay = useRelay()

  test('is not ended by other accounts that know its call', async () => {
    const { alice, bob } = await wireFriends(relay.url)
    const [friend, stranger] = [await wireAccount(relay.url, 'friend'), await wireAccount(relay.url)]
    await befriend(friend, bob)
    await befriend(friend, alice)
    const [{ socket: callers }, friends, strangers] = [
      await alice.online(),
      await friend.online(),
      await stranger.online(),
    ]
    const offer = signal('call_offer', [alice, bob])
    callers.send(offer)
    await settled(callers, alice)
    for (const [account, { socket }] of [
      [friend, friends],
      [stranger, strangers],
    ] as const) {
      for (const type of ['call_hangup', 'call_reject', 'call_answer', 'call_ice'] as const)
        for (const to of [alice, bob]) socket.send(signal(type, [account, to]))
      await settled(socket, account)
    }
    const bobs = await bob.connect()
    const texts = textsOf(bobs)
    expect(await bobs.next('call_offer')).toEqual(offer)
    expect(texts).toContain(JSON.stringify(offer))
    expect((await bobs.untilPong()).filter(({ type }) => type !== 'sync_end')).toEqual([])
  })
})
