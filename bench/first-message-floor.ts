// The floor of `first-message`: a page whose only script opens a WebSocket, sends one message and waits for
// its echo.
import { startChromium } from '../packages/client/test/browser/chromium.ts'

const PAGE = `<!doctype html><script type="module">
  const socket = new WebSocket(location.href.replace('http', 'ws') + 'ws')
  socket.onopen = () => {
    globalThis.connected = performance.now()
    socket.send('x'.repeat(400))
  }
  socket.onmessage = () => {
    globalThis.sent = performance.now()
  }
</script>`

/**
 * Loads the page `loads` times. Returns milliseconds since the page began to load, as `measureFirstMessage`
 * does.
 */
export async function measureFloorOfFirstMessage(
  loads: number,
): Promise<readonly { connected: number; sent: number }[]> {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, self) => {
      if (new URL(request.url).pathname !== '/ws')
        return new Response(PAGE, { headers: { 'content-type': 'text/html' } })
      return self.upgrade(request) ? undefined : new Response(null, { status: 426 })
    },
    websocket: { message: (socket, text) => void socket.send(text) },
  })
  const browser = await startChromium()
  try {
    const page = await (await browser.newContext()).newPage()
    await page.goto(server.url.href)
    const measured: { connected: number; sent: number }[] = []
    for (let load = 0; load < loads; load++) {
      await page.reload()
      const marks = await page.waitForFunction(() => {
        const { connected, sent } = globalThis as { connected?: number; sent?: number }
        return connected !== undefined && sent !== undefined && { connected, sent }
      })
      const value = await marks.jsonValue()
      if (value) measured.push(value)
    }
    return measured
  } finally {
    await browser.close()
    await server.stop(true)
  }
}
