// What a search of any store promises, as a test suite that runs with every store.
import { expect, test } from 'bun:test'
import type { SearchPage, SearchPlace } from '../../src/client.ts'
import type { StoreSearchOptions } from '../../src/search/store-search.ts'
import type { StoredMessage } from '../../src/stores/records.ts'
import type { ClientStore } from '../../src/stores/store.ts'
import { conversationId, messageOf, otherConversationId } from './store-contract.ts'

/** A store and its search. `reopen` opens it again, as the next run of a program would. */
export interface SearchUnderTest {
  readonly store: ClientStore
  find(typed: string, options?: StoreSearchOptions): Promise<SearchPage>
  reopen(): Promise<SearchUnderTest>
}

/** The two conversations of the messages. */
export const conversations = [conversationId, otherConversationId]

const put = (id: string, fields: Partial<StoredMessage> = {}) =>
  ({ change: 'message', message: messageOf({ id, ...fields }) }) as const

/** Declares the test suite. `open` opens an empty store. */
export function searchContract(open: () => Promise<SearchUnderTest>): void {
  const idsOf = ({ results }: SearchPage): string => results.map(({ message }) => message.id).join('')

  test('it finds texts, captions and file names, the latest first, with the parts to highlight', async () => {
    const opened = await open()
    await opened.store.write([
      put('a', { seq: 1, time: 1, text: 'the old bridge' }),
      put('b', { seq: 1, time: 3, text: 'Brücke, bridge', conversationId: otherConversationId }),
      put('c', { seq: 2, time: 2, text: '[file]key|x|1', msgType: 'file', caption: 'Bridge.pdf' }),
      put('d', { seq: 3, time: 4, text: '[img]bridge', msgType: 'image' }),
      put('e', { seq: 4, time: 5, text: 'bridge', msgType: 'undecryptable' }),
      put('f', { time: 6, text: 'no bridges', isMe: true, status: 'sending' }),
    ])
    for (const { find } of [opened, await opened.reopen()]) {
      const page = await find('bridg')
      expect(page.results.map(({ message, text, ranges }) => [message.id, text, ranges])).toEqual([
        ['f', 'no bridges', [{ start: 3, end: 8 }]],
        ['b', 'Brücke, bridge', [{ start: 8, end: 13 }]],
        ['c', 'Bridge.pdf', [{ start: 0, end: 5 }]],
        ['a', 'the old bridge', [{ start: 8, end: 13 }]],
      ])
      expect(page.next).toBeUndefined()
      expect(idsOf(await find('bridge '))).toBe('bca')
      expect(idsOf(await find('bridge', { conversationId }))).toBe('fca')
      expect(idsOf(await find('bridge old'))).toBe('a')
      expect(idsOf(await find('undecryptable'))).toBe('')
      expect(idsOf(await find(''))).toBe('')
    }
  })

  test('messages that are written, changed, retracted or removed after a search are found as they are', async () => {
    const { store, find } = await open()
    await store.write([
      put('a', { seq: 1, time: 1, text: 'red apple' }),
      put('b', { seq: 2, time: 2, text: 'red berry' }),
      put('c', { time: 3, text: 'red cherry', isMe: true, status: 'sending' }),
      put('d', { seq: 3, time: 4, text: '', msgType: 'undecryptable' }),
      put('e', { seq: 1, time: 5, text: 'red elder', conversationId: otherConversationId }),
    ])
    expect(idsOf(await find('red'))).toBe('ecba')
    const patch = { text: '', retracted: true } as const
    await store.write([
      { change: 'message_patch', conversationId, isMe: false, id: 'a', patch },
      {
        change: 'message_patch',
        conversationId,
        isMe: true,
        id: 'c',
        patch: { status: 'sent', seq: 4, time: 9 },
      },
      { change: 'message_removed', conversationId, isMe: false, id: 'b' },
      put('d', { seq: 3, time: 4, text: 'red date' }),
    ])
    expect(idsOf(await find('red'))).toBe('ced')
    await store.write([
      put('b', { seq: 2, time: 2, text: 'red berry' }),
      put('f', { seq: 5, time: 6, text: 'red' }),
    ])
    expect(idsOf(await find('red'))).toBe('cfed')
    const file = { text: '[file]key|red.pdf|1', msgType: 'file', caption: 'red.pdf', isMe: true } as const
    await store.write([put('g', { seq: 6, time: 7, status: 'sent', ...file })])
    expect(idsOf(await find('red'))).toBe('cgfed')
    await store.write([{ change: 'message_patch', conversationId, isMe: true, id: 'g', patch }])
    expect(idsOf(await find('red'))).toBe('cfed')
    await store.write([{ change: 'messages_removed', conversationId }])
    expect(idsOf(await find('red'))).toBe('e')
    await store.write([{ change: 'clear' }, put('g', { seq: 1, text: 'red' })])
    expect(idsOf(await find('red'))).toBe('g')
  })

  test('a search sees everything that was written before its call, also while other searches run', async () => {
    const { store, find } = await open()
    for (let at = 1; at <= 20; at += 1) {
      const id = `m${at}`
      const message = put(id, { time: at, text: 'word', isMe: true, status: 'sending' })
      const patch = { status: 'sent', seq: at } as const
      const running = [
        find('word'),
        store.write([message]),
        find('word', { limit: 50 }),
        store.write([{ change: 'message_patch', conversationId, isMe: true, id, patch }]),
      ] as const
      const after = await find('word', { limit: 50 })
      expect(after.results.map(({ message }) => message.status)).toEqual(Array(at).fill('sent'))
      expect((await running[2]).results.length).toBe(at)
      await Promise.all(running)
    }
  })

  test('pages of rare and frequent words have every message once, also those of the same time', async () => {
    const { store, find } = await open()
    const count = 2400
    const messages = Array.from({ length: count }, (_, at) =>
      put(`m${at}`, {
        seq: at + 1,
        // Ten messages have the same time, and the order of writing is not the order of time.
        time: Math.floor(((at * 7) % count) / 10),
        text: `every ${at % 2 === 0 ? 'even' : 'odd'} ${at % 400 === 1 ? 'rare' : ''}`,
        conversationId: at % 3 === 0 ? otherConversationId : conversationId,
      }),
    )
    await store.write(messages)
    const all = messages.map(({ message }) => message)
    const expectPages = async (
      typed: string,
      limit: number,
      is: (message: StoredMessage) => boolean,
      inside = {},
    ) => {
      const found: StoredMessage[] = []
      let before: SearchPlace | undefined
      do {
        const page: SearchPage = await find(typed, { limit, before, ...inside })
        found.push(...page.results.map(({ message }) => message))
        before = page.next
      } while (before)
      const times = found.map(({ time }) => time)
      expect(times).toEqual(times.toSorted((a, b) => b - a))
      expect(found.map(({ id }) => id).toSorted()).toEqual(
        all
          .filter(is)
          .map(({ id }) => id)
          .toSorted(),
      )
    }
    await expectPages('rare', 4, ({ text }) => text.includes('rare'))
    await expectPages('every', 700, () => true)
    await expectPages('even every', 500, ({ text }) => text.includes('even'))
    await expectPages('od', 500, (m) => m.text.includes('odd') && m.conversationId === conversationId, {
      conversationId,
    })
    await expectPages('even odd', 500, () => false)
    await expectPages('rare', 4, (m) => m.text.includes('rare') && m.conversationId === otherConversationId, {
      conversationId: otherConversationId,
    })
  })

  test('messages of the same time have one order in every store, also at time 0 and at the latest', async () => {
    const { store, find } = await open()
    const times = [0, 5, Number.MAX_SAFE_INTEGER]
    const messages = Array.from({ length: 450 }, (_, at) =>
      put(`m${(at * 7) % 450}`, {
        time: times[at % 3] ?? 0,
        text: `same ${at}`,
        conversationId: at % 2 === 0 ? otherConversationId : conversationId,
        ...(at % 5 === 0 ? { isMe: true, status: 'sending' } : { seq: at + 1 }),
      }),
    )
    await store.write(messages)
    const name = ({ time, conversationId, isMe, id }: StoredMessage): string =>
      `${String(time).padStart(16, '0')} ${conversationId} ${isMe ? 'me' : 'them'} ${id}`
    const expected = messages.map(({ message }) => name(message)).sort((a, b) => (a < b ? 1 : -1))
    expect((await find('same', { limit: 450 })).results.map(({ message }) => name(message))).toEqual(expected)
    const found: string[] = []
    let before: SearchPlace | undefined
    do {
      const page: SearchPage = await find('same', { limit: 40, before })
      found.push(...page.results.map(({ message }) => name(message)))
      before = page.next
    } while (before)
    expect(found).toEqual(expected)
  })

  test('messages of the maximum length are found by their first 1,000 words', async () => {
    const { store, find } = await open()
    const words = Array.from({ length: 9000 }, (_, at) => at.toString(36)).join(' ')
    const texts = [`hostile ${words}`, `hostile ${'x'.repeat(65_000)}`, `hostile${'長'.repeat(21_000)}`]
    await store.write(
      Array.from({ length: 30 }, (_, at) =>
        put(`m${at}`, { seq: at + 1, time: at, text: texts[at % 3] ?? '' }),
      ),
    )
    expect((await find('hostile', { limit: 100 })).results.length).toBe(30)
    expect((await find('hostile rp ', { limit: 100 })).results.length).toBe(10)
    expect((await find('rz ', { limit: 100 })).results.length).toBe(0)
    expect((await find('hostile xxxx', { limit: 100 })).results.length).toBe(10)
    expect((await find('hostile 長長', { limit: 100 })).results.length).toBe(10)
  })

  test('a message is found as it is now, wherever it lies among those that were searched before', async () => {
    const { store, find } = await open()
    const count = 700
    const message = (at: number, text: string) => put(`m${at}`, { seq: at + 1, time: at, text })
    const texts = new Map<number, string>()
    for (let at = 0; at < count; at += 1) if (at % 3 !== 0) texts.set(at, `old word${at}`)
    await store.write([...texts].map(([at, text]) => message(at, text)))
    const expectFound = async (typed: string, has: RegExp): Promise<void> => {
      const page = await find(typed, { limit: count })
      const expected = [...texts].filter(([, text]) => has.test(text)).sort(([a], [b]) => b - a)
      expect(page.results.map(({ message: { time }, text }) => [time, text])).toEqual(expected)
    }
    await expectFound('old', /old/)
    // Between others, at the beginning and at the end.
    for (const at of [0, 126, 129, 300, 303, 699]) {
      texts.set(at, `new word${at}`)
      await store.write([message(at, `new word${at}`)])
      await expectFound('new', /new/)
    }
    for (const at of [1, 127, 128, 130, 256, 301, 698]) {
      texts.delete(at)
      await store.write([{ change: 'message_removed', conversationId, isMe: false, id: `m${at}` }])
      await expectFound('word', /word/)
    }
  })
}
