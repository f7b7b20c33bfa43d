// The table of support in docs/web-app.md, and what it says of the browser that runs.
import { expect } from 'bun:test'
import { join } from 'node:path'

/** For rows of the table: the call that the app makes, and an expression that is true where it works. */
const CALLS = {
  'number on the icon': ['navigator.setAppBadge', `'setAppBadge' in navigator`],
  'installing, offered by the browser': ['beforeinstallprompt', `'onbeforeinstallprompt' in window`],
  'notifications while the app is closed': [
    'registration.pushManager',
    `navigator.serviceWorker.ready.then((registration) => 'pushManager' in registration)`,
  ],
  'Trusted Types enforced': [
    'element.innerHTML = text',
    `(() => { try { document.createElement('p').innerHTML = '<b>'; return false } catch { return true } })()`,
  ],
  'storage that the browser promises to keep': ['navigator.storage.persist', `'storage' in navigator`],
  'pictures made smaller as WebP': [
    "canvas.convertToBlob({ type: 'image/webp' })",
    `(() => {
      const canvas = new OffscreenCanvas(1, 1)
      canvas.getContext('2d')
      return canvas.convertToBlob({ type: 'image/webp' }).then(({ type }) => type === 'image/webp')
    })()`,
  ],
  'voice messages': [
    'MediaRecorder.isTypeSupported',
    `['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus'].some((type) => MediaRecorder.isTypeSupported(type))`,
  ],
  'calls, voice and video': [
    'new RTCPeerConnection()',
    `'RTCPeerConnection' in window && 'RTCRtpScriptTransform' in window`,
  ],
} as const

/**
 * Expects that the table says `no`, with the call that fails, in exactly the rows whose calls fail.
 * @param compute computes an expression in a page of the app
 */
export async function expectSupport(
  engine: 'Chromium' | 'Firefox' | 'WebKitGTK',
  compute: (expression: string) => Promise<unknown>,
): Promise<void> {
  const cells = await cellsOf(engine)
  for (const [row, [call, expression]] of Object.entries(CALLS)) {
    const cell = cells.get(row) ?? 'no such row'
    const isThere = (await compute(expression)) === true
    const isRight = isThere ? /^(yes|not tried)/.test(cell) : cell.startsWith(`no: \`${call}\``)
    expect([row, cell, isThere, isRight]).toEqual([row, cell, isThere, true])
  }
}

/** The cells of an engine's column by their rows. */
async function cellsOf(engine: string): Promise<ReadonlyMap<string, string>> {
  const guide = await Bun.file(join(import.meta.dir, '../../../../docs/web-app.md')).text()
  const lines = guide.slice(guide.indexOf('\n## Support\n')).split('\n')
  const [head = [], , ...rows] = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const column = head.indexOf(engine)
  return new Map(rows.map((row) => [row[1] ?? '', row[column] ?? '']))
}
