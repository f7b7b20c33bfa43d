// What others chose stands in a page as text and nothing else.
import { describe, expect, test } from 'bun:test'
import { html, readable } from './html.ts'

describe('a template', () => {
  test('escapes what stands in text and in attributes', () => {
    const hostile = `"><script>alert('1')</script>&amp;`
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;amp;">' +
        '&quot;&gt;&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;amp;</p>',
    )
  })

  test('takes in other templates as they are, numbers, and nothing', () => {
    expect(html`<ul>${html`<li>${'<'}</li>`}${undefined}${3}</ul>`.text).toBe('<ul><li>&lt;</li>3</ul>')
  })
})

describe('a name that others chose', () => {
  test.each([
    ['turns the text around it', 'the channel \u202egnp.exe\u202c', 'the channel gnp.exe'],
    ['isolates itself', '\u2066a\u2069\u2067b\u2069', 'ab'],
    ['marks a direction', '\u200ea\u200fb\u061cc', 'abc'],
    ['hides', 'a\u200bd\ufeffa\u2060', 'ada'],
    ['breaks the line', 'a\nb\r\n\u2028c\u2029d\u0000\u009b', 'abcd'],
  ])('which %s, does so no more', (_what, given, shown) => {
    expect(readable(given)).toBe(shown)
  })

  test.each(['Кошки', 'قطط', 'می‌خواهم', '👩‍👩‍👧', 'naïve café', '猫'])('stays as it is: %s', (name) => {
    expect(readable(name)).toBe(name)
  })
})
