// A real ACME server for tests: Debian's pebble on the loopback, with a name server that says that every host
// is this machine.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certify } from './certificate.ts'
import { findFreePort } from './free-port.ts'

/** An ACME server, running or not. */
export interface Pebble {
  /** The settings of a relay that gets its certificate here. */
  readonly settings: Readonly<Record<string, string>>
  /** The authority that signs certificates since the last start, PEM. */
  authority(): Promise<string>
  /** The certificate that the authority gave the one that signs, PEM. Servers send it after their own. */
  intermediate(): Promise<string>
  /** From now on, it finds this host at another address. */
  lead(host: string, address: string): Promise<void>
  /** Starts it again, with a new authority and without the accounts that it had. */
  start(): Promise<void>
  /** Takes it away. */
  stop(): Promise<void>
  /** Takes it away permanently. */
  remove(): Promise<void>
}

/** How long its certificates live, unless the test wants another time. */
export const LIFE_SECONDS = 3600

/**
 * Starts a server that looks for challenges at this port of 127.0.0.1.
 * @param lifeSeconds how long its certificates live
 */
export async function startPebble(httpPort: number, lifeSeconds = LIFE_SECONDS): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-pebble-'))
  const [port, management, dns, dnsManagement] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ]
  const own = certify(['localhost', '127.0.0.1'])
  const file = (name: string): string => join(folder, name)
  const pebble = {
    ...{ listenAddress: `127.0.0.1:${port}`, managementListenAddress: `127.0.0.1:${management}` },
    ...{ certificate: file('cert.pem'), privateKey: file('key.pem'), httpPort, tlsPort: 1 },
    certificateValidityPeriod: lifeSeconds,
  }
  await Bun.write(file('cert.pem'), own.cert)
  await Bun.write(file('key.pem'), own.key)
  await Bun.write(file('ca.pem'), own.authority)
  await Bun.write(file('pebble.json'), JSON.stringify({ pebble }))
  const names = run([
    ...[
      'pebble-challtestsrv',
      '-defaultIPv4',
      '127.0.0.1',
      '-defaultIPv6',
      '',
      '-http01',
      '',
      '-https01',
      '',
    ],
    ...['-tlsalpn01', '', '-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${dnsManagement}`],
  ])
  const tls = { ca: own.authority }
  const root = `https://127.0.0.1:${management}/roots/0`
  const intermediate = `https://127.0.0.1:${management}/intermediates/0`
  let server: Bun.Subprocess | undefined
  const start = async (): Promise<void> => {
    server = run(['pebble', '-config', file('pebble.json'), '-dnsserver', `127.0.0.1:${dns}`])
    for (const late = performance.now() + 30_000; ; await Bun.sleep(50)) {
      if (
        await fetch(root, { tls }).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return
      if (performance.now() > late) throw new Error('pebble did not start: npm test installs it')
    }
  }
  const stop = async (): Promise<void> => {
    server?.kill('SIGKILL')
    await server?.exited
  }
  await start()
  return {
    settings: { ACME_DIRECTORY: `https://127.0.0.1:${port}/dir`, ACME_CA: file('ca.pem') },
    authority: async () => (await fetch(root, { tls })).text(),
    intermediate: async () => (await fetch(intermediate, { tls })).text(),
    lead: async (host, address) => {
      const { ok, status } = await fetch(`http://127.0.0.1:${dnsManagement}/add-a`, {
        method: 'POST',
        body: JSON.stringify({ host: `${host}.`, addresses: [address] }),
      })
      if (!ok) throw new Error(`the name server answered ${status}`)
    },
    start,
    stop,
    remove: async () => {
      await stop()
      names.kill('SIGKILL')
      await names.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// The kernel ends the program if this process is killed before it can stop it.
function run(command: readonly string[]): Bun.Subprocess {
  return Bun.spawn(['setpriv', '--pdeathsig', 'KILL', '--', ...command], {
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    // Without waits between the steps of a check. It refuses one nonce of twenty all the same.
    env: { PATH: process.env.PATH ?? '', PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '20' },
  })
}
