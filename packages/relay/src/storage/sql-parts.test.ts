// Queries made of parts: their text, their parameters, and that each text is prepared once.
import { expect, test } from 'bun:test'
import { part, query } from './sql-parts.ts'

test('a query has the text of its parts, and its parameters in their order', () => {
  const inner = part`b = ${2}`
  const both = part`(${inner} OR c = ${'x'})`
  const [template, ...values] = query`SELECT ${1}, ${inner} WHERE ${both} LIMIT ${null}`
  expect([...template]).toEqual(['SELECT ', ', b = ', ' WHERE (b = ', ' OR c = ', ') LIMIT ', ''])
  expect(values).toEqual([1, 2, 2, 'x', null])
})

test('what is given as text stays a parameter, also if it looks like a part', () => {
  const [template, ...values] = query`SELECT ${'1; DROP TABLE accounts'}`
  expect([[...template], values]).toEqual([['SELECT ', ''], ['1; DROP TABLE accounts']])
})

test('the same text is the same template, whatever the parameters are', () => {
  const of = (n: number) => query`SELECT ${part`${n}`}`[0]
  expect(of(1)).toBe(of(2))
  expect(query`SELECT ${1} `[0]).not.toBe(of(1))
})
