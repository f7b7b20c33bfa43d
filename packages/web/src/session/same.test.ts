// What has not changed stays the same object.
import { expect, test } from 'bun:test'
import { withSame } from './same.ts'

const message = (id: string, isMe: boolean, text: string) => ({
  conversationId: 'a',
  id,
  isMe,
  text,
  waveform: [1, 2],
})

test('a list that is read again has the same objects for what has not changed', () => {
  const before = [message('1', true, 'one'), message('1', false, 'two'), message('2', true, 'three')]
  const after = withSame(before, [
    message('1', true, 'one'),
    message('1', false, 'retracted'),
    { ...message('2', true, 'three'), waveform: [1, 3] },
    message('3', true, 'new'),
  ])
  expect(after.map(({ text }) => text)).toEqual(['one', 'retracted', 'three', 'new'])
  expect(after.map((each) => before.includes(each))).toEqual([true, false, false, false])
  expect(after[2]?.waveform).toEqual([1, 3])
})

test('a list in which nothing has changed is the same list, and one that lost something is not', () => {
  const before = [message('1', true, 'one'), message('2', true, 'two')]
  expect(withSame(before, structuredClone(before))).toBe(before)
  expect(withSame(before, structuredClone(before.slice(1)))).toEqual(before.slice(1))
  expect(withSame(before, structuredClone(before.toReversed()))).toEqual(before.toReversed())
})

test('a field that is gone is a change', () => {
  const before = [{ conversationId: 'a', draft: 'begun' }, { conversationId: 'b' }]
  const after = [{ conversationId: 'a' }, { conversationId: 'b' }]
  expect(withSame<{ conversationId: string; draft?: string }>(before, after)).toEqual(after)
})
