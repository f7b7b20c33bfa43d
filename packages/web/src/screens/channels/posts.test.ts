// Which posts are shown after pages and new posts have come.
import { expect, test } from 'bun:test'
import { cutText, PAGE_POSTS, withNewest, withOlder, withoutPost, withPost } from './posts.ts'

const post = (number: number) => ({ id: `post_${number}`, number })
/** The posts from `newest` down to `oldest`. */
const posts = (newest: number, oldest: number) =>
  Array.from({ length: newest - oldest + 1 }, (_, at) => post(newest - at))
const numbers = ({ list }: { readonly list: readonly { readonly number: number }[] }): number[] =>
  list.map(({ number }) => number)

test('a page that is not full has everything', () => {
  expect(withNewest(undefined, posts(3, 1))).toEqual({ list: posts(3, 1), hasOlder: false })
  expect(withNewest({ list: posts(9, 1), hasOlder: true }, posts(3, 2))).toEqual({
    list: posts(3, 2),
    hasOlder: false,
  })
})

test('a page goes before what is known, without what was deleted since', () => {
  const known = { list: posts(30, 1), hasOlder: true }
  const page = posts(32, 12).filter(({ number }) => number !== 20)
  expect(page).toHaveLength(PAGE_POSTS)
  const all = withNewest(known, page)
  expect(numbers(all)).toEqual([...posts(32, 21), ...posts(19, 1)].map(({ number }) => number))
  expect(all.hasOlder).toBe(true)
})

test('what is known is left out if there may be a gap', () => {
  expect(numbers(withNewest({ list: posts(5, 1), hasOlder: false }, posts(40, 21)))).toEqual(
    posts(40, 21).map(({ number }) => number),
  )
})

test('older pages, new posts and deletions', () => {
  const known = withOlder({ list: posts(30, 11), hasOlder: true }, posts(11, 5))
  expect(numbers(known)).toEqual(posts(30, 5).map(({ number }) => number))
  expect(known.hasOlder).toBe(false)
  expect(numbers(withPost(withPost(known, post(31)), post(31))).slice(0, 2)).toEqual([31, 30])
  expect(numbers(withoutPost(known, 'post_30'))[0]).toBe(29)
})

test('a long text is cut between paragraphs, lines or words, and loses nothing', () => {
  expect(cutText('short', 10)).toEqual(['short', ''])
  expect(cutText('aaaaaaa\n\nbbb ccc', 12)).toEqual(['aaaaaaa', '\n\nbbb ccc'])
  expect(cutText('aaaaaa bbb\nccc', 12)).toEqual(['aaaaaa bbb', '\nccc'])
  expect(cutText('aaaaaaa bbbbbb', 12)).toEqual(['aaaaaaa', ' bbbbbb'])
  expect(cutText('😀'.repeat(10), 5)).toEqual(['😀😀', '😀'.repeat(8)])
})
