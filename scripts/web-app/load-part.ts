// Loads the parts of the app: their styles first, their scripts side by side. In the place of Vite's helper,
// which is the text of one of Vite's functions: each runtime writes it down in another way, so the app would
// not be the same bytes under Bun and Node.
import type { Plugin } from 'vite'

const HELPER = '\0vite/preload-helper.js'

// `files` are the scripts and styles that a part needs, relative to the script that loads it.
const SOURCE = `
const asked = new Map()
function ask(href) {
  const link = document.createElement('link')
  const isStyle = href.endsWith('.css')
  link.rel = isStyle ? 'stylesheet' : 'modulepreload'
  link.crossOrigin = ''
  link.href = href
  document.head.append(link)
  return isStyle && new Promise((resolve, reject) => {
    link.onload = resolve
    link.onerror = () => reject(new TypeError('a style sheet could not be loaded'))
  })
}
export async function __vitePreload(load, files = [], from) {
  const all = files.map((file) => {
    const { href } = new URL(file, from)
    if (!asked.has(href)) asked.set(href, ask(href))
    return asked.get(href)
  })
  await Promise.all(all)
  return load()
}
`

/** The plugin that puts it into the build. */
export const loadPart: Plugin = {
  name: 'load parts',
  enforce: 'pre',
  apply: 'build',
  load: (id) => (id === HELPER ? SOURCE : undefined),
}
