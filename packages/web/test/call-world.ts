// What the stories of calls share: a TURN server for the relay of a test file.
import { afterAll } from 'bun:test'
import { startCoturn } from '@sotto/relay/testing/coturn'
import { AppWorld } from './world.ts'

const SECRET = 'a secret of 32 characters or so!'

/** The world of a test file, with a real TURN server. @param settings others of the relay */
export function callWorld(settings: Readonly<Record<string, string>> = {}): AppWorld {
  let coturn: Awaited<ReturnType<typeof startCoturn>> | undefined
  const world = new AppWorld(async () => {
    coturn = await startCoturn(SECRET)
    return { TURN_URLS: `turn:127.0.0.1:${coturn.port}`, TURN_SECRET: SECRET, ...settings }
  })
  afterAll(() => coturn?.stop())
  return world
}
