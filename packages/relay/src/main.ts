// Runs the relay's process: reads the configuration, starts, and stops cleanly on a signal. Also the
// package's exports.
import { type Config, ConfigError, readConfig, unknownSettings } from './config.ts'
import { describeMedia } from './media/media.ts'
import { systemClock } from './operations/clock.ts'
import { createLog, type Log } from './operations/log.ts'
import { publicAddress } from './operations/public-url.ts'
import { systemRandom } from './operations/random.ts'
import { describePayments } from './payments/payments.ts'
import { startRelay } from './relay.ts'
import { serveWorkers } from './serve-workers.ts'
import { explain, StartError } from './start-error.ts'
import { Succession } from './succession/succession.ts'
import { version } from './version.ts'
import { type WorkerRole, workerRoleOf } from './workers/workers.ts'

export type { KeyLine } from './accounts/operator-keys.ts'
export type { InviteLine, MadeInvite } from './admission/admission.ts'
export { settings } from './config.ts'
export { examine } from './doctor/doctor.ts'
export type { Finding } from './doctor/finding.ts'
export type { AccountDetail, AccountLine } from './moderation/account-details.ts'
export type { ChannelDetail, ChannelLine } from './moderation/channel-commands.ts'
export type { DeedLine } from './moderation/deeds.ts'
export type { ReportDetail, ReportLine } from './moderation/reports.ts'
export { OperatorError, operatorCommands, tellRelay } from './operator.ts'
export { backUp, backUpAll, checkAll, restore } from './operator-backups.ts'
export type { OperatorAnswer, OperatorCommandName } from './operator-commands.ts'
export { copyToPostgres, takeCopyBack } from './operator-copy.ts'
export { askRunning, backUpBefore, handOver } from './operator-upgrade.ts'
export type { AccountEntry, OrderAccounts } from './payments/accounting.ts'
export type { OrderDetail, OrderLine, PaymentLine, PayoutLine } from './payments/operator-answers.ts'
export type { ChainLine } from './payments/operator-chains.ts'
export type { HoldingLine } from './payments/operator-holdings.ts'
export { StartError } from './start-error.ts'
export type { Status } from './status.ts'
export { oldestSchema, schema } from './storage/migrations.ts'
export type { Running } from './succession/succession.ts'

/** The relay has stopped, so that another version of the program takes its place. */
export interface HandedOver {
  /** How long that version may take to be ready. */
  readonly readySeconds: number
  /** How long a relay takes at most to stop. */
  readonly stopSeconds: number
  readonly log: Log
}

/**
 * Runs a relay until a signal stops it.
 * @param environment settings by name; see `settings`
 * @param print prints the lines for the person at the terminal
 * @param call how the person calls the command line, such as `npx sotto`
 * @param options.canHandOver whether the caller starts the program again when this resolves with a value
 * @param options.workerCommand the program and the arguments that call this function in a new process
 * @returns undefined if a signal stopped it
 * @throws StartError if it cannot start and the operator can fix the cause
 */
export async function serve(
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
  call: string,
  options: { readonly canHandOver: boolean; readonly workerCommand: readonly string[] },
): Promise<HandedOver | undefined> {
  const config = read(environment)
  const role = workerRoleOf(environment)
  const log = createLog(config.logLevel, role?.number)
  const isOnlyOrFirst = (role?.number ?? 1) === 1
  for (const { name, nearest } of role ? [] : unknownSettings(environment))
    log.warn('setting_unknown', {
      setting: name,
      reason: `there is no such setting; the nearest one is ${nearest}`,
    })
  // Begins before the start, so that a signal during the start is not lost.
  const signalled = untilStopped(role)
  const ended = new AbortController()
  void signalled.then(() => ended.abort())
  const { signal } = ended
  const stopSeconds = config.drainNoticeSeconds + STEPS * config.drainSeconds
  const seconds = { readySeconds: config.upgradeSeconds, stopSeconds }
  const succession = new Succession({ canHandOver: options.canHandOver && !role, ...seconds })
  const makeRoom = (): HandedOver | undefined => {
    log.info('stopped')
    return signal.aborted ? undefined : { ...seconds, log }
  }
  if (config.workers > 1 && !role) {
    const { workerCommand: command } = options
    const parts = { config, environment, command, print, log, succession, stopSeconds }
    await serveWorkers({ ...parts, stopped: signalled })
    return makeRoom()
  }
  const lines: string[] = []
  const say = role ? (line: string): void => void lines.push(line) : print
  const started = { clock: systemClock, randomBytes: systemRandom, log, signal, succession }
  if (config.certificates.acme) say(`Certificate: for ${config.certificates.acme.host} by ACME`)
  const relay = await startRelay(config, { ...started, worker: role?.number }).catch((error) => {
    if (signal.aborted && isAbort(error)) return undefined
    const explained = explain(error, config)
    if (!role || !(explained instanceof StartError)) throw explained
    role.tell({ kind: 'refused', reason: explained.message })
    return undefined
  })
  if (!relay) {
    log.info('stopped')
    return undefined
  }
  const url = `${config.certificates.files || config.certificates.acme ? 'https' : 'http'}://${hostInUrl(config.host)}:${relay.port}`
  log.info('started', { url, version })
  if (!config.rates && isOnlyOrFirst)
    log.warn('rate_limits_off', { setting: 'RATE_LIMITS', reason: 'every rate is lifted' })
  if (config.loginHost === 'any' && isOnlyOrFirst)
    log.warn('login_unbound', { setting: 'UNBOUND_LOGIN', reason: 'a false relay can pass logins on' })
  say(`Sotto ${version} listens on ${url}`)
  say(config.databaseUrl ? 'Data: PostgreSQL' : `Data: ${config.dataDir} (SQLite)`)
  say(describeMedia(config.media, config.dataDir))
  say(describePayments(config.payments))
  say(describeLogins(config))
  const { registration } = config.admission
  if (registration !== 'open')
    say(
      `Registration: ${registration === 'invite' ? `by invite; make one with  ${call} invites make` : 'closed'}`,
    )
  if (config.appDir !== undefined)
    say(`App: open ${config.publicUrl ? publicAddress(config.publicUrl) : url} in a browser`)
  const flag = config.publicUrl
    ? ` --relay ${publicAddress(config.publicUrl)}`
    : relay.port === 8080
      ? ''
      : ` --relay ${url}`
  say(`Next: open a second terminal here and run  ${call} chat${flag}`)
  role?.tell({ kind: 'ready', lines })

  log.info('stopping', { reason: await Promise.race([signalled, succession.handedOver]) })
  await relay.stop({ untilClosed: !signal.aborted })
  return makeRoom()
}

/** More steps than a relay takes to stop, each of which lasts DRAIN_SECONDS at most. */
const STEPS = 5

function read(environment: Readonly<Record<string, string | undefined>>): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    throw error instanceof ConfigError ? new StartError(error.message) : error
  }
}

function describeLogins({ publicUrl, loginHost }: Config): string {
  if (publicUrl) return `Logins: at ${publicAddress(publicUrl)}`
  return loginHost === 'any'
    ? 'Logins: UNBOUND (UNBOUND_LOGIN=allow). A false relay can pass them on to this one; set PUBLIC_URL.'
    : 'Logins: only from this machine (PUBLIC_URL says where others reach the relay)'
}

function untilStopped(role: WorkerRole | undefined): Promise<string> {
  return new Promise((resolve) => {
    void role?.orphaned.then(resolve)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

/** Whether a start ended only because it was told to. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

// This machine reaches a relay that listens on all addresses as localhost.
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
