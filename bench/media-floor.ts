// The floor of `media`: the same runtime receives a file, by one PUT or in parts, writes it, syncs it at the
// end, and sends it back. It has no accounts and checks nothing. The difference between a relay and this
// floor is the cost of the relay's promises.
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const folder = process.env.DATA_DIR ?? '.'
// Every upload gets a new file, as on a relay: overwriting pages that are already in memory costs the kernel
// far less.
let files = 0
const newest = (): string => join(folder, `file-${files}`)

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  routes: {
    '/file': {
      PUT: async (request) => {
        const { searchParams } = new URL(request.url)
        if (!searchParams.has('more')) files += 1
        const handle = await open(newest(), 'a')
        for await (const piece of request.body ?? []) await handle.write(piece)
        if (!searchParams.has('open')) await handle.sync()
        await handle.close()
        return new Response(null, { status: 204 })
      },
      GET: () => new Response(Bun.file(newest())),
    },
  },
})

process.stdout.write(`listens on http://127.0.0.1:${server.port}\n`)
process.once('SIGTERM', () => process.exit(0))
