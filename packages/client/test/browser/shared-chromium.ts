// One Chromium for all tests of a process, because starting it takes longer than most tests. Each test opens
// a context with fresh storage in it, and closes that context.
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { makeProcessFolder } from '../process-folder.ts'
import { startChromiumWith } from './chromium.ts'

let shared: Promise<Browser> | undefined

/**
 * The Chromium of this process, started by the first test that asks for it. Never close it; close the
 * contexts.
 */
export async function sharedChromium(): Promise<Browser> {
  const running = await shared
  if (running?.isConnected()) return running
  shared = start()
  return shared
}

async function start(): Promise<Browser> {
  const folder = await makeProcessFolder('chromium')
  const context = await startChromiumWith(join(folder, 'profile'), {
    artifactsDir: join(folder, 'artifacts'),
  })
  const browser = context.browser()
  if (!browser) throw new Error('Chromium started without a browser')
  return browser
}
