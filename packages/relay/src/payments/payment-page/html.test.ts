// Text that other people chose appears in a page only as text.
import { describe, expect, test } from 'bun:test'
import { html } from './html.ts'

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
