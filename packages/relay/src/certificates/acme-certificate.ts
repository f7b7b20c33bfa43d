// The certificate that the relay gets by ACME, and renews after two thirds of its life. Of the nodes that
// share a PostgreSQL, the one that has the turn orders it, and all serve it.
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import { SettingError } from '../operations/setting-error.ts'
import { type Turn, TurnOver, type Turns } from '../operations/turns.ts'
import type { Storage } from '../storage/storage.ts'
import type { AcmeChallenges } from './acme-challenges.ts'
import { orderCertificate } from './acme-order.ts'
import { AcmeError } from './acme-requests.ts'
import { type CertificatePair, checkCertificate, validityOf } from './certificate-pair.ts'
import type { AcmeConfig } from './certificate-settings.ts'
import type { CertificateSource } from './certificate-source.ts'
import { type KeptPem, openKeptPem } from './kept-pem.ts'

export interface AcmeParts {
  /** The folder of an embedded relay's account key and certificate. */
  readonly folder: string
  readonly storage: Storage
  /** When this node orders and renews. */
  readonly turns: Turns
  /** Answers to the server's questions on port 80, by token, while they wait. */
  readonly challenges: AcmeChallenges
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  /** Aborted when the relay is to stop. */
  readonly signal: AbortSignal
}

const ACCOUNT = 'account.pem'
const UNREACHED_MS = 5000
const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LONGEST_WAIT_MS = 6 * HOUR_MS
/** The part of its life after which a certificate is renewed. */
const RENEWED_AFTER = 2 / 3

/**
 * Reads the certificate, also if it has expired. Without one, waits until the server has signed one, for this
 * node or another, and tries again and again.
 * @throws SettingError if ACME_CA cannot be read, and the signal's reason if it is aborted
 */
export async function openAcmeCertificate(config: AcmeConfig, parts: AcmeParts): Promise<CertificateSource> {
  const { clock, log, turns } = parts
  const ended = new AbortController()
  const signal = AbortSignal.any([parts.signal, ended.signal])
  const ca = config.caFile === undefined ? undefined : readCa(config.caFile)
  const kept = await openKeptPem(parts.folder, parts.storage)
  const backoff = new Backoff(parts.randomBytes)

  const isDue = (pair: CertificatePair): boolean => {
    const { fromMs, toMs } = validityOf(pair)
    return clock.now() >= fromMs + (toMs - fromMs) * RENEWED_AFTER
  }
  // Signed, but not kept yet. If only that fails, no other one is ordered: servers sign few.
  let signed: CertificatePair | undefined
  const order = async (turn: Turn): Promise<CertificatePair> => {
    const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const accountKey = await accountKeyOf(kept, turn)
    const during = AbortSignal.any([signal, turn.signal])
    const cert = await orderCertificate({ ...config, ...parts, ca, accountKey, key, signal: during })
    const pair = { cert, key: pemOf(key) }
    checkCertificate(pair, config.host)
    return pair
  }
  const issue = async (turn: Turn): Promise<CertificatePair> => {
    signed ??= await order(turn)
    const pair = signed
    await kept.write(fileOf(config), pair.key + pair.cert, turn)
    signed = undefined
    backoff.reset()
    return pair
  }
  const failed = (error: unknown): number => {
    const durationMs = backoff.next(error)
    const reason = error instanceof Error ? error.message : String(error)
    log.error('certificate_failed', { url: config.directory, reason, durationMs })
    return durationMs
  }
  const first = async (): Promise<CertificatePair> => {
    let waits = false
    for (;;) {
      const turn = turns.current
      try {
        const pair = await readPair(config, kept)
        if (pair) return pair
        if (turn) {
          const issued = await issue(turn)
          log.info('certificate_issued', { url: config.directory })
          return issued
        }
        if (!waits) log.info('certificate_awaited', { url: config.directory })
        waits = true
        await sleep(SECOND_MS, undefined, { signal })
      } catch (error) {
        signal.throwIfAborted()
        if (!isOver(turn, error)) await sleep(failed(error), undefined, { signal })
      }
    }
  }

  let pair = await first()
  let use: ((next: CertificatePair) => void) | undefined
  let triesAt = 0
  let isRenewing = false
  /** One that another node has stored. */
  const findNewer = async (): Promise<CertificatePair | undefined> => {
    const found = await readPair(config, kept)
    if (!found || found.cert === pair.cert || validityOf(found).fromMs < validityOf(pair).fromMs)
      return undefined
    signed = undefined // Another node had the turn meanwhile.
    return found
  }
  const renew = async (): Promise<void> => {
    if (!use || clock.monotonic() < triesAt) return
    const turn = turns.current
    try {
      const newer = await findNewer()
      const next = newer ?? (turn && isDue(pair) ? await issue(turn) : undefined)
      if (!next) return
      use(next)
      pair = next
      log.info(newer ? 'certificate_replaced' : 'certificate_issued', { url: config.directory })
      if (turn) triesAt = clock.monotonic() + HOUR_MS // A wrong clock must not order one a minute.
    } catch (error) {
      if (signal.aborted || isOver(turn, error)) return
      triesAt = clock.monotonic() + failed(error)
      if (validityOf(pair).toMs <= clock.now())
        log.error('certificate_expired', { setting: 'DOMAIN', reason: 'clients refuse it' })
    }
  }
  const maintain = (): void => {
    if (isRenewing) return
    isRenewing = true
    void renew().finally(() => {
      isRenewing = false
    })
  }
  return {
    pair,
    watch: (taken) => {
      use = taken
      // One that expired while the relay was stopped is renewed at once.
      maintain()
    },
    maintain,
    stop: () => ended.abort(),
  }
}

/** The stored certificate of the host by this server; undefined if there is none that can be served. */
export async function readPair(config: AcmeConfig, kept: KeptPem): Promise<CertificatePair | undefined> {
  const text = (await kept.read(fileOf(config))) ?? ''
  const end = Math.max(text.indexOf('-----BEGIN CERTIFICATE-----'), 0)
  const pair = { key: text.slice(0, end), cert: text.slice(end) }
  try {
    checkCertificate(pair, config.host)
    return pair
  } catch {
    return undefined // It was damaged; a new one is ordered.
  }
}

function isOver(turn: Turn | undefined, error: unknown): boolean {
  return turn?.signal.aborted === true || error instanceof TurnOver
}

/**
 * How long to wait after each failure: at first a minute, or seconds if the server was not reached, because
 * only its refusals are counted against us. Then twice as long each time, and up to half of it less.
 */
class Backoff {
  readonly #randomBytes: RandomBytes
  #failures = 0

  constructor(randomBytes: RandomBytes) {
    this.#randomBytes = randomBytes
  }

  next(error: unknown): number {
    const [byte = 0] = this.#randomBytes(1)
    const firstMs = error instanceof AcmeError ? MINUTE_MS : UNREACHED_MS
    const waitMs = Math.min(firstMs * 2 ** this.#failures, LONGEST_WAIT_MS)
    this.#failures += 1
    return Math.round(waitMs * (1 - byte / 512))
  }

  reset(): void {
    this.#failures = 0
  }
}

// After a change of the server, its former certificate must not be served: that of a server for trials is
// trusted by nobody. The key and the certificate are one file, so that they fit.
function fileOf({ host, directory }: AcmeConfig): string {
  const server = createHash('sha256').update(directory).digest('hex').slice(0, 8)
  return `${host.replaceAll(':', '_')}-${server}.pem`
}

async function accountKeyOf(kept: KeptPem, turn: Turn): Promise<KeyObject> {
  const text = await kept.read(ACCOUNT)
  if (text !== undefined) {
    try {
      return createPrivateKey(text)
    } catch {
      // It was damaged. A new key opens another account, which is as good.
    }
  }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await kept.write(ACCOUNT, pemOf(privateKey), turn)
  return privateKey
}

function readCa(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new SettingError(
      'ACME_CA',
      `a file that can be read: ${error instanceof Error ? error.message : error}`,
    )
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
