// Fetching the friend list in pages: what is asked for, and what becomes of a relay that has no pages or no
// end.
import { expect, test } from 'bun:test'
import { FRIENDS_PER_PAGE } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { TestClock } from '../../test/fakes.ts'
import { decideOptions } from '../platform/options.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import { Http } from '../wire/http.ts'
import { fetchFriends } from './friend-pages.ts'

interface Row {
  readonly friendship_id: number
  readonly alias_id: string
}

function rowsOf(count: number, first = 1): Row[] {
  return Array.from({ length: count }, (_, n) => ({ friendship_id: first + n, alias_id: `id_${first + n}` }))
}

/** An Http whose relay answers the list after a number, of at most `limit` rows. */
function relayOf(answer: (after: number, limit: number) => readonly Row[]) {
  const asked: string[] = []
  const http = new Http(
    decideOptions({
      relayUrl: 'http://localhost:8080',
      store: new MemoryStore(),
      clock: new TestClock(),
      random: (length) => new Uint8Array(length).fill(255),
      WebSocket,
      fetch: async (url) => {
        const { search, searchParams } = new URL(url)
        asked.push(search)
        const rows = answer(Number(searchParams.get('after') ?? 0), Number(searchParams.get('limit')))
        const shared = {
          nickname: 'n',
          status: 'pending',
          direction: 'received',
          conversation_id: '',
          x25519_public_key: `${'A'.repeat(43)}=`,
          ed25519_public_key: `${'A'.repeat(43)}=`,
          created_at: '2026-01-01T00:00:00.000Z',
        }
        return Response.json(rows.map((row) => ({ ...shared, ...row })))
      },
    }),
  )
  http.useTokens({ getToken: async () => 'token', dropToken: () => undefined })
  return { http, asked }
}

const idsOf = (rows: readonly Row[]): number[] => rows.map(({ friendship_id }) => friendship_id)

test('all pages are fetched, each after the last number of the one before', async () => {
  for (const count of [0, 7, FRIENDS_PER_PAGE - 1, 2 * FRIENDS_PER_PAGE, 2 * FRIENDS_PER_PAGE + 1]) {
    const rows = rowsOf(count)
    const { http, asked } = relayOf((after, limit) => rows.slice(after, after + limit))
    expect(idsOf(await fetchFriends(http))).toEqual(idsOf(rows))
    expect(asked).toEqual(
      Array.from({ length: Math.floor(count / FRIENDS_PER_PAGE) + 1 }, (_, n) =>
        n === 0 ? `?limit=${FRIENDS_PER_PAGE}` : `?limit=${FRIENDS_PER_PAGE}&after=${n * FRIENDS_PER_PAGE}`,
      ),
    )
  }
})

test('a relay without pages, which answers the whole list, is understood at any length', async () => {
  for (const count of [3, FRIENDS_PER_PAGE, FRIENDS_PER_PAGE + 3]) {
    const { http } = relayOf(() => rowsOf(count))
    expect(idsOf(await fetchFriends(http))).toEqual(idsOf(rowsOf(count)))
  }
})

test('of a friendship that is renewed between two pages only the new one is in the list', async () => {
  const rows = rowsOf(FRIENDS_PER_PAGE)
  const renewed = { friendship_id: FRIENDS_PER_PAGE + 1, alias_id: 'id_7' }
  const { http } = relayOf((after) => (after === 0 ? rows : [renewed]))
  const list = await fetchFriends(http)
  expect(list.filter(({ alias_id }) => alias_id === 'id_7')).toMatchObject([renewed])
  expect(list).toHaveLength(FRIENDS_PER_PAGE)
})

test('a list that does not end is an error', async () => {
  const { http } = relayOf((after, limit) => rowsOf(limit, after + 1))
  expect(await failureOf(fetchFriends(http))).toMatchObject({
    code: 'BAD_REPLY',
    message: expect.stringContaining('does not end'),
  })
})
