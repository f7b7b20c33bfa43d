// The operator's own certificate: two files, which are read again after a change.
import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { SettingError } from '../operations/setting-error.ts'
import { CertificateError, type CertificatePair, checkCertificate } from './certificate-pair.ts'
import type { CertificateSource } from './certificate-source.ts'

/** The operator's files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

export interface FileParts {
  /** The host that clients use; undefined if it is not known. */
  readonly host: string | undefined
  readonly clock: Clock
  readonly log: Log
}

const LOOK_EVERY_MS = 1000

/**
 * Reads the files, and looks for changes every second. What cannot be served is logged, and the last good
 * certificate stays.
 * @throws SettingError if they cannot be served now
 */
export function openCertificateFiles(files: CertificateFiles, parts: FileParts): CertificateSource {
  const { clock, log, host } = parts
  let version = versionOf(files)
  const pair = firstPair(files, parts)
  if (checkCertificate(pair, host) <= clock.now())
    log.error('certificate_expired', { setting: 'TLS_CERT', reason: 'clients refuse it; replace its files' })
  let timer: ReturnType<typeof setInterval> | undefined

  return {
    pair,
    watch: (use) => {
      let refused = ''
      let failed = ''
      timer = setInterval(() => {
        const found = versionOf(files)
        if (found === version) return
        let next: CertificatePair
        try {
          next = readPair(files)
          if (checkCertificate(next, host) <= clock.now()) throw new CertificateError('it has expired')
        } catch (error) {
          // One of the two files may be replaced before the other, so only the second look complains.
          if (refused === found) {
            version = found
            log.error('certificate_refused', { setting: 'TLS_CERT', reason: reasonOf(error) })
          }
          refused = found
          return
        }
        try {
          use(next)
        } catch (error) {
          // The files are good, so it is tried at each look, and said once.
          if (failed !== found)
            log.error('certificate_failed', {
              setting: 'TLS_CERT',
              reason: reasonOf(error),
              durationMs: LOOK_EVERY_MS,
            })
          failed = found
          return
        }
        version = found
        log.info('certificate_replaced', { setting: 'TLS_CERT' })
      }, LOOK_EVERY_MS)
    },
    maintain: () => undefined, // Replacing the files is up to the operator.
    stop: () => clearInterval(timer),
  }
}

function firstPair(files: CertificateFiles, { host }: FileParts): CertificatePair {
  try {
    const pair = readPair(files)
    checkCertificate(pair, host)
    return pair
  } catch (error) {
    throw new SettingError('TLS_CERT', `a file with a certificate, and TLS_KEY its key: ${reasonOf(error)}`)
  }
}

function readPair({ cert, key }: CertificateFiles): CertificatePair {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

// Changes whenever one of the files does. A link to another file counts as a change.
function versionOf(files: CertificateFiles): string {
  return [files.cert, files.key]
    .map((path) => {
      try {
        const found = statSync(path)
        return `${found.ino} ${found.size} ${found.mtimeMs}`
      } catch (error) {
        return reasonOf(error) // Reading the file then fails too, and says why.
      }
    })
    .join(', ')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
