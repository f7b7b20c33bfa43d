// What every source of certificates is: the operator's files, for example.
import type { CertificatePair } from './certificate-pair.ts'

/** Where the certificate comes from. */
export interface CertificateSource {
  /** The one to begin with. */
  readonly pair: CertificatePair
  /** From now on, `use` is called with each new one. */
  watch(use: (pair: CertificatePair) => void): void
  /** Begins to renew it, if that is due. Called once a minute. */
  maintain(): void
  stop(): void
}
