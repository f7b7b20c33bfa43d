// Addresses: they are read as they were made, and a link with anything else is no place.
import { expect, test } from 'bun:test'
import { routeOf } from './route-of.ts'

const nowhere = { path: [], query: {} }

test.each([
  ['', nowhere],
  ['#/', nowhere],
  ['#/chats', { path: ['chats'], query: {} }],
  ['#/chats/a%20b%2Fc?at=5', { path: ['chats', 'a b/c'], query: { at: '5' } }],
  ['#/search?q=%D8%B3+b', { path: ['search'], query: { q: 'س b' } }],
  ['#/chats/%E0%A4', nowhere],
])('%p', (address, place) => {
  expect(routeOf(address)).toEqual(place)
})

test('the longest search has a place', () => {
  const words = '語'.repeat(200)
  const { query } = routeOf(`#/search?${new URLSearchParams({ q: words, in: crypto.randomUUID() })}`)
  expect(query.q).toBe(words)
})

test.each([`#/chats/${'a'.repeat(5000)}`, `#/${'a/'.repeat(5000)}`, `#/search?${'a&'.repeat(5000)}`])(
  'an address that is too long is no place',
  (address) => {
    expect(routeOf(address)).toEqual(nowhere)
  },
)
