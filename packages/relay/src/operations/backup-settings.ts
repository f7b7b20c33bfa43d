// The settings of backups. Only config.ts reads the environment and calls this.
import { SettingError } from './setting-error.ts'

/** Settings of backups. */
export const backupSettings = {
  BACKUP_KEY: {
    default: '',
    means:
      'public keys of age (`age1…`), separated by commas, that `sotto backup` encrypts to; if empty, backups are not encrypted',
  },
  BACKUP_S3_ENDPOINT: {
    default: '',
    means:
      'address of the S3-compatible store of backups in a bucket, such as https://s3.eu-central-1.amazonaws.com',
  },
  BACKUP_S3_REGION: { default: 'us-east-1', means: 'region of that store' },
  BACKUP_S3_ACCESS_KEY: { default: '', means: 'id of the key that signs requests to it' },
  BACKUP_S3_SECRET_KEY: { default: '', means: 'secret of that key' },
} as const

/** Returns a setting's text, or its default if the operator did not set it. */
export type BackupSettingText = (name: keyof typeof backupSettings) => string

/** How backups are made. */
export interface BackupConfig {
  /** The public keys that backups are encrypted to; none if they are not encrypted. */
  readonly keys: readonly string[]
  readonly bucket: BackupBucketConfig
}

/** The store of the buckets that backups may be in; texts that are not set are empty. */
export interface BackupBucketConfig {
  readonly endpoint: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
}

/** @throws SettingError at the first setting that cannot be used */
export function backupConfigOf(text: BackupSettingText): BackupConfig {
  const keys = text('BACKUP_KEY')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
  if (!keys.every((key) => /^age1[a-z0-9]+$/.test(key)))
    throw new SettingError('BACKUP_KEY', 'public keys of age, such as age1…, separated by commas')
  const endpoint = text('BACKUP_S3_ENDPOINT')
  if (endpoint !== '' && !isPlainUrl(endpoint))
    throw new SettingError('BACKUP_S3_ENDPOINT', 'a URL without a path, such as https://s3.example')
  return {
    keys,
    bucket: {
      endpoint,
      region: text('BACKUP_S3_REGION'),
      accessKey: text('BACKUP_S3_ACCESS_KEY'),
      secretKey: text('BACKUP_S3_SECRET_KEY'),
    },
  }
}

function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
}
