// TLS: the certificate of the relay's port, and where it comes from. Others import only this file.
import { type AcmeParts, openAcmeCertificate } from './acme-certificate.ts'
import { openCertificateFiles } from './certificate-files.ts'
import type { CertificateConfig } from './certificate-settings.ts'
import type { CertificateSource } from './certificate-source.ts'

export { AcmeChallenges } from './acme-challenges.ts'
export { type CertificatePair, validityOf } from './certificate-pair.ts'
export {
  type CertificateConfig,
  certificateConfigOf,
  certificateSettings,
  defaultsOfDomain,
} from './certificate-settings.ts'
export type { CertificateSource } from './certificate-source.ts'

/**
 * @param parts.host the host that clients use; undefined if it is not known
 * @returns undefined if the relay speaks no TLS
 * @throws SettingError if the operator's files cannot be served
 */
export async function openCertificates(
  { files, acme }: CertificateConfig,
  parts: AcmeParts & { readonly host: string | undefined },
): Promise<CertificateSource | undefined> {
  if (files) return openCertificateFiles(files, parts)
  return acme && openAcmeCertificate(acme, parts)
}
