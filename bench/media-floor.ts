// The floor of media: the same runtime taking a file, by one PUT or part by part, writing it, syncing it at the end, and sending it
// back. No account, no check; what a relay adds to this is what its promises cost.
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const file = join(process.env.DATA_DIR ?? '.', 'file')

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  routes: {
    '/file': {
      PUT: async (request) => {
        const { searchParams } = new URL(request.url)
        const handle = await open(file, searchParams.has('more') ? 'a' : 'w')
        for await (const piece of request.body ?? []) await handle.write(piece)
        if (!searchParams.has('open')) await handle.sync()
        await handle.close()
        return new Response(null, { status: 204 })
      },
      GET: () => new Response(Bun.file(file)),
    },
  },
})

process.stdout.write(`listens on http://127.0.0.1:${server.port}\n`)
process.once('SIGTERM', () => process.exit(0))
