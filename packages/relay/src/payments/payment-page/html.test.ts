// Text that other people chose appears in a page only as text.
import { describe, expect, test } from 'bun:test'
import { html, readable } from './html.ts'

describe('a template', () => {
  test('escapes values in text and in attributes', () => {
    const hostile = `"><script>alert('1')</script>&amp;`
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;amp;">' +
        '&quot;&gt;&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;amp;</p>',
    )
  })

  test('inserts other templates unchanged, numbers, and nothing for undefined', () => {
    expect(html`<ul>${html`<li>${'<'}</li>`}${undefined}${3}</ul>`.text).toBe('<ul><li>&lt;</li>3</ul>')
  })
})

describe('a name that somebody else chose', () => {
  test.each([
    ['reverses the text around it', 'the channel \u202egnp.exe\u202c', 'the channel gnp.exe'],
    ['isolates itself', '\u2066a\u2069\u2067b\u2069', 'ab'],
    ['marks a direction', '\u200ea\u200fb\u061cc', 'abc'],
    ['looks like another name', 'a\u200bd\ufeffa\u2060', 'ada'],
    ['breaks the line', 'a\nb\r\n\u2028c\u2029d\u0000\u009b', 'abcd'],
  ])('loses the characters with which it %s', (_what, given, shown) => {
    expect(readable(given)).toBe(shown)
  })

  test.each(['Кошки', 'قطط', 'می‌خواهم', '👩‍👩‍👧', 'naïve café', '猫'])('is shown unchanged: %s', (name) => {
    expect(readable(name)).toBe(name)
  })
})
