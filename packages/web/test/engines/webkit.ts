// WebKitGTK's MiniBrowser, driven by WebDriver, on a display in memory.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findWebKit } from '../../../../scripts/find-engines.mjs'
import { until } from '../../../client/test/people.ts'
import { findFreePort } from '../../../relay/test/free-port.ts'
import { type Engine, PATIENCE_MS } from './tab.ts'
import { WebDriverTab } from './webdriver.ts'

/** Starts a display and WebKitGTK's driver, which starts a MiniBrowser for each profile. */
export async function startWebKit(): Promise<Engine> {
  const programs = findWebKit()
  if (!programs) throw new Error('no WebKitGTK driver or no Xvfb: npm test installs them')
  const home = await mkdtemp(join(tmpdir(), 'sotto-webkit-'))
  await mkdir(join(home, 'gtk-3.0'))
  await Bun.write(join(home, 'gtk-3.0/settings.ini'), '[Settings]\ngtk-enable-animations=0\n')
  const display = await startDisplay(programs.display)
  const port = await findFreePort()
  const driver = Bun.spawn([...TIED, programs.driver, `--port=${port}`], {
    env: {
      ...process.env,
      DISPLAY: display.name,
      ...{ HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home, LANG: 'C.UTF-8' },
      // It needs rights that containers do not give.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const address = `http://127.0.0.1:${port}`
  const listens = (): Promise<boolean> =>
    fetch(`${address}/status`, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the driver of WebKitGTK listens', listens, PATIENCE_MS)
  return {
    name: 'WebKitGTK',
    newProfile: () => WebDriverTab.begin(address),
    stop: async () => {
      driver.kill()
      await driver.exited
      await display.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** The kernel ends a program if this process is killed before it can stop it. */
const TIED = ['setpriv', '--pdeathsig', 'KILL', '--']

/** Starts Xvfb on a display that is free. */
async function startDisplay(program: string): Promise<{ name: string; stop(): Promise<void> }> {
  const server = Bun.spawn(
    [
      ...[...TIED, program, '-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'],
      // Without it the server starts anew when its last client has gone, and refuses clients for that moment.
      '-noreset',
    ],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  )
  let number = ''
  for await (const part of server.stdout.pipeThrough(new TextDecoderStream())) {
    number += part
    if (number.endsWith('\n')) break
  }
  if (number === '') throw new Error('Xvfb did not start')
  return {
    name: `:${number.trim()}`,
    stop: async () => {
      server.kill()
      await server.exited
    },
  }
}
