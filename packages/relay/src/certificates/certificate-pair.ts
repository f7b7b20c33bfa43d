// A certificate with its key, as PEM: what it must be so that the relay serves it.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** A server's certificate with those that sign it, its own first, and its private key. Both are PEM. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

/** A certificate cannot be served. The message says why, and contains nothing of the key. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

/**
 * @param host the name or IP address that it must be for; undefined if any will do
 * @returns when it ends, in Unix milliseconds
 * @throws CertificateError if it is unreadable, for another host, or has another key
 */
export function checkCertificate({ cert, key }: CertificatePair, host: string | undefined): number {
  const certificate = parsed('certificate', () => new X509Certificate(cert))
  const privateKey = parsed('private key', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) throw new CertificateError('the key is that of another one')
  if (host !== undefined && !isFor(certificate, host)) {
    throw new CertificateError(`it is not for ${host}, but for ${certificate.subjectAltName ?? 'no name'}`)
  }
  return Date.parse(certificate.validTo)
}

/** When a certificate begins and ends, in Unix milliseconds. */
export function validityOf({ cert }: CertificatePair): { readonly fromMs: number; readonly toMs: number } {
  const { validFrom, validTo } = new X509Certificate(cert)
  return { fromMs: Date.parse(validFrom), toMs: Date.parse(validTo) }
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined
}

function parsed<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new CertificateError(`there is no ${what} in PEM`) // The parser's message may quote the file.
  }
}
