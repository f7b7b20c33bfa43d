// Runs the relay's process: reads the configuration, starts, and stops cleanly on a signal. Also the
// package's exports.
import { type Config, ConfigError, readConfig, unknownSettings } from './config.ts'
import { describeMedia } from './media/media.ts'
import { systemClock } from './operations/clock.ts'
import { createLog } from './operations/log.ts'
import { systemRandom } from './operations/random.ts'
import { describePayments } from './payments/payments.ts'
import { startRelay } from './relay.ts'
import { explain, StartError } from './start-error.ts'
import { version } from './version.ts'

export type { KeyLine } from './accounts/operator-keys.ts'
export { settings } from './config.ts'
export { backUp, OperatorError, operatorCommands, tellRelay } from './operator.ts'
export type { AccountEntry, OrderAccounts } from './payments/accounting.ts'
export type { OrderDetail, OrderLine, PaymentLine, PayoutLine } from './payments/operator-answers.ts'
export type { ChainLine } from './payments/operator-chains.ts'
export type { HoldingLine } from './payments/operator-holdings.ts'
export { StartError } from './start-error.ts'

/**
 * Runs a relay until a signal stops it.
 * @param environment settings by name; see `settings`
 * @param print prints the lines for the person at the terminal
 * @throws StartError if it cannot start and the operator can fix the cause
 */
export async function serve(
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
): Promise<void> {
  const config = read(environment)
  const log = createLog(config.logLevel)
  for (const { name, nearest } of unknownSettings(environment))
    log.warn('setting_unknown', {
      setting: name,
      reason: `there is no such setting; the nearest one is ${nearest}`,
    })
  const signalled = untilSignal() // Begins before the start, so that a signal during the start is not lost.
  const relay = await startRelay(config, { clock: systemClock, randomBytes: systemRandom, log }).catch(
    (error) => {
      throw explain(error, config)
    },
  )
  const url = `http://${hostInUrl(config.host)}:${relay.port}`
  log.info('started', { url, version })
  if (!config.rates) log.warn('rate_limits_off', { setting: 'RATE_LIMITS', reason: 'every rate is lifted' })
  if (config.loginHost === 'any')
    log.warn('login_unbound', { setting: 'UNBOUND_LOGIN', reason: 'a false relay can pass logins on' })
  print(`Sotto ${version} listens on ${url}`)
  print(config.databaseUrl ? 'Data: PostgreSQL' : `Data: ${config.dataDir} (SQLite)`)
  print(describeMedia(config.media, config.dataDir))
  print(describePayments(config.payments))
  print(describeLogins(config))
  if (config.appDir !== undefined) print(`App: open ${config.publicUrl?.origin ?? url} in a browser`)
  const flag = config.publicUrl
    ? ` --relay ${config.publicUrl.origin}`
    : relay.port === 8080
      ? ''
      : ` --relay ${url}`
  print(`Next: open a second terminal here and run  npx sotto chat${flag}`)

  log.info('stopping', { reason: await signalled })
  await relay.stop()
  log.info('stopped')
}

function read(environment: Readonly<Record<string, string | undefined>>): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    throw error instanceof ConfigError ? new StartError(error.message) : error
  }
}

function describeLogins({ publicUrl, loginHost }: Config): string {
  if (publicUrl) return `Logins: at ${publicUrl.origin}`
  return loginHost === 'any'
    ? 'Logins: UNBOUND (UNBOUND_LOGIN=allow). A false relay can pass them on to this one; set PUBLIC_URL.'
    : 'Logins: only from this machine (PUBLIC_URL says where others reach the relay)'
}

function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

// This machine reaches a relay that listens on all addresses as localhost.
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
