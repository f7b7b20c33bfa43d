// The certificate that the relay gets by ACME: kept in its folder, and renewed after two thirds of its life.
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import { SettingError } from '../operations/setting-error.ts'
import type { AcmeChallenges } from './acme-challenges.ts'
import { orderCertificate } from './acme-order.ts'
import { AcmeError } from './acme-requests.ts'
import { type CertificatePair, checkCertificate, validityOf } from './certificate-pair.ts'
import type { AcmeConfig } from './certificate-settings.ts'
import type { CertificateSource } from './certificate-source.ts'

export interface AcmeParts {
  /** The folder of the account's key and the certificate. Only the relay's user may read it. */
  readonly folder: string
  /** Answers to the server's questions on port 80, by token, while they wait. */
  readonly challenges: AcmeChallenges
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  /** Aborted when the relay is to stop. */
  readonly signal: AbortSignal
}

const UNREACHED_MS = 5000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LONGEST_WAIT_MS = 6 * HOUR_MS
/** The part of its life after which a certificate is renewed. */
const RENEWED_AFTER = 2 / 3

/**
 * Reads the certificate, also if it has expired. Without one, waits until the server has signed one, and
 * tries again and again.
 * @throws SettingError if ACME_CA cannot be read, and the signal's reason if it is aborted
 */
export async function openAcmeCertificate(config: AcmeConfig, parts: AcmeParts): Promise<CertificateSource> {
  const { clock, log } = parts
  const ended = new AbortController()
  const signal = AbortSignal.any([parts.signal, ended.signal])
  mkdirSync(parts.folder, { recursive: true, mode: 0o700 })
  chmodSync(parts.folder, 0o700)
  const file = fileOf(config, parts.folder)
  const accountKey = accountKeyIn(join(parts.folder, 'account.pem'))
  const ca = config.caFile === undefined ? undefined : readCa(config.caFile)
  const order = { ...config, ...parts, ca, accountKey, signal }
  const backoff = new Backoff(parts.randomBytes)

  const isDue = (pair: CertificatePair): boolean => {
    const { fromMs, toMs } = validityOf(pair)
    return clock.now() >= fromMs + (toMs - fromMs) * RENEWED_AFTER
  }
  // Signed, but not in use yet. If only the last steps fail, no other one is ordered: servers sign few.
  let signed: CertificatePair | undefined
  const issue = async (use?: (next: CertificatePair) => void): Promise<CertificatePair> => {
    if (!signed) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const next = {
        cert: await orderCertificate({ ...order, key: privateKey }),
        key: pemOf(privateKey),
      }
      checkCertificate(next, config.host)
      signed = next
    }
    const next = signed
    writePrivate(file, next.key + next.cert)
    use?.(next)
    signed = undefined
    backoff.reset()
    log.info('certificate_issued', { url: config.directory })
    return next
  }
  const failed = (error: unknown): number => {
    const durationMs = backoff.next(error)
    const reason = error instanceof Error ? error.message : String(error)
    log.error('certificate_failed', { url: config.directory, reason, durationMs })
    return durationMs
  }
  const first = async (): Promise<CertificatePair> => {
    for (;;) {
      try {
        return await issue()
      } catch (error) {
        signal.throwIfAborted()
        await sleep(failed(error), undefined, { signal })
      }
    }
  }

  let pair = storedPair(file, config.host) ?? (await first())
  let use: ((next: CertificatePair) => void) | undefined
  let triesAt = 0
  let isRenewing = false
  const renew = async (): Promise<void> => {
    if (!use || !isDue(pair) || clock.monotonic() < triesAt) return
    try {
      pair = await issue(use)
      triesAt = clock.monotonic() + HOUR_MS // A wrong clock must not order one a minute.
    } catch (error) {
      if (signal.aborted) return
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

/** The stored certificate of the host by this server; undefined if there is none that can be served. */
export function storedCertificate(config: AcmeConfig, folder: string): CertificatePair | undefined {
  return storedPair(fileOf(config, folder), config.host)
}

// After a change of the server, its former certificate must not be served: that of a server for trials is
// trusted by nobody.
function fileOf({ host, directory }: AcmeConfig, folder: string): string {
  const server = createHash('sha256').update(directory).digest('hex').slice(0, 8)
  return join(folder, `${host.replaceAll(':', '_')}-${server}.pem`)
}

function storedPair(file: string, host: string): CertificatePair | undefined {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  const end = text.indexOf('-----BEGIN CERTIFICATE-----')
  const pair = { key: text.slice(0, Math.max(end, 0)), cert: text.slice(Math.max(end, 0)) }
  try {
    checkCertificate(pair, host)
    return pair
  } catch {
    return undefined // It was damaged; a new one is ordered.
  }
}

function accountKeyIn(file: string): KeyObject {
  if (existsSync(file)) {
    const text = readFileSync(file, 'utf8')
    try {
      return createPrivateKey(text)
    } catch {
      // It was damaged. A new key opens another account, which is as good.
    }
  }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writePrivate(file, pemOf(privateKey))
  return privateKey
}

// The key and the certificate are one file, which appears whole or not at all, also after a power cut.
function writePrivate(file: string, text: string): void {
  const unfinished = openSync(`${file}.new`, 'w', 0o600)
  try {
    fchmodSync(unfinished, 0o600) // If it was left behind.
    writeFileSync(unfinished, text)
    fsyncSync(unfinished)
  } finally {
    closeSync(unfinished)
  }
  renameSync(`${file}.new`, file)
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
