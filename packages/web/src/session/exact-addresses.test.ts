// Which scripts the app's policy lets the browser start.
import { expect, test } from 'bun:test'
import { onlyThese } from './exact-addresses.ts'

test('only the exact addresses of the list pass', () => {
  const own = 'https://app.example/assets/pow-worker-1a.js'
  const pass = onlyThese([own])
  expect(pass(own)).toBe(own)
  const others = [`${own}?x`, `${own}#x`, `${own}/..`, 'https://app.example/assets/other.js', 'data:,x', '']
  for (const other of others) expect(() => pass(other)).toThrow(TypeError)
})
